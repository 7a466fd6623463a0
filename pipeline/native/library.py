"""The C reader as a loaded library: built once, kept in the user's cache, its functions declared.

In the cache, `native/KEY` holds the SHA-256 of the library that was built from that key's sources by
that key's compiler, and the library is named by its SHA-256. So it is whole or not used, however many
processes build it at once; a cache that cannot be written only costs a build each time.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
import tempfile
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from formats.errors import shown
from pipeline.cache import cache_folder, read_small, write_small
from pipeline.errors import MachineError
from pipeline.native.compiler import INSTEAD, find_compiler, suffix

if TYPE_CHECKING:
    from pipeline.native.compiler import Compiler

FOLDER = "native"
"""In the cache."""


class EncodeStatistics(ctypes.Structure):
    """`q25_nl_encode_statistics`; the header says what each is."""

    _fields_ = tuple(
        (name, c_size_t)
        for name in ("n_ids", "n_merges", "n_bytes", "longest_piece", "scratch_needed", "error_offset")
    )


class DetokenizeStatistics(ctypes.Structure):
    """`q25_nl_detokenize_statistics`."""

    _fields_ = (("n_bytes", c_size_t), ("n_read", c_size_t))


FUNCTIONS = {
    "q25_nl_status_name": (c_char_p, [c_int]),
    "q25_nl_tokenizer_runtime_image_open": (c_int, [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    "q25_nl_tokenizer_bundle_encode_bpe_bounded": (
        c_int,
        [
            *(c_void_p, c_void_p, c_char_p, c_size_t, c_uint32, c_void_p, c_size_t),
            *(POINTER(c_uint32), c_size_t, POINTER(EncodeStatistics)),
        ],
    ),
    "q25_nl_tokenizer_bundle_detokenize": (
        c_int,
        [c_void_p, POINTER(c_uint32), c_size_t, c_uint32, c_void_p, c_size_t, POINTER(DetokenizeStatistics)],
    ),
}
"""What is called: result and arguments, as in `q25_nl_tokenizer.h`. Views are opaque here."""

SPECIALS = {"none": 0, "user": 1, "all": 2}
REPLACE_INVALID = 4
SKIP_CONTROL, STOP_AT_END = 1, 2
"""The flags of encode and of detokenize."""


@cache
def load() -> ctypes.CDLL:
    """Load the library, built before or now, and declare its functions.

    Raises:
        MachineError: there is no compiler, it fails, or what it built cannot be loaded.

    """
    if sys.byteorder != "little":
        raise MachineError(f"the C reader is for little-endian machines; {INSTEAD}")
    compiler = find_compiler()
    library = _kept(compiler) or _built(compiler)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _kept(compiler: Compiler) -> ctypes.CDLL | None:
    """Load what was built before; None where there is nothing, or nothing that can be loaded."""
    folder = cache_folder()
    digest = None if folder is None else read_small(folder / FOLDER / compiler.key())
    if folder is None or digest is None:
        return None
    path = folder / FOLDER / f"{digest.decode('ascii', 'replace')}{suffix()}"
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest().encode() == digest:
            return ctypes.CDLL(str(path))
    except (OSError, ValueError):  # absent, not readable, or on a disk that may hold no programs
        pass
    return None


def _built(compiler: Compiler) -> ctypes.CDLL:
    """Build the library, keep it for the next time and load it."""
    # A loaded library cannot be removed on Windows; it goes with the system's other temporary files.
    with tempfile.TemporaryDirectory(prefix="q25-", ignore_cleanup_errors=True) as folder:
        made = compiler.build(Path(folder))
        _keep(compiler, made.read_bytes())
        try:
            return ctypes.CDLL(str(made))
        except OSError as error:
            reason = shown(str(error))
            raise MachineError(f"the C reader was built and cannot be loaded: {reason}; {INSTEAD}") from error


def _keep(compiler: Compiler, library: bytes) -> None:
    folder = cache_folder()
    if folder is not None:
        digest = hashlib.sha256(library).hexdigest()
        if write_small(folder / FOLDER / f"{digest}{suffix()}", library):
            write_small(folder / FOLDER / compiler.key(), digest.encode())
