"""Step `model_table`: hyperparameters and tensors for firmware without a JSON parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.manifest.containers import ListOf
from pipeline.manifest.integers import Integer, Size
from pipeline.manifest.kinds import Choice
from pipeline.manifest.parameters import Parameter
from pipeline.steps.step import MODEL, Artifact, Step
from pipeline.steps.tensors import TENSOR_GLOB

if TYPE_CHECKING:
    from pipeline.steps.step import Job

TABLE = "model_table.bin"
PACK = "tensors.pack"


class ModelTable(Step):
    """Write each tensor's name, type, shape, offset, size and CRC-32, and the model's dimensions.

    As a binary table and, with the same values, as C. Offsets count in the GGUF or, with
    `container: pack`, in `tensors.pack`: the chosen tensors' bytes in one file, each aligned, for a
    boot loader to load at once. A payload is exactly the GGUF's bytes.
    """

    name = "model_table"
    summary = "hyperparameters and tensors, as a binary table and as C"
    parameters = (
        Parameter(
            "include", ListOf(TENSOR_GLOB), ("*",), "Tensors of the table: globs over names; `*` spans dots."
        ),
        Parameter("exclude", ListOf(TENSOR_GLOB), (), "Tensors to leave out of those."),
        Parameter(
            "container",
            Choice("gguf", "pack"),
            "gguf",
            "What offsets count in. `gguf`: the model's file; `pack`: `tensors.pack`, which is written then.",
        ),
        Parameter(
            "align",
            Size(1, 1 << 20, power_of_two=True),
            64,
            "Alignment of the tensors of a pack, in bytes: 64 is a cache line, 4096 keeps bursts inside a page.",
        ),
        Parameter("fill", Integer(0, 255), 0, "The byte between the tensors of a pack."),
    )
    reads = (MODEL,)
    writes = (
        Artifact(TABLE, "model_table", "1.0", "hyperparameters and tensors"),
        Artifact("model_table.h", "C header", "1", "structs of the table, and what model_table.c defines"),
        Artifact("model_table.c", "C source", "1", "the table's values as constants"),
        Artifact(PACK, "tensor pack", "1", "tensors' bytes, aligned", optional=True),
    )

    def run(self, job: Job) -> None:
        """Write the table, its C form and the pack."""
        from formats import model_table
        from pipeline.firmware.model_c import HEADER_FILE, SOURCE_FILE, model_header, model_source
        from pipeline.firmware.model_table import table_of_gguf, table_of_pack

        make = table_of_pack if job.parameters["container"] == "pack" else table_of_gguf
        data = make(job)
        table = model_table.read(data, TABLE)
        job.write(TABLE, data)
        job.write(HEADER_FILE, model_header(table).encode())
        job.write(SOURCE_FILE, model_source(table).encode())
        total = sum(tensor.size for tensor in table.tensors)
        job.say(
            f"{len(table.tensors)} of {len(job.model.gguf.tensors)} tensors, {total:,} bytes in a "
            f"{job.parameters['container']} of {table.header.container_bytes:,}"
        )
