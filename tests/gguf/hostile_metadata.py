"""Files with a fault or oddity in the header or the key/values; more beside the given ones.

Every file starts with the architecture, so its second pair lies at 0x45.
"""

from hostile import (
    ARCH,
    ARRAY,
    BOOL,
    CUT,
    F64,
    I32,
    STRING,
    U8,
    U16,
    U64,
    accept,
    array,
    model,
    number,
    pair,
    text,
)

MAGIC_EXPECTED = "magic at offset 0x0 (0): expected 'GGUF' (bytes 47 47 55 46), found bytes "
VERSION_EXPECTED = "version at offset 0x4 (4): expected a little-endian file of version 2 or 3, found "
CONVERT = "; convert the model again"
METADATA = {
    # The header.
    "magic_swapped": (
        model(magic=b"FUGG"),
        MAGIC_EXPECTED + "46 55 47 47; a GGUF file of swapped bytes: convert it on a little-endian machine",
    ),
    "magic_ggjt": (
        b"tjgg" + bytes(60),
        MAGIC_EXPECTED + "74 6a 67 67; a GGJT file from before GGUF: convert it again",
    ),
    "magic_lfs": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
        MAGIC_EXPECTED + "76 65 72 73; a Git LFS pointer: fetch the file that it stands for",
    ),
    "magic_zip": (
        b"PK\3\4" + bytes(60),
        MAGIC_EXPECTED + "50 4b 03 04; a zip archive, as PyTorch writes: convert it to GGUF",
    ),
    "one_byte": (b"G", MAGIC_EXPECTED + "47; this is no GGUF file"),
    "magic_only": (
        b"GGUF",
        "version at offset 0x4 (4): expected 4 bytes, found 0 bytes before the end" + CUT,
    ),
    "header_cut": (
        model()[:23],
        "n_kv at offset 0x10 (16): expected 8 bytes, found 7 bytes before the end" + CUT,
    ),
    "version_0": (model(version=0), VERSION_EXPECTED + "version 0" + CONVERT),
    "version_1": (model(version=1), VERSION_EXPECTED + "version 1" + CONVERT),
    "version_big_endian": (
        model(version=3 << 24),
        VERSION_EXPECTED + "a big-endian file of version 3" + CONVERT,
    ),
    "n_tensors_2p64m1": (
        model(n_tensors=2**64 - 1),
        "n_tensors at offset 0x8 (8): expected at most 2 tensors in the 58 bytes left, "
        "found 18446744073709551615" + CUT,
    ),
    "counts_fit_one_by_one_only": (
        model(n_kv=4, n_tensors=2),
        "n_tensors at offset 0x8 (8): expected at most 0 tensors in the 16 bytes left, found 2" + CUT,
    ),
    "one_pair_too_many": (
        model([pair(b"x", U8, b"\1")], n_kv=3, pad=64),
        "key_values[2].key.length at offset 0x53 (83): expected 1 to 65535 bytes, found 0",
    ),
    "zeros_as_many_pairs": (
        model(n_kv=70_000, data=1 << 20),
        "key_values[1].key.length at offset 0x45 (69): expected 1 to 65535 bytes, found 0",
    ),
    "zeros_as_many_tensors": (
        model(n_tensors=40_000, data=1 << 20),
        (
            "tensors[1].name at offset 0x65 (101): expected a name that no other tensor has, "
            "found '' again (first at offset 0x45)"
        ),
    ),
    # Keys.
    "key_65536": (
        model([pair(b"k" * 65536, U8, b"\0")]),
        "key_values[1].key.length at offset 0x45 (69): expected 1 to 65535 bytes, found 65536",
    ),
    "key_65535": (model([pair(b"k" * 65535, U8, b"\0")]), accept()),
    "key_bad_utf8": (
        model([pair(b"x.\xc3(", U8, b"\0")]),
        (
            "key_values[1].key at offset 0x4D (77): expected a key in UTF-8, "
            "found bytes 78 2e c3 28 (byte 2 does not fit)"
        ),
    ),
    "key_surrogate": (
        model([pair(b"\xed\xa0\x80", U8, b"\0")]),
        (
            "key_values[1].key at offset 0x4D (77): expected a key in UTF-8, "
            "found bytes ed a0 80 (byte 0 does not fit)"
        ),
    ),
    "key_twice": (
        model([ARCH]),
        (
            "key 'general.architecture' at offset 0x45 (69): expected each key once, "
            "found it again (first at offset 0x18)"
        ),
    ),
    "key_beyond": (
        model([pair(b"k", U8, b"\0", length=2**63)]),
        "key_values[1].key.length at offset 0x45 (69): expected at most the 19 bytes left, "
        "found 9223372036854775808" + CUT,
    ),
    "key_drives_a_terminal": (
        model([pair("\x1b[2J\u202e\n".encode(), 13, b"")]),
        r"key '\x1b[2J\u202e\n'.type at offset 0x55 (85): expected a value type from 0 to 12, found 13",
    ),
    # Values.
    "type_13": (
        model([pair(b"k", 13, bytes(8))]),
        "key 'k'.type at offset 0x4E (78): expected a value type from 0 to 12, found 13",
    ),
    "type_2p32m1": (
        model([pair(b"k", 2**32 - 1, bytes(8))]),
        "key 'k'.type at offset 0x4E (78): expected a value type from 0 to 12, found 4294967295",
    ),
    "type_cut": (
        model([text(b"k") + b"\0\0"], pad=1),
        "key 'k'.type at offset 0x4E (78): expected 4 bytes, found 2 bytes before the end" + CUT,
    ),
    "f64_cut": (
        model([pair(b"k", F64, bytes(7))], pad=1),
        "key 'k' at offset 0x52 (82): expected 8 bytes, found 7 bytes before the end" + CUT,
    ),
    "string_one_too_long": (
        model([pair(b"k", STRING, text(b"abc", 4))], pad=1),
        "key 'k'.length at offset 0x52 (82): expected at most the 3 bytes left, found 4" + CUT,
    ),
    "nested_array": (
        model([array(b"k", ARRAY, 1, number(U8, 4) + number(0))]),
        (
            "key 'k'.element_type at offset 0x52 (82): expected a value type from 0 to 12 "
            "other than array (9), found an array of arrays"
        ),
    ),
    "nested_array_empty": (
        model([array(b"k", ARRAY, 0)]),
        (
            "key 'k'.element_type at offset 0x52 (82): expected a value type from 0 to 12 "
            "other than array (9), found an array of arrays"
        ),
    ),
    "element_type_200": (
        model([array(b"k", 200, 1, bytes(8))]),
        (
            "key 'k'.element_type at offset 0x52 (82): expected a value type from 0 to 12 "
            "other than array (9), found 200"
        ),
    ),
    "array_one_too_many": (
        model([array(b"k", U64, 3, bytes(23))], pad=1),
        "key 'k'.count at offset 0x56 (86): expected at most 2 elements of type u64 in the 23 bytes left, "
        "found 3" + CUT,
    ),
    "array_size_wraps": (
        model([array(b"k", U64, 2**61 + 1, bytes(8))], pad=1),
        "key 'k'.count at offset 0x56 (86): expected at most 1 elements of type u64 in the 8 bytes left, "
        "found 2305843009213693953" + CUT,
    ),
    "bool_array_with_7": (
        model([array(b"k", BOOL, 4, b"\0\1\7\1")]),
        "key 'k'[2] at offset 0x60 (96): expected a bool, 0 or 1, found 7",
    ),
    "string_array_element_beyond": (
        model([array(b"k", STRING, 3, text(b"ab") + text(b"c", 2**64 - 1) + text(b""))], pad=1),
        "key 'k'[1].length at offset 0x68 (104): expected at most the 9 bytes left, "
        "found 18446744073709551615" + CUT,
    ),
    "string_array_ends_early": (
        model([array(b"k", STRING, 2, text(b"abcdefgh") + bytes(7))], pad=1),
        "key 'k'[1] at offset 0x6E (110): expected 8 bytes or more, found 7 bytes before the end" + CUT,
    ),
    "string_array_100000_empty": (
        model([array(b"k", STRING, 100_000, bytes(800_000))], pad=1),
        accept(),
    ),
    "empty_arrays": (model([array(b"i", I32, 0), array(b"s", STRING, 0), array(b"b", BOOL, 0)]), accept()),
    "string_value_bad_utf8": (model([pair(b"k", STRING, text(b"\xff"))]), accept()),
    # Parts of a split model.
    "split_part": (
        model([pair(b"split.no", U16, number(1, 2)), pair(b"split.count", U16, number(3, 2))]),
        (
            "key 'split.count' at offset 0x5B (91): expected a whole model in one file, found part 2 of 3; "
            "the other parts are split.no 0, split.no 2: join them with llama-gguf-split --merge"
        ),
    ),
    "split_unnumbered": (
        model([pair(b"split.count", U64, number(2**64 - 1))]),
        (
            "key 'split.count' at offset 0x45 (69): expected a whole model in one file, found one of "
            "18446744073709551615 parts; the other parts are split.no 0, split.no 1, split.no 2, split.no 3 "
            "and 18446744073709551611 more: join them with llama-gguf-split --merge"
        ),
    ),
    "split_count_as_string": (
        model([pair(b"split.count", STRING, text(b"2"))]),
        "key 'split.count' at offset 0x45 (69): expected an integer, found string",
    ),
    "split_of_one": (
        model([pair(b"split.no", U16, number(0, 2)), pair(b"split.count", U16, number(1, 2))]),
        accept(),
    ),
}
