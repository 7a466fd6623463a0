"""Words of a memory in the files of FPGA and HLS tools.

A word is `width` bits of the data, in its order. With byte order `little` the first byte is the lowest
eight bits of the word, as a little-endian processor and an AXI bus have it; with `big` the highest.
Texts print a word's most significant digit first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

HEX_ROW = 16
"""Data bytes of a record of Intel hex."""
C_WIDTHS = (8, 16, 32, 64)
C_MOST = 64 << 10
"""Bytes that a C array may have: a compiler needs minutes and gigabytes for tables of megabytes."""
HEX_LIMIT = 1 << 32


@dataclass(frozen=True)
class Memory:
    """Words to be written.

    Attributes:
        name: of the slice.
        data: whole words.
        width: of a word, in bits: a multiple of 8.
        big: whether a word's first byte is its highest.
        address: of the first byte, where the file states addresses.
        origin: what the words are, for comments.

    """

    name: str
    data: bytes
    width: int
    big: bool
    address: int
    origin: str

    @property
    def count(self) -> int:
        """Number of words."""
        return len(self.data) * 8 // self.width

    def words(self) -> Iterator[str]:
        """Give each word in hex, all its digits, the most significant first."""
        size = self.width // 8
        for at in range(0, len(self.data), size):
            word = self.data[at : at + size]
            yield (word if self.big else word[::-1]).hex()


def _binary(memory: Memory) -> bytes:
    return memory.data


def _updatemem(memory: Memory) -> bytes:
    """UpdateMEM: the address in bytes, then the words."""
    return _lines([f"@{memory.address:08X}", *(word.upper() for word in memory.words())])


def _readmemh(memory: Memory) -> bytes:
    """Verilog's $readmemh: a word a line, from the memory's first on."""
    return _lines(memory.words())


def _coe(memory: Memory) -> bytes:
    words = list(memory.words())
    return _lines(
        [
            f"; {memory.origin}: {memory.count} words of {memory.width} bits",
            "memory_initialization_radix=16;",
            "memory_initialization_vector=",
            *(f"{word}," for word in words[:-1]),
            f"{words[-1]};",
        ]
    )


def _intel_hex(memory: Memory) -> bytes:
    """Intel hex of 32-bit addresses: the bytes in their order, whatever the word's width."""
    lines, high = [], None
    at = 0
    while at < len(memory.data):
        address = memory.address + at
        if address >> 16 != high:
            high = address >> 16
            lines.append(_record(0, 4, high.to_bytes(2, "big")))
        # A record does not cross 64 KiB: its addresses wrap around there.
        size = min(HEX_ROW, 0x10000 - address % 0x10000)
        lines.append(_record(address & 0xFFFF, 0, memory.data[at : at + size]))
        at += size
    return _lines([*lines, _record(0, 1, b"")])


def _record(address: int, kind: int, data: bytes) -> str:
    body = bytes([len(data), *address.to_bytes(2, "big"), kind, *data])
    return f":{body.hex()}{-sum(body) & 0xFF:02x}".upper()


def _hls(memory: Memory) -> bytes:
    """HLS: a word a line, with 0x, as C's fscanf and ap_uint's constructor from text read it."""
    return _lines(f"0x{word}" for word in memory.words())


def _c_array(memory: Memory) -> bytes:
    kind = f"uint{memory.width}_t"
    words = [f"UINT{memory.width}_C(0x{word})" for word in memory.words()]
    size = max(1, 8 * 8 // memory.width)
    rows = (", ".join(words[at : at + size]) for at in range(0, len(words), size))
    return _lines(
        [
            f"/* {memory.origin.replace('*/', '* /')} */",
            "#include <stdint.h>",
            f"extern const {kind} {memory.name}[{memory.count}];",
            f"const {kind} {memory.name}[{memory.count}] = {{",
            *(f"    {row}," for row in rows),
            "};",
        ]
    )


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("ascii", "backslashreplace")


@dataclass(frozen=True)
class FileKind:
    """A kind of file: what its name ends with, and what writes it."""

    suffix: str
    write: Callable[[Memory], bytes]


KINDS = {
    "bin": FileKind(".bin", _binary),
    "updatemem": FileKind(".updatemem.mem", _updatemem),
    "readmemh": FileKind(".readmemh.mem", _readmemh),
    "coe": FileKind(".coe", _coe),
    "hex": FileKind(".hex", _intel_hex),
    "dat": FileKind(".dat", _hls),
    "c": FileKind(".c", _c_array),
}
"""By the names that a manifest has for them."""


def refusal(memory: Memory, kind: str) -> str:
    """Say why a kind of file cannot hold a memory; empty where it can."""
    if kind == "c" and memory.width not in C_WIDTHS:
        return f"expected a width of 8, 16, 32 or 64 for a C array, found {memory.width}"
    if kind == "c" and len(memory.data) > C_MOST:
        return (
            f"expected at most {C_MOST} bytes for a C array, found {len(memory.data)}; the step firmware links "
            "greater ones"
        )
    if kind == "updatemem" and memory.address % (memory.width // 8):
        return (
            f"expected an address on a multiple of a word's {memory.width // 8} bytes for updatemem, found "
            f"0x{memory.address:X}"
        )
    if kind in ("hex", "updatemem") and memory.address + len(memory.data) > HEX_LIMIT:
        end = memory.address + len(memory.data)
        return f"expected addresses of 32 bits for {kind}, found an end at 0x{end:X}"
    return ""
