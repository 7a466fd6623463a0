"""token_types.bin: int32_t types[n_tokens]."""

import numpy as np
import pytest
from refusals import refusal

from formats import token_types_bin
from formats.token_types import TokenType


def test_a_worked_example():
    data = bytes.fromhex("01 00 00 00  03 00 00 00  04 00 00 00  05 00 00 00")
    assert token_types_bin.build([1, 3, 4, 5]) == data
    assert token_types_bin.build(np.array([1, 3, 4, 5], np.int32)) == data
    table = token_types_bin.read(data)
    assert table["token_type"].dtype == np.dtype("<i4")
    assert table["token_type"].tolist() == [
        TokenType.NORMAL, TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.UNUSED,
    ]  # fmt: skip


def test_no_tokens():
    assert token_types_bin.build([]) == b""
    assert len(token_types_bin.read(b"")) == 0


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_bytes_left_over(size):
    assert refusal(token_types_bin.read, b"\1\0\0\0"[:size].ljust(size, b"\0"), "t.bin") == (
        f"t.bin: token_types[{size // 4}] at offset 0x{size // 4 * 4:X} ({size // 4 * 4}): "
        f"expected a whole record of 4 bytes, found {size % 4} bytes before the end"
    )


NAMES = "one of 1 normal, 2 unknown, 3 control, 4 user_defined, 5 unused, 6 byte"


@pytest.mark.parametrize("kind", [0, 7, -1, 2**31 - 1, -(2**31), 256])
def test_an_unknown_type(kind):
    data = b"\1\0\0\0" + kind.to_bytes(4, "little", signed=True)
    line = f"token_types.bin: token_types[1].token_type at offset 0x4 (4): expected {NAMES}, found {kind}"
    assert refusal(token_types_bin.read, data) == line
    assert refusal(token_types_bin.build, [1, kind]) == line


@pytest.mark.parametrize("kind", [2**31, -(2**31) - 1, 2**32 + 1])
def test_a_type_beyond_32_bits_is_not_wrapped(kind):
    assert refusal(token_types_bin.build, [1, kind]) == (
        "token_types.bin: token_types[1].token_type at offset 0x4 (4): "
        f"expected -2147483648 to 2147483647, found {kind}"
    )
