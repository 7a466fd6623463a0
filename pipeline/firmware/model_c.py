"""A model table as C: the structs of its layout, and the same values as constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formats.model_table import HYPERPARAMETERS, MODEL_TABLE, Container
from pipeline.firmware.c_text import quoted, sha256_bytes
from pipeline.schema.c_header import c_header

if TYPE_CHECKING:
    from formats.model_table import ModelTable, Tensor

HEADER_FILE = "model_table.h"
SOURCE_FILE = "model_table.c"


def model_header(table: ModelTable) -> str:
    """Write model_table.h: the structs, and what model_table.c defines."""
    header = table.header
    sha256 = bytes(header.source_sha256)
    lines = [
        c_header(MODEL_TABLE).rstrip("\n"),
        "",
        "#ifndef MODEL_TABLE_H",
        "#define MODEL_TABLE_H",
        "",
        "/* The same as constants, from model_table.c. */",
        f"#define MODEL_TENSORS {len(table.tensors)}u",
        f"#define MODEL_CONTAINER MODEL_TABLE_CONTAINER_{Container(header.container).name}",
        f"#define MODEL_CONTAINER_BYTES UINT64_C({header.container_bytes})",
        f"#define MODEL_CONTAINER_ALIGN {header.align}u",
        f'#define MODEL_SOURCE_SHA256 "{sha256.hex()}"',
        f"#define MODEL_SOURCE_SHA256_BYTES {sha256_bytes(sha256)}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "extern const struct model_table_hyperparameters model_hyperparameters;",
        "/* Behind the last tensor stands a record of zeros. */",
        "extern const struct model_table_tensor model_tensors[MODEL_TENSORS + 1u];",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif /* MODEL_TABLE_H */",
    ]
    return "\n".join(lines) + "\n"


def model_source(table: ModelTable) -> str:
    """Write model_table.c."""
    found = table.header.hyperparameters
    lines = [
        "/* The hyperparameters and tensors of model_table.bin as constants. */",
        f'#include "{HEADER_FILE}"',
        "",
        "const struct model_table_hyperparameters model_hyperparameters = {",
        *(f"    .{field.name} = {_number(found[field.name])}," for field in HYPERPARAMETERS.fields),
        "};",
        "",
        "const struct model_table_tensor model_tensors[MODEL_TENSORS + 1u] = {",
        *(_tensor(tensor) for tensor in table.tensors),
        "    {.name = {0}},",
        "};",
    ]
    return "\n".join(lines) + "\n"


def _number(value: Any) -> str:
    if isinstance(value, bytes):
        return quoted(value.rstrip(b"\0"))
    if isinstance(value, float):
        return f"{value.hex()}f"  # exact, in C's own notation
    return f"{value}u"


def _tensor(tensor: Tensor) -> str:
    ne = ", ".join(f"UINT64_C({count})" for count in tensor.fields()["ne"])
    return (
        f"    {{.name = {quoted(tensor.name.encode())},\n"
        f"     .type = MODEL_TABLE_GGML_TYPE_{tensor.type.name}, .n_dims = {len(tensor.ne)}u, .ne = {{{ne}}},\n"
        f"     .offset = UINT64_C(0x{tensor.offset:X}), .size = UINT64_C({tensor.size}), "
        f".crc32 = 0x{tensor.crc32:08X}u}},"
    )
