"""A slice of an artifact or of a tensor for FPGA and HLS tools: words of a memory, as bytes or as text.

Word width and byte order are the manifest's; `slices/index.json` states them, with where the bytes lie in
which file, and their SHA-256. Texts print a word's most significant digit first.
"""

from __future__ import annotations

from formats.layout import BytesToEnd, Field, FileLayout

MEMORY_SLICE = FileLayout(
    "memory_slice",
    "Words of a memory.",
    Field("words", BytesToEnd(), "the words, in the form that the file's name ends with"),
    file_name="slices/*",
)
