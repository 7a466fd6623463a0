"""The texts: what any machine gets from Debian's packages and from its Python, in a fixed order and size."""

from __future__ import annotations

import gzip
import hashlib
import struct
import sysconfig
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DOCUMENT_BYTES = 16 * 1024
"""A document is a file, or a part of one of at most this size that ends with a line where it can."""

PACKAGES = (
    *("debian-policy", "debian-reference-en", "developers-reference", "manpages"),
    *("debian-reference-zh-cn", "manpages-zh"),
    "linux-libc-dev",
    *("vlc-l10n", "libgtk-3-common"),
)
"""What the texts come from, besides Python's standard library. None has to be installed."""

SCRIPTS = {
    "ar": "Arabic", "bn": "Bengali", "el": "Greek", "gu": "Gujarati", "he": "Hebrew", "hi": "Devanagari",
    "hy": "Armenian", "ja": "Kana", "ka": "Georgian", "km": "Khmer", "ko": "Hangul", "ml": "Malayalam",
    "ru": "Cyrillic", "th": "Thai", "vi": "Latin", "zh_CN": "Han",
}  # fmt: skip
"""The languages of the mixed text, and their scripts; each gives the same share."""

SHARE = "usr/share"


@dataclass(frozen=True)
class Corpus:
    """Documents of one kind.

    Attributes:
        name: as the tables call it.
        origin: where the text comes from, for people.
        documents: each valid UTF-8, at most `DOCUMENT_BYTES` long.

    """

    name: str
    origin: str
    documents: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """Bytes of all documents."""
        return sum(map(len, self.documents))

    @property
    def sha256(self) -> str:
        """Digest of the documents and of where each ends."""
        return hashlib.sha256(packed(self.documents)).hexdigest()

    def sample(self, most: int) -> tuple[bytes, ...]:
        """Return the first documents, up to `most` bytes and at least one."""
        return tuple(taken(self.documents, most))


def corpora(packages: Path, most: int) -> list[Corpus]:
    """Choose the texts.

    Args:
        packages: a folder with the unpacked packages, each under its name.
        most: bytes of each corpus, about.

    """

    def files(package: str, under: str, pattern: str) -> Iterator[bytes]:
        return contents(packages / package / under, pattern)

    manuals = chain(
        files("debian-policy", f"{SHARE}/doc/debian-policy", "policy.txt.gz"),
        files("debian-reference-en", f"{SHARE}/debian-reference", "*.en.txt.gz"),
        files("developers-reference", f"{SHARE}/developers-reference", "*.txt.gz"),
        files("manpages", f"{SHARE}/man", "man[1-8]/*.gz"),
    )
    chinese = chain(
        files("debian-reference-zh-cn", f"{SHARE}/debian-reference", "*.zh-cn.txt.gz"),
        files("manpages-zh", f"{SHARE}/man/zh_CN", "man[1-8]/*.gz"),
    )
    headers = files("linux-libc-dev", "usr/include/linux", "*.h")
    share = most // len(SCRIPTS)
    languages = [taken(cut_all([translations(packages, language)], share), share) for language in SCRIPTS]
    return [
        Corpus(
            "English",
            "Debian Policy, Debian Reference, Developer's Reference as plain text; then manual pages",
            tuple(taken(cut_all(manuals), most)),
        ),
        Corpus(
            "code",
            "Python's standard library and Linux' C headers, in turn",
            tuple(taken(in_turn([cut_all(standard_library()), cut_all(headers)]), most)),
        ),
        Corpus(
            "Chinese",
            "Debian Reference as plain text; then manual pages",
            tuple(taken(cut_all(chinese), most)),
        ),
        Corpus(
            "mixed",
            f"translated messages of VLC and GTK in {len(SCRIPTS)} languages, as many scripts, in turn: "
            + ", ".join(f"{language} ({script})" for language, script in SCRIPTS.items()),
            tuple(in_turn(languages)),
        ),
    ]


def contents(folder: Path, pattern: str, without: Iterable[str] = ()) -> Iterator[bytes]:
    """Yield the text of each file, unpacked, in an order that is fixed and not the alphabet's.

    So that a part of them is no worse a choice than another. What is a link is left out, for it is a page twice;
    so is what lies in a folder whose name is in `without`.
    """
    found = [
        path
        for path in folder.glob(pattern)
        if path.is_file() and not path.is_symlink() and not {*without} & {*path.relative_to(folder).parts}
    ]
    for path in sorted(
        found, key=lambda path: hashlib.sha256(path.relative_to(folder).as_posix().encode()).digest()
    ):
        data = path.read_bytes()
        yield gzip.decompress(data) if path.suffix == ".gz" else data


def standard_library() -> Iterator[bytes]:
    """Yield the modules of the running Python, without its tests and what was installed besides."""
    root = Path(sysconfig.get_paths()["stdlib"])
    return contents(root, "**/*.py", ("site-packages", "dist-packages", "test", "tests", "__pycache__"))


def translations(packages: Path, language: str) -> bytes:
    """Return the translated messages of a language, one after the other."""
    found = chain.from_iterable(
        sorted((packages / package).glob(f"{SHARE}/locale/{language}/LC_MESSAGES/*.mo"))
        for package in ("vlc-l10n", "libgtk-3-common")
    )
    return b"\n".join(chain.from_iterable(messages(path.read_bytes()) for path in found))


def messages(catalog: bytes) -> Iterator[bytes]:
    """Yield the translations of a GNU gettext catalog (`.mo`), without its header; plurals one by one."""
    order = "<" if catalog[:4] == b"\xde\x12\x04\x95" else ">"
    count, originals, translated = struct.unpack_from(f"{order}3I", catalog, 8)
    for number in range(count):
        (original_length,) = struct.unpack_from(f"{order}I", catalog, originals + 8 * number)
        length, start = struct.unpack_from(f"{order}2I", catalog, translated + 8 * number)
        if original_length:
            yield from catalog[start : start + length].split(b"\0")


def cut_all(texts: Iterable[bytes], most: int = DOCUMENT_BYTES) -> Iterator[bytes]:
    """Cut texts into documents; what is not UTF-8, or empty, is left out."""
    for text in texts:
        try:
            text.decode()
        except UnicodeDecodeError:
            continue
        yield from cut(text, min(most, DOCUMENT_BYTES))


def cut(text: bytes, most: int) -> Iterator[bytes]:
    """Cut UTF-8 into parts of at most `most` bytes (at least 4), at line ends or else between characters."""
    start = 0
    while start < len(text):
        end = start + most
        if end < len(text):
            line = text.rfind(b"\n", start, end) + 1
            if line > start:
                end = line
            while text[end] & 0xC0 == 0x80:
                end -= 1
        yield text[start:end]
        start = end


def taken(documents: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yield documents until the next would make it more than `most` bytes; at least one."""
    size = 0
    for document in documents:
        size += len(document)
        if size > most and size > len(document):
            return
        yield document


def in_turn(groups: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the first of each group, then the second of each, to the end of all."""
    for row in zip_longest(*groups):
        yield from (document for document in row if document is not None)


def packed(documents: Iterable[bytes]) -> bytes:
    """Write documents as `harness.c` and `peers.py` read them: each behind its length, u32 little-endian."""
    return b"".join(struct.pack("<I", len(document)) + document for document in documents)
