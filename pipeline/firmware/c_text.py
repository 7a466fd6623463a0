"""Words of C: strings, byte lists, comments, identifiers."""

from __future__ import annotations

_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\?')


def quoted(data: bytes) -> str:
    r"""Write bytes as a C string; what is not plain ASCII becomes an octal escape.

    >>> quoted(b'a"b?')
    '"a\\042b\\077"'
    """
    return '"' + "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in data) + '"'


def sha256_bytes(digest: bytes) -> str:
    """Write a digest as a list for an initialiser, without line ends."""
    return "{" + ", ".join(f"0x{byte:02x}" for byte in digest) + "}"


def comment(text: str) -> str:
    """Make foreign text safe inside a C comment."""
    return text.replace("*/", "* /").replace("/*", "/ *")
