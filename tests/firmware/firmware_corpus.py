"""Real text that a machine has: program sources, manual pages and translations in many languages."""

from __future__ import annotations

import gettext
import gzip
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LANGUAGES = (
    "ar", "bn", "cs", "de", "el", "es", "fa", "fr", "he", "hi", "hu", "id", "it", "ja", "ka", "ko", "lt", "ne", "pl",
    "pt_BR", "ro", "ru", "sr", "sv", "ta", "te", "th", "tr", "uk", "vi", "zh_CN", "zh_TW",
)  # fmt: skip
MAN, LOCALE = Path("/usr/share/man"), Path("/usr/share/locale")


def sources() -> Iterator[str]:
    """Python's standard library."""
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" not in path.parts:
            yield _text(path.read_bytes())


def manuals() -> Iterator[str]:
    """Manual pages, the translated ones first."""
    for path in sorted(MAN.rglob("*.gz"), key=lambda path: (path.parent.parent == MAN, path)):
        yield _text(gzip.decompress(path.read_bytes()))


def translations(language: str, most: int) -> str:
    """Messages of programs in a language, up to about `most` bytes."""
    messages: list[str] = []
    size = 0
    for path in sorted((LOCALE / language / "LC_MESSAGES").glob("*.mo")):
        with path.open("rb") as file:
            try:
                catalog = gettext.GNUTranslations(file)
            except (OSError, UnicodeDecodeError, LookupError):
                continue
        found = [catalog.gettext(key) for key in vars(catalog)["_catalog"] if isinstance(key, str) and key]
        messages += found
        size += sum(len(message.encode()) for message in found)
        if size > most:
            break
    return "\n".join(messages)


def pieces(texts: Iterator[str], most: int, length: int = 4_000) -> Iterator[str]:
    """Cut texts into parts of at most `length` characters, up to about `most` bytes."""
    size = 0
    for text in texts:
        for start in range(0, len(text), length):
            yield text[start : start + length]
            size += len(text[start : start + length].encode())
            if size > most:
                return


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
