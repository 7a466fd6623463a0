"""A tensor's payload: its blocks as in the GGUF, nothing converted, nothing around them.

Which tensor a file holds, of which type and shape, is in `tensor_payload_export_manifest.json`.
"""

from __future__ import annotations

from formats.layout import BytesToEnd, Field, FileLayout

TENSOR_PAYLOAD = FileLayout(
    "tensor_payload",
    "One tensor's bytes.",
    Field("blocks", BytesToEnd(), "the tensor's blocks, in the order of its rows"),
    file_name="tensors/*.bin",
)
