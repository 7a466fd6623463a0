"""Encoding and decoding by the C reader: the same ids and the same refusals as `pipeline.bpe`."""

from __future__ import annotations

import ctypes
from array import array
from ctypes import POINTER, byref, c_size_t, c_uint32, cast
from typing import TYPE_CHECKING, Any

from pipeline.bpe.decoder import unknown_id
from pipeline.bpe.image_tables import ImageTables
from pipeline.bpe.text_encoder import TextEncoder, not_utf8
from pipeline.errors import ModelError, PipelineError, UsageError
from pipeline.native import library as native

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats.q25tokrt.image import Image
    from pipeline.bpe.text_encoder import Invalid, Specials

NO_ID = 0xFFFFFFFF
"""Never an id: an image has fewer tokens."""

USUAL_SCRATCH = 256 * 1024
"""Bytes that the first try at a text gets: enough for all but texts made to need more."""

_LIMITS = {
    "TEXT_TOO_LONG": (UsageError, "a text of at most 134,217,727 bytes"),
    "TOO_MANY_TOKENS": (ModelError, "an image of at most 4,194,303 tokens"),
}
"""What the Python engine does without."""


class NativeImage:
    """An image opened by the C reader: a copy of it where C wants it, and the views into that."""

    def __init__(self, image: Image) -> None:
        self.library = native.load()
        size = len(image.data)
        # Words of 8 bytes: the address is then a multiple of 8, as the reader wants it.
        self._data = (ctypes.c_uint64 * -(-size // 8)).from_buffer_copy(image.data)
        self.bundle = self._room("q25_host_bundle_view_bytes")
        self.encode = self._room("q25_host_encode_view_bytes")
        status = self.library.q25_nl_tokenizer_runtime_image_open(
            self._data, size, self.bundle, self.encode, None
        )
        if status:
            raise self.refusal(self.name(status))

    def name(self, status: int) -> str:
        """Return a status code's name; `OK` for 0."""
        return str(self.library.q25_nl_status_name(status).decode("ascii"))

    def refusal(self, name: str) -> PipelineError:
        """Say what a status means that has nothing to do with the text's or the ids' contents."""
        if name in _LIMITS:
            kind, expected = _LIMITS[name]
            return kind(f"the C reader expects {expected}; use --engine python")
        return ModelError(f"the C reader refuses the image: {name}; build the image again")

    def _room(self, symbol: str) -> ctypes.Array[ctypes.c_uint64]:
        """Make room for a view."""
        return (ctypes.c_uint64 * -(-c_size_t.in_dll(self.library, symbol).value // 8))()


class NativeEncoder(TextEncoder):
    """A `TextEncoder` whose ids are the C reader's. For one thread at a time.

    Raises:
        MachineError: the C reader cannot be built or loaded.
        as `TextEncoder`: the image is not served.

    """

    def __init__(self, image: Image, specials: Specials = "all", invalid: Invalid = "error") -> None:
        super().__init__(ImageTables(image), specials, invalid)
        self._image = NativeImage(image)
        self._flags = native.SPECIALS[specials] | (native.REPLACE_INVALID if invalid == "replace" else 0)
        self._scratch = ctypes.create_string_buffer(USUAL_SCRATCH)
        self._ids = (c_uint32 * 0)()

    def encode(self, text: str | bytes) -> list[int]:
        """Return the ids of a text.

        Raises:
            UsageError: the text is longer than the C reader takes.
            as `TextEncoder.encode`: the text.

        """
        data = self._checked(text).encode() if isinstance(text, str) else text
        if len(self._ids) < len(data):
            self._ids = (c_uint32 * len(data))()
        while True:
            name, done = self._try(data)
            if name == "OK":
                return self._ids[: done.n_ids]
            # What is asked for is enough, so neither comes twice.
            if name == "SCRATCH_TOO_SMALL":
                self._scratch = ctypes.create_string_buffer(done.scratch_needed)
            elif name == "OUTPUT_TOO_SMALL":
                self._ids = (c_uint32 * done.n_ids)()
            else:
                raise self._refusal(name, data, done.error_offset)

    def _try(self, data: bytes) -> tuple[str, native.EncodeStatistics]:
        done = native.EncodeStatistics()
        status = self._image.library.q25_nl_tokenizer_bundle_encode_bpe_bounded(
            self._image.bundle,
            self._image.encode,
            data,
            len(data),
            self._flags,
            self._scratch,
            len(self._scratch),
            self._ids,
            len(self._ids),
            byref(done),
        )
        return self._image.name(status), done

    def _refusal(self, name: str, data: bytes, offset: int) -> PipelineError:
        if name == "INVALID_UTF8":
            return not_utf8(data, offset)
        if name == "BYTE_WITHOUT_TOKEN":
            # C tells the place, not the byte after NFC; and bytes that are no text are told first.
            for part in self._parts(self._checked(data)):
                if isinstance(part, str):
                    self._start_tokens(part)
        return self._image.refusal(name)


class NativeDecoder:
    """Decodes ids as `pipeline.bpe.decoder.Decoder` does, by the C reader.

    Args:
        image: verified.
        skip_control: leave out tokens of the types control and unknown.
        stop_at_end: end before the first of the image's end ids.

    Raises:
        MachineError: the C reader cannot be built or loaded.

    """

    def __init__(self, image: Image, *, skip_control: bool = False, stop_at_end: bool = False) -> None:
        self._image = NativeImage(image)
        self._n_tokens: int = image.header.n_tokens
        self._flags = (native.SKIP_CONTROL if skip_control else 0) | (
            native.STOP_AT_END if stop_at_end else 0
        )

    def decode(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids.

        Raises:
            TokenIdError: an id is not in the vocabulary. Ids behind an end are not looked at.

        """
        given = list(ids)
        words = array("I", [token if 0 <= token < NO_ID else NO_ID for token in given])
        text = ctypes.create_string_buffer(0)
        name, done = self._try(words, text)
        if name == "OUTPUT_TOO_SMALL":
            text = ctypes.create_string_buffer(done.n_bytes)
            name, done = self._try(words, text)
        if name == "UNKNOWN_ID":
            raise unknown_id(given[done.n_read], done.n_read, self._n_tokens)
        if name != "OK":
            raise self._image.refusal(name)
        return text.raw

    def _try(self, ids: array[int], text: ctypes.Array[Any]) -> tuple[str, native.DetokenizeStatistics]:
        done = native.DetokenizeStatistics()
        address, count = ids.buffer_info()
        status = self._image.library.q25_nl_tokenizer_bundle_detokenize(
            self._image.bundle,
            cast(address, POINTER(c_uint32)),
            count,
            self._flags,
            text,
            len(text),
            byref(done),
        )
        return self._image.name(status), done
