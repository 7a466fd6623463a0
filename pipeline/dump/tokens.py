"""The tokens of a file: what is known of each, and which share their bytes.

A file that has no tokens of its own takes the names of those that lie beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formats import byte_level, ps_bundle, token_types_bin, vocab_bin
from formats.byte_strings import ByteStrings
from formats.layout.rules import word_of
from formats.layout.tree import Group, Items, Leaf, Part, Rows, Strings
from formats.token_types import TokenType
from pipeline.dump.values import text_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from pipeline.artifact_files import ArtifactFile

_TYPES_BESIDE = f"{token_types_bin.FILE_NAME} beside it"


@dataclass(frozen=True)
class TokenFacts:
    """What a file says of one token.

    Attributes:
        token_id: its id.
        stored: the bytes in the file, or None where it has none.
        glyphs: the token as byte-level text; several where the file does not tell which.
        type: what it is, in words, or None where nothing tells.
        same: every id with the same stored bytes, this one too, ascending.

    """

    token_id: int
    stored: bytes | None
    glyphs: tuple[str, ...]
    type: str | None
    same: tuple[int, ...]


@dataclass(frozen=True)
class Tokens:
    """The tokens of a file.

    Attributes:
        path: of the list whose rows are the tokens; empty where they lie in another file.
        strings: what the file stores of each, or None.
        types: shape (n_tokens,), or None.
        types_from: where the types are, where that is not the file itself.
        spelling: how the strings are spelled: `bytes`, `glyphs` (byte-level text) or `engine` (vocab.bin's rule).
        data_path: of the run of bytes in the same file that holds the strings, where they are no part of
            the list's rows; else empty.

    """

    path: str
    strings: ByteStrings | None
    types: NDArray[Any] | None
    types_from: str
    spelling: str
    data_path: str = ""

    def __len__(self) -> int:
        if self.strings is not None:
            return len(self.strings)
        return 0 if self.types is None else len(self.types)

    @property
    def has_places(self) -> bool:
        """Whether the tokens lie in the file itself."""
        return bool(self.path)

    def places(self, token_id: int) -> list[str]:
        """List the paths of what the file has of a token, where it has places for tokens."""
        places = [f"{self.path}[{token_id}]"]
        if self.data_path and self.strings is not None:
            start = int(self.strings.starts[token_id])
            places.append(f"{self.data_path}[{start}:{start + int(self.strings.lengths[token_id])}]")
        return places

    def name(self, token_id: int) -> str:
        """Give a token's text, quoted; what is beyond the tokens has none."""
        if self.strings is None or not 0 <= token_id < len(self.strings):
            return ""
        return text_words(self._text(token_id))

    def facts(self, token_id: int) -> TokenFacts:
        """Tell what is known of a token."""
        kind = None if self.types is None or token_id >= len(self.types) else int(self.types[token_id])
        words = None
        if kind is not None:
            known = next((word_of(member) for member in TokenType if member == kind), "unknown number")
            words = f"{kind} {known}" + (f" ({self.types_from})" if self.types_from else "")
        if self.strings is None:
            return TokenFacts(token_id, None, (), words, (token_id,))
        stored = self.strings[token_id]
        same = self.with_bytes(stored)
        return TokenFacts(token_id, stored, self._glyphs(stored, kind, len(same)), words, same)

    def find(self, text: str) -> tuple[int, ...]:
        """List the tokens that a text names: as it is, or spelled as byte-level text."""
        if self.strings is None:
            return ()
        data = text.encode("utf-8", "surrogateescape")
        spelled = {data}
        if self.spelling == "bytes":
            decoded = _decoded(text)
            spelled |= set() if decoded is None else {decoded}
        elif self.spelling == "glyphs":
            spelled.add(byte_level.encode(data).encode())
        else:
            spelled.add(b"".join(vocab_bin.STORED[byte] for byte in data))
        return tuple(sorted({token for known in spelled for token in self.with_bytes(known)}))

    def with_bytes(self, stored: bytes) -> tuple[int, ...]:
        """List the ids of exactly these stored bytes, ascending."""
        if self.strings is None:
            return ()
        alike = np.flatnonzero(self.strings.lengths == len(stored))
        if len(alike) and stored:
            columns = self.strings.starts[alike][:, None] + np.arange(len(stored))
            wanted = np.frombuffer(stored, dtype=np.uint8)
            alike = alike[(self.strings.data[columns] == wanted).all(axis=1)]
        return tuple(alike.tolist())

    def _text(self, token_id: int) -> bytes:
        """Give the bytes a token prints as, as far as the file tells."""
        assert self.strings is not None  # noqa: S101  (asked for with strings only)
        stored = self.strings[token_id]
        if self.spelling == "glyphs":
            decoded = _decoded(stored.decode("utf-8", "replace"))
            return stored if decoded is None else decoded
        return stored

    def _glyphs(self, stored: bytes, kind: int | None, sharing: int) -> tuple[str, ...]:
        plain = stored.decode("utf-8", "backslashreplace")
        if self.spelling == "glyphs" or (kind is not None and kind != TokenType.NORMAL):
            return (plain,)
        if self.spelling == "bytes":
            return (byte_level.encode(stored),)
        kept = _kept_glyphs(stored)
        plainly = byte_level.encode(stored)
        return (kept,) if sharing < 2 or kept == plainly else (kept, plainly)


def _kept_glyphs(stored: bytes) -> str:
    """Read vocab.bin's spelling back: C4 80 to C4 A0 are glyphs that were kept, any other byte is itself."""
    glyphs, at = [], 0
    while at < len(stored):
        pair = stored[at : at + 2]
        is_kept = len(pair) == 2 and pair[0] == 0xC4 and 0x80 <= pair[1] <= 0xA0
        glyphs.append(pair.decode() if is_kept else byte_level.GLYPHS[stored[at]])
        at += 2 if is_kept else 1
    return "".join(glyphs)


def _decoded(text: str) -> bytes | None:
    try:
        return byte_level.decode(text)
    except KeyError:
        return None


def tokens_of(artifact: ArtifactFile) -> Tokens | None:
    """Find the tokens of a file, or those beside it; None where there are none."""
    reader = _READERS.get(artifact.format.name, _beside)
    return reader(artifact)


def _image(artifact: ArtifactFile) -> Tokens | None:
    index = part_inside(artifact.walk.root, "sections", "token_index")
    data = part_inside(artifact.walk.root, "sections", "token_bytes")
    if not isinstance(index, Rows) or not isinstance(data, Leaf):
        from pipeline.dump.compact_tokens import compact_tokens

        return compact_tokens(artifact)
    return _indexed("sections.token_index", index, data.value, "sections.token_bytes")


def _token_index(artifact: ArtifactFile) -> Tokens | None:
    index = part_inside(artifact.walk.root, "token_index")
    beside = _bytes_beside(artifact.path, ps_bundle.BYTES_FILE)
    if not isinstance(index, Rows):
        return None
    return _indexed("token_index", index, beside)


def _beside(artifact: ArtifactFile) -> Tokens | None:
    """Take the tokens of the PS bundle beside a file."""
    from pipeline.artifact_files import open_artifact

    path = artifact.path.with_name(ps_bundle.INDEX_FILE)
    if artifact.format.name == "token_bytes" or artifact.path == path or not path.is_file():
        return None
    found = _token_index(open_artifact(path, "token_index"))
    return None if found is None else Tokens("", found.strings, found.types, ps_bundle.INDEX_FILE, "bytes")


def _indexed(path: str, index: Rows, data: memoryview | None, data_path: str = "") -> Tokens:
    types = index.columns["token_type"]
    if data is None:
        return Tokens(path, None, types, "", "bytes")
    starts = index.columns["byte_offset"].astype(np.int64)
    lengths = index.columns["byte_length"].astype(np.int64)
    lengths[starts + lengths > len(data)] = 0  # a damaged index leads nowhere
    starts[lengths == 0] = 0
    strings = ByteStrings(np.frombuffer(data, dtype=np.uint8), starts, lengths)
    return Tokens(path, strings, types, "", "bytes", data_path)


def _listed(path: str, spelling: str) -> Callable[[ArtifactFile], Tokens | None]:
    def read(artifact: ArtifactFile) -> Tokens | None:
        found = part_inside(artifact.walk.root, path)
        if not isinstance(found, Strings):
            return None
        types = _types_beside(artifact.path)
        return Tokens(
            path, _strings(artifact, found), types, "" if types is None else _TYPES_BESIDE, spelling
        )

    return read


def _gguf(artifact: ArtifactFile) -> Tokens | None:
    pairs = part_inside(artifact.walk.root, "key_values")
    values: dict[bytes, Part] = {}
    for pair in pairs.items if isinstance(pairs, Items) else []:
        array = part_inside(pair, "value", "elements")
        if array is not None:
            values[pair.label] = array
    found, types = values.get(b"tokenizer.ggml.tokens"), values.get(b"tokenizer.ggml.token_type")
    if not isinstance(found, Strings):
        return None
    column = types.columns if isinstance(types, Rows) else None
    return Tokens(found.path, _strings(artifact, found), column, "", "glyphs")


def _token_types(artifact: ArtifactFile) -> Tokens | None:
    found, beside = part_inside(artifact.walk.root, "token_types"), _beside(artifact)
    if not isinstance(found, Rows):
        return None
    strings = None if beside is None else beside.strings
    return Tokens("token_types", strings, found.columns["token_type"], "", "bytes")


def _strings(artifact: ArtifactFile, found: Strings) -> ByteStrings:
    return ByteStrings(np.frombuffer(artifact.data, dtype=np.uint8), found.starts, found.lengths)


def part_inside(part: Part, *names: str) -> Part | None:
    """Find a part by the names that lead to it; None where it is not there."""
    for name in names:
        if not isinstance(part, Group):
            return None
        try:
            part = part.part(name)
        except KeyError:
            return None
    return part


def _bytes_beside(path: Path, name: str) -> memoryview | None:
    from pipeline.artifact_files import map_bytes

    beside = path.with_name(name)
    return map_bytes(beside) if beside.is_file() else None


def _types_beside(path: Path) -> NDArray[Any] | None:
    data = _bytes_beside(path, token_types_bin.FILE_NAME)
    size = token_types_bin.TOKEN_TYPE.size
    if data is None:
        return None
    whole = data[: len(data) // size * size]
    column: NDArray[Any] = np.frombuffer(whole, dtype=token_types_bin.TOKEN_TYPE.dtype)["token_type"]
    return column


_READERS: dict[str, Callable[[ArtifactFile], Tokens | None]] = {
    "q25tokrt": _image,
    "token_index": _token_index,
    "vocab_bin": _listed("entries", "engine"),
    "tokenizer_bin_documented": _listed("vocab", "glyphs"),
    "tokenizer_bin_loader": _listed("vocab", "glyphs"),
    "token_types": _token_types,
    "gguf": _gguf,
}
