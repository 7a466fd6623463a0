"""Opening GGUF files: bounds-checked, mapped, nothing decoded before it is asked for."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from formats.errors import FormatError, shown
from formats.gguf.cursor import BADLY_MADE, CUT_SHORT, Cursor
from formats.gguf.directory import place_tensors, read_directory
from formats.gguf.keys import ALIGNMENT
from formats.gguf.layout import (
    DEFAULT_ALIGNMENT,
    MAGIC,
    MIN_KEY_VALUE,
    MIN_TENSOR_INFO,
    VERSIONS,
)
from formats.gguf.mapping import empty_file, map_file
from formats.gguf.split import refuse_part
from formats.gguf.tensors import LLAMA_CPP_NAME_BYTES, TensorInfo, padded
from formats.gguf.value_types import ValueType
from formats.gguf.values import GgufValue, read_key_values
from formats.layout import Place, u32, u64

if TYPE_CHECKING:
    import mmap
    import os
    from collections.abc import Mapping

    from formats.gguf.kinds import Kind

T = TypeVar("T")

_OTHER_MAGIC = (
    (b"version https://git-lfs", "a Git LFS pointer: fetch the file that it stands for"),
    (b"PK\x03\x04", "a zip archive, as PyTorch writes: convert it to GGUF"),
    (b"lmgg", "a GGML file from before GGUF: convert it again"),
    (b"fmgg", "a GGMF file from before GGUF: convert it again"),
    (b"tjgg", "a GGJT file from before GGUF: convert it again"),
    (b"FUGG", "a GGUF file of swapped bytes: convert it on a little-endian machine"),
)


class GgufFile:
    """A GGUF file, checked as a whole when it is opened.

    Arrays, `ByteStrings` and tensor data are views of the file. They stay valid after `close`, which
    then leaves the mapping to the last of them; values that were not asked for are gone. The file
    must not be shortened while it is mapped: the system then ends the process.

    >>> with GgufFile.open("model.gguf") as model:                       # doctest: +SKIP
    ...     tokens = model.require("tokenizer.ggml.tokens", STRINGS)

    Attributes:
        file: the name for messages.
        size: of the file, in bytes.
        version: 2 or 3.
        alignment: of the data section and every tensor, in bytes.
        data_offset: where the data section starts in the file; without tensors it may lie
            beyond the end.
        key_values: values by key, in the file's order.
        tensors: the directory, in the file's order.
        warnings: a line for each oddity that is no error.

    """

    def __init__(self, buffer: Any, file: str = "") -> None:
        """Read a file that is in memory.

        Args:
            buffer: the whole file: bytes, or anything that gives a flat view of bytes.
            file: its name, for messages.

        Raises:
            FormatError: it is no GGUF file that this tool reads; with the place and the reason.

        """
        self._mapped: mmap.mmap | None = None
        self._data = memoryview(buffer).cast("B").toreadonly()
        self.file = file
        self.size = len(self._data)
        try:
            self._read()
        except FormatError as error:
            error.hint = error.hint or BADLY_MADE
            self.close()
            raise

    def _read(self) -> None:
        cursor = Cursor(self._data, self.file)
        self.version, n_tensors, n_kv = _read_header(cursor)
        self.key_values: Mapping[str, GgufValue] = MappingProxyType(read_key_values(cursor, n_kv))
        refuse_part(self.key_values, self.file)
        self.alignment = _alignment(self.key_values)
        entries = read_directory(cursor, n_tensors)
        self.data_offset = padded(cursor.offset, self.alignment)
        if entries and self.data_offset > self.size:
            place = Place(self.file, "data section", self.data_offset)
            expected = f"a start inside the file of {self.size} bytes"
            raise place.error(expected, f"{self.data_offset} (alignment {self.alignment})", CUT_SHORT)
        self.tensors = place_tensors(entries, self.data_offset, self.alignment, self.size, self.file)
        self.warnings = tuple(self._oddities())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Map a file and read it.

        Raises:
            FormatError: as in the constructor; also for an empty file, a folder, a pipe, a device.
            OSError: the file cannot be opened.

        """
        path = Path(path)
        mapped = map_file(path)
        try:
            self = cls(mapped, str(path))
        except FormatError:
            with suppress(BufferError):
                mapped.close()
            raise
        self._mapped = mapped
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the mapping back; views that are still referenced keep it until they go."""
        with suppress(BufferError):
            self._data.release()
            if self._mapped is not None:
                self._mapped.close()

    def get(self, key: str, kind: Kind[T]) -> T | None:
        """Return a value of the expected kind, or None where the key is not there.

        Raises:
            FormatError: the value is of another kind; with its key, offset and type.

        """
        value = self.key_values.get(key)
        return None if value is None else kind.read(value)

    def require(self, key: str, kind: Kind[T]) -> T:
        """Return a value that must be there.

        Raises:
            FormatError: the key is missing, or its value is of another kind.

        """
        value = self.key_values.get(key)
        if value is None:
            expected = f"the key {shown(key)} with {kind.words}"
            hint = "the file is no such model, or its converter left the key out"
            raise FormatError(expected, "no such key", file=self.file, hint=hint)
        return kind.read(value)

    def data_of(self, tensor: TensorInfo) -> memoryview:
        """View a tensor's bytes, without padding.

        Raises:
            FormatError: its type is not known, so its size is not either.

        """
        size = tensor.size
        if size is None:
            place = Place(self.file, f"tensor {shown(tensor.name)}", tensor.entry_offset)
            hint = "convert the model to a type that is known"
            raise place.error("a tensor type of known size", tensor.type_label, hint)
        return self._data[tensor.absolute_offset : tensor.absolute_offset + size]

    def _oddities(self) -> list[str]:
        lines = []
        long = [t.name for t in self.tensors if len(t.name.encode()) > LLAMA_CPP_NAME_BYTES]
        if long:
            more = f" and {len(long) - 1} more" if len(long) > 1 else ""
            words = f"tensor names over {LLAMA_CPP_NAME_BYTES} bytes, which llama.cpp refuses"
            lines.append(f"{words}: {shown(long[0])}{more}")
        end: int | None = self.data_offset
        if self.tensors:
            last = self.tensors[-1]
            end = None if last.size is None else padded(last.absolute_offset + last.size, self.alignment)
        if end is not None and end < self.size:
            lines.append(f"unused bytes at the end: {self.size - end}, from offset 0x{end:X} on")
        return lines


def _read_header(cursor: Cursor) -> tuple[int, int, int]:
    """Read version, number of tensors and number of key/value pairs; check that they can be true."""
    if cursor.left == 0:
        raise empty_file(cursor.file)
    start = bytes(cursor.data[:32])
    if start[: len(MAGIC)] != MAGIC:
        known = (words for magic, words in _OTHER_MAGIC if start.startswith(magic))
        raise cursor.place("magic").error(
            f"'GGUF' ({shown(MAGIC)})", shown(start[:4]), next(known, "this is no GGUF file")
        )
    cursor.skip(len(MAGIC), "magic")
    place = cursor.place("version")
    version = cursor.number(u32, place.path)
    if version not in VERSIONS:
        big = version != 0 and version & 0xFFFF == 0
        swapped = int.from_bytes(version.to_bytes(4, "little"), "big")
        found = f"a big-endian file of version {swapped}" if big else f"version {version}"
        newer = version > VERSIONS[-1] and not big
        hint = "look for a newer release of this tool" if newer else "convert the model again"
        raise place.error("a little-endian file of version 2 or 3", found, hint)
    counts = {}
    for name, words in (("n_tensors", "tensors"), ("n_kv", "key/value pairs")):
        counts[name] = cursor.place(name), cursor.number(u64, name), words
    left = cursor.left
    for name, smallest in (("n_kv", MIN_KEY_VALUE), ("n_tensors", MIN_TENSOR_INFO)):
        place, count, words = counts[name]
        if count > left // smallest:
            raise place.error(
                f"at most {left // smallest} {words} in the {left} bytes left", str(count), CUT_SHORT
            )
        left -= count * smallest
    return version, counts["n_tensors"][1], counts["n_kv"][1]


def _alignment(key_values: Mapping[str, GgufValue]) -> int:
    value = key_values.get(ALIGNMENT)
    if value is None:
        return DEFAULT_ALIGNMENT
    if value.type is not ValueType.UINT32:
        raise value.place.error("a u32", value.type_label)
    alignment: Any = value.value
    if alignment == 0 or alignment & (alignment - 1):
        place = Place(value.place.file, value.place.path, value.offset)
        raise place.error("a power of two", str(alignment))
    return int(alignment)
