"""The team's collection of hostile files, by its names, and what the reader must say about each."""

from hostile import (
    BOOL,
    CUT,
    STRING,
    T_Q2_0,
    T_Q8_0,
    U8,
    U32,
    accept,
    array,
    info,
    model,
    number,
    one,
    pair,
    text,
    two,
)

GIVEN = {
    "00_ok": (one(), accept(("a",))),
    "02_nkv_2p63": (
        model([], [info(b"a")], 32, n_kv=2**63),
        "n_kv at offset 0x10 (16): expected at most 9 key/value pairs in the 136 bytes left, "
        "found 9223372036854775808" + CUT,
    ),
    "04_strarr_len_2p40": (
        model([array(b"tokenizer.ggml.tokens", STRING, 2**40)]),
        "key 'tokenizer.ggml.tokens'.count at offset 0x6A (106): expected at most 1 elements of type string "
        "in the 14 bytes left, found 1099511627776" + CUT,
    ),
    "06_u8arr_len_50M_trunc": (
        model([array(b"x.a", U8, 50_000_000)]),
        "key 'x.a'.count at offset 0x58 (88): expected at most 0 elements of type u8 in the 0 bytes left, "
        "found 50000000" + CUT,
    ),
    "07b_strlen_2p64m8": (
        model([pair(b"x.a", STRING, text(b"zz", 2**64 - 8))]),
        "key 'x.a'.length at offset 0x54 (84): expected at most the 4 bytes left, "
        "found 18446744073709551608" + CUT,
    ),
    "09_tensor_off_wrap": (
        one(offset=2**64 - 64),
        (
            "tensor 'a'.offset at offset 0x5E (94): expected 0 (the padded sizes before it), "
            "found 18446744073709551552, beyond the end of the file"
        ),
    ),
    "11_tensor_data_trunc_f32": (
        one(ne=(1024,)),
        "tensor 'a' at offset 0x45 (69): expected its 4096 bytes at 0x80 inside the file of 160 bytes, "
        "found an end at 0x1080 (4224)" + CUT,
    ),
    "12_overlap": (
        two(info(b"b", offset=0), data=32),
        (
            "tensor 'b'.offset at offset 0x7F (127): expected 32 (the padded sizes before it), "
            "found 0, an overlap of 32 bytes"
        ),
    ),
    "12c_gap": (
        two(info(b"b", offset=128), data=256),
        (
            "tensor 'b'.offset at offset 0x7F (127): expected 32 (the padded sizes before it), "
            "found 128, a gap of 96 bytes"
        ),
    ),
    "13_type_99": (one(kind=99), accept(("a", "unknown type 99", (8,), 0, None))),
    "13c_type_42_q2_0": (one(ne=(64,), kind=T_Q2_0), accept(("a", "Q2_0", (64,), 0, 18))),
    "15_dup_tensor": (
        two(info(b"a", offset=32)),
        (
            "tensors[1].name at offset 0x6E (110): expected a name that no other tensor has, "
            "found 'a' again (first at offset 0x45)"
        ),
    ),
    "16b_ndims0": (one(ne=()), accept(("a", "F32", (), 0, 4))),
    "16d_ndims_2p31": (
        one(n_dims=2**31),
        "tensor 'a'.n_dims at offset 0x4E (78): expected at most 4 dimensions, found 2147483648",
    ),
    "17b_dims_wrap_2p33x2p31p8": (
        one(ne=(2**33, 2**31)),
        (
            "tensor 'a'.ne at offset 0x52 (82): expected fewer than 2^63 elements, "
            "found 8589934592 x 2147483648 = 18446744073709551616"
        ),
    ),
    "18b_row_33_q8_0": (
        one(ne=(33,), kind=T_Q8_0, data=96),
        (
            "tensor 'a'.ne[0] at offset 0x52 (82): expected rows of whole blocks, 32 elements each in Q8_0, "
            "found a row of 33"
        ),
    ),
    "19b_name_slash": (one(name=b"/abs/x"), accept(("/abs/x",))),
    "19d_name_empty": (one(name=b""), accept(("",))),
    "19f_name_badutf8": (
        one(name=b"\xff\xfe"),
        (
            "tensors[0].name at offset 0x4D (77): expected a name in UTF-8, "
            "found bytes ff fe (byte 0 does not fit)"
        ),
    ),
    "19h_name_case_collide": (
        model([], [info(b"A"), info(b"a", offset=32)], 64),
        accept(("A",), ("a", "F32", (8,), 32)),
    ),
    "20b_align_3": (
        model([pair(b"general.alignment", U32, number(3, 4))], [info(b"a")], 32),
        "key 'general.alignment' at offset 0x62 (98): expected a power of two, found 3",
    ),
    "20d_align_2p31": (
        model([pair(b"general.alignment", U32, number(2**31, 4))], [info(b"a")], 32),
        "data section at offset 0x80000000 (2147483648): expected a start inside the file of 192 bytes, "
        "found 2147483648 (alignment 2147483648)" + CUT,
    ),
    "21b_trunc_in_kv": (
        one()[:40],
        "n_tensors at offset 0x8 (8): expected at most 0 tensors in the 2 bytes left, found 1" + CUT,
    ),
    "22_magic": (
        model([], [info(b"a")], 32, magic=b"GGML"),
        "magic at offset 0x0 (0): expected 'GGUF' (bytes 47 47 55 46), found bytes 47 47 4d 4c; this is no GGUF file",
    ),
    "23b_v4": (
        model([], [info(b"a")], 32, version=4),
        (
            "version at offset 0x4 (4): expected a little-endian file of version 2 or 3, found version 4"
            "; look for a newer release of this tool"
        ),
    ),
    "25_bool_2": (
        model([pair(b"x.b", BOOL, b"\2")], [info(b"a")], 32),
        "key 'x.b' at offset 0x54 (84): expected a bool, 0 or 1, found 2",
    ),
    "27_empty_key": (
        model([pair(b"", U32, number(1, 4))], [info(b"a")], 32),
        "key_values[1].key.length at offset 0x45 (69): expected 1 to 65535 bytes, found 0",
    ),
    "29_u8arr_len_neg": (
        model([array(b"x.a", U8, 2**64 - 1)]),
        "key 'x.a'.count at offset 0x58 (88): expected at most 0 elements of type u8 in the 0 bytes left, "
        "found 18446744073709551615" + CUT,
    ),
    "31_zero_bytes": (b"", "expected a GGUF file, found an empty file; fetch it again"),
    "33_nt0_no_padding": (model(pad=1), accept()),
}
