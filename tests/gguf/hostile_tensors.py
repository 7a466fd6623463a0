"""Files with a fault or oddity in the alignment, the directory or the data section."""

from hostile import CUT, STRING, T_Q8_0, U32, U64, accept, info, model, number, one, pair, text, two

ALIGN = b"general.alignment"
TENSORS = {
    # Alignment.
    "align_0": (
        model([pair(ALIGN, U32, bytes(4))]),
        "key 'general.alignment' at offset 0x62 (98): expected a power of two, found 0",
    ),
    "align_48": (
        model([pair(ALIGN, U32, number(48, 4))]),
        "key 'general.alignment' at offset 0x62 (98): expected a power of two, found 48",
    ),
    "align_as_u64": (
        model([pair(ALIGN, U64, number(64))]),
        "key 'general.alignment' at offset 0x45 (69): expected a u32, found u64",
    ),
    "align_as_string": (
        model([pair(ALIGN, STRING, text(b"32"))]),
        "key 'general.alignment' at offset 0x45 (69): expected a u32, found string",
    ),
    "align_16": (
        model(
            [pair(ALIGN, U32, number(16, 4))],
            [info(b"a", (1,)), info(b"b", (1,), offset=16)],
            32,
            pad=16,
        ),
        accept(("a", "F32", (1,), 0, 4), ("b", "F32", (1,), 16, 4)),
    ),
    "align_64": (
        model(
            [pair(ALIGN, U32, number(64, 4))],
            [info(b"a", (1,)), info(b"b", (1,), offset=64)],
            128,
            pad=64,
        ),
        accept(("a", "F32", (1,), 0, 4), ("b", "F32", (1,), 64, 4)),
    ),
    "align_2p31_without_tensors": (model([pair(ALIGN, U32, number(2**31, 4))], pad=1), accept()),
    # Names and shapes.
    "name_nul": (
        one(name=b"a\0b"),
        r"tensors[0].name at offset 0x4D (77): expected a name without NUL, found 'a\x00b'",
    ),
    "name_beyond": (
        model([], [text(b"a", 2**32) + info(b"")], 32),
        "tensors[0].name.length at offset 0x45 (69): expected at most the 83 bytes left, found 4294967296"
        + CUT,
    ),
    "name_63": (one(name=b"n" * 63), accept(("n" * 63,))),
    "name_64": (
        one(name=b"n" * 64),
        accept(
            ("n" * 64,),
            warnings=(f"tensor names over 63 bytes, which llama.cpp refuses: {'n' * 64!r}",),
        ),
    ),
    "name_of_a_megabyte": (
        one(name=b"n" * 1_000_000),
        accept(
            ("n" * 1_000_000,),
            warnings=(
                f"tensor names over 63 bytes, which llama.cpp refuses: {'n' * 80!r}... (1000000 characters)",
            ),
        ),
    ),
    "names_long_twice": (
        model([], [info("é".encode() * 32), info(b"b" * 70, offset=32)], 64),
        accept(
            ("é" * 32,),
            ("b" * 70, "F32", (8,), 32),
            warnings=(f"tensor names over 63 bytes, which llama.cpp refuses: {'é' * 32!r} and 1 more",),
        ),
    ),
    "dims_5": (
        one(ne=(1,) * 5),
        "tensor 'a'.n_dims at offset 0x4E (78): expected at most 4 dimensions, found 5",
    ),
    "dims_9": (
        one(ne=(1,) * 9),
        "tensor 'a'.n_dims at offset 0x4E (78): expected at most 4 dimensions, found 9",
    ),
    "dims_cut": (
        model([], [text(b"a") + number(4, 4) + number(1) + number(1)], pad=1),
        "tensor 'a'.ne[2] at offset 0x62 (98): expected 8 bytes, found 0 bytes before the end" + CUT,
    ),
    "dim_2p63": (
        one(ne=(1, 2**63)),
        "tensor 'a'.ne[1] at offset 0x5A (90): expected a dimension below 2^63, found 9223372036854775808",
    ),
    "dim_2p64m1_beside_0": (
        one(ne=(0, 2**64 - 1)),
        "tensor 'a'.ne[1] at offset 0x5A (90): expected a dimension below 2^63, found 18446744073709551615",
    ),
    "elements_2p63": (
        one(ne=(2**32, 2**31)),
        (
            "tensor 'a'.ne at offset 0x52 (82): expected fewer than 2^63 elements, "
            "found 4294967296 x 2147483648 = 9223372036854775808"
        ),
    ),
    "bytes_beyond_2p63": (
        one(ne=(2**62,)),
        "tensor 'a' at offset 0x45 (69): expected its 18446744073709551616 bytes at 0x80 inside the file of "
        "160 bytes, found an end at 0x10000000000000080 (18446744073709551744)" + CUT,
    ),
    "dim_2p40": (
        one(ne=(2**40,)),
        "tensor 'a' at offset 0x45 (69): expected its 4398046511104 bytes at 0x80 inside the file of "
        "160 bytes, found an end at 0x40000000080 (4398046511232)" + CUT,
    ),
    "dim_0": (
        model([], [info(b"a", (0, 7)), info(b"b")], 32),
        accept(("a", "F32", (7, 0), 0, 0), ("b",)),
    ),
    "scalar_of_blocks": (
        one(ne=(), kind=T_Q8_0),
        (
            "tensor 'a'.ne at offset 0x52 (82): expected rows of whole blocks, 32 elements each in Q8_0, "
            "found a row of 1"
        ),
    ),
    "rows_not_whole_though_the_sum_is": (
        one(ne=(16, 2), kind=T_Q8_0, data=64),
        (
            "tensor 'a'.ne[0] at offset 0x52 (82): expected rows of whole blocks, 32 elements each in Q8_0, "
            "found a row of 16"
        ),
    ),
    # Types that are not known.
    "type_removed": (one(kind=31), accept(("a", "removed type 31 (Q4_0_4_4)", (8,), 0, None))),
    "type_unknown_then_any_place": (
        model([], [info(b"a", kind=99), info(b"b", offset=96), info(b"c", offset=128)], 160),
        accept(
            ("a", "unknown type 99", (8,), 0, None),
            ("b", "F32", (8,), 96),
            ("c", "F32", (8,), 128),
        ),
    ),
    "type_unknown_then_misaligned": (
        model([], [info(b"a", kind=99), info(b"b", offset=97)], 160),
        (
            "tensor 'b'.offset at offset 0x7F (127): expected a multiple of 32 from 0 on, "
            "found 97, not a multiple of the alignment 32"
        ),
    ),
    "type_unknown_then_beyond": (
        model([], [info(b"a", kind=99), info(b"b", offset=2**64 - 32)], 160),
        "tensor 'b' at offset 0x66 (102): expected its 32 bytes at 0x10000000000000080 inside the file of "
        "320 bytes, found an end at 0x100000000000000A0 (18446744073709551776)" + CUT,
    ),
    "type_unknown_then_before": (
        model([], [info(b"a"), info(b"b", kind=99, offset=32), info(b"c", offset=0)], 160),
        (
            "tensor 'c'.offset at offset 0xA0 (160): expected a multiple of 32 from 32 on, "
            "found 0, an overlap of 32 bytes"
        ),
    ),
    "type_unknown_beyond": (
        one(kind=99, offset=64),
        (
            "tensor 'a'.offset at offset 0x5E (94): expected 0 (the padded sizes before it), "
            "found 64, beyond the end of the file"
        ),
    ),
    # Places.
    "offset_5": (
        one(offset=5),
        (
            "tensor 'a'.offset at offset 0x5E (94): expected 0 (the padded sizes before it), "
            "found 5, not a multiple of the alignment 32"
        ),
    ),
    "offset_2p64m8": (
        one(offset=2**64 - 8),
        (
            "tensor 'a'.offset at offset 0x5E (94): expected 0 (the padded sizes before it), "
            "found 18446744073709551608, not a multiple of the alignment 32"
        ),
    ),
    "offset_first_32": (
        one(offset=32, data=64),
        (
            "tensor 'a'.offset at offset 0x5E (94): expected 0 (the padded sizes before it), "
            "found 32, a gap of 32 bytes"
        ),
    ),
    "order_swapped": (
        model([], [info(b"a", offset=32), info(b"b", offset=0)], 64),
        (
            "tensor 'a'.offset at offset 0x5E (94): expected 0 (the padded sizes before it), "
            "found 32, a gap of 32 bytes"
        ),
    ),
    "cut_by_40_bytes": (
        two(info(b"b", offset=32), data=64)[:-40],
        "tensor 'a' at offset 0x45 (69): expected its 32 bytes at 0xA0 inside the file of 184 bytes, "
        "found an end at 0xC0 (192)" + CUT,
    ),
    "cut_by_1_byte": (
        one()[:-1],
        "tensor 'a' at offset 0x45 (69): expected its 32 bytes at 0x80 inside the file of 159 bytes, "
        "found an end at 0xA0 (160)" + CUT,
    ),
    "tail_padding_missing": (one(ne=(1,), data=4), accept(("a", "F32", (1,), 0, 4))),
    "tail_padding_cut": (one(ne=(1,), data=9), accept(("a", "F32", (1,), 0, 4))),
    "directory_cut": (
        two(info(b"b", offset=32), data=0)[:130],
        "tensor 'b'.offset at offset 0x7F (127): expected 8 bytes, found 3 bytes before the end" + CUT,
    ),
    "no_data_section": (
        model([], [info(b"a", (0,))], pad=1),
        "data section at offset 0x80 (128): expected a start inside the file of 102 bytes, "
        "found 128 (alignment 32)" + CUT,
    ),
    "bytes_after_the_last": (
        one(data=96),
        accept(
            ("a",),
            warnings=("unused bytes at the end: 64, from offset 0xA0 on",),
        ),
    ),
    "bytes_after_no_tensors": (
        model(data=1),
        accept(warnings=("unused bytes at the end: 1, from offset 0x60 on",)),
    ),
}
