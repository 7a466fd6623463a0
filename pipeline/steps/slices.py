"""Step `slices`: parts of artifacts and of tensors as files of FPGA and HLS tools."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pipeline.errors import UsageError
from pipeline.firmware import slice_paths
from pipeline.firmware.memory_files import HEX_LIMIT, KINDS, Memory, refusal
from pipeline.manifest.containers import ListOf, MapOf
from pipeline.manifest.fields import Fields, Identifier
from pipeline.manifest.integers import Integer, Size
from pipeline.manifest.kinds import Choice, Text
from pipeline.manifest.parameters import Parameter
from pipeline.steps.step import MODEL, Artifact, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pipeline.firmware.slices import Slice
    from pipeline.steps.step import Job

TRUTH = "truth"
MEMORY_MOST = 256 << 20
"""Bytes that `depth` may pad to."""
DEPTH_MOST = MEMORY_MOST
PAGE = 4096
"""An AXI burst does not cross a multiple of it."""

_AXI = Fields(
    Parameter("width", Size(8, 1024, power_of_two=True), doc="Width of the data bus, in bits."),
    Parameter("max_burst", Size(1, 256, power_of_two=True), doc="Beats of a burst."),
)
_SLICE = Fields(
    Parameter("path", Text(slice_paths.WORDS), doc="What to take."),
    Parameter("as", ListOf(Choice(*KINDS, TRUTH), at_least=1), doc="The kinds of files."),
    Parameter(
        "width",
        Size(8, 512, multiple_of=8, what="a width in bits"),
        32,
        "Bits of a word.",
    ),
    Parameter(
        "order",
        Choice("little", "big"),
        "little",
        "Where a word's first byte is: `little`: its lowest eight bits; `big`: its highest.",
    ),
    Parameter(
        "depth",
        Integer(1, DEPTH_MOST),
        None,
        "Words of the memory; fewer are padded, more refused. Left out, as many as there are.",
    ),
    Parameter("pad", Choice("refuse", "fill"), "refuse", "What to do with a last word that is not whole."),
    Parameter("fill", Integer(0, 255), 0, "The byte of the padding."),
    Parameter(
        "address",
        Size(0, HEX_LIMIT - 1, what="an address"),
        None,
        "Of the slice's first byte, for updatemem, hex and axi. Left out, 0 in the files, and for axi the slice's "
        "offset in its file, which lies on a multiple of 4096.",
    ),
    Parameter(
        "axi",
        _AXI,
        None,
        "Hold the slice's place and length against the rules of an AXI bus: bursts of full length from its first "
        "byte on, none of which crosses 4 KiB, in whole beats.",
    ),
)


class Slices(Step):
    """Write parts of artifacts, and blocks of tensors, for FPGA simulation, synthesis and HLS.

    Kinds of files: `bin`; `updatemem` (`.mem` with the address in bytes); `readmemh` (Verilog's `.mem`, a word a
    line); `coe`; `hex` (Intel, the bytes in their order); `dat` (HLS, a word a line with 0x); `c` (an array, of at
    most 64 KiB); `truth` (of tensors: the numbers that the blocks stand for, one a line, as the `gguf` package
    dequantises them; the index states the tolerance).

    `slices/index.json` says of each slice where its bytes are from, and their SHA-256.
    """

    name = "slices"
    summary = "parts of tables, images and tensors as .bin, .mem, .coe, .hex, .dat and C"
    parameters = (
        Parameter(
            "files",
            MapOf(_SLICE, Identifier()),
            MappingProxyType({}),
            "The slices, by the name of their files.",
        ),
    )
    writes = (Artifact("slices/*", "memory slice", "1", "words of a memory"),)

    def inputs(self, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the artifacts that are cut, and the model where tensors are."""
        paths = [slice_paths.parse(each["path"]) for each in parameters["files"].values()]
        return tuple(
            dict.fromkeys(MODEL if path.artifact is None else path.artifact for path in paths if path)
        )

    def problems(self, parameters: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Say which paths lead nowhere, and what contradicts."""
        if not parameters["files"]:
            yield (), "expected at least a slice in `files`, found none"
        for name, given in parameters["files"].items():
            key = ("files", name)
            if slice_paths.parse(given["path"]) is None:
                yield (*key, "path"), f"expected {slice_paths.WORDS}, found {given['path']!r}"
            if len(set(given["as"])) < len(given["as"]):
                yield (*key, "as"), "expected each kind once"
            if given["depth"] is not None and given["depth"] * given["width"] // 8 > MEMORY_MOST:
                found = f"{given['depth']} words of {given['width']} bits"
                yield (*key, "depth"), f"expected a memory of at most {MEMORY_MOST} bytes, found {found}"
            axi = given["axi"]
            if axi is not None and axi["width"] // 8 * axi["max_burst"] > PAGE:
                found = f"{axi['max_burst']} beats of {axi['width']} bits, {axi['width'] // 8 * axi['max_burst']} bytes"
                yield (
                    (*key, "axi"),
                    f"expected bursts of at most {PAGE} bytes, which they must not cross, found {found}",
                )

    def run(self, job: Job) -> None:
        """Write every slice and the index."""
        import hashlib

        from pipeline.firmware.slices import cut
        from pipeline.text_output import json_document

        index, total = [], 0
        for name, given in job.parameters["files"].items():
            path = slice_paths.parse(given["path"])
            if path is None:
                raise UsageError(f"step slices: files.{name}.path: expected {slice_paths.WORDS}")
            try:
                found = cut(job, path)
            except UsageError as error:
                raise UsageError(f"step slices: files.{name}.path: {error}") from error
            data = _padded(name, found.data, given)
            if given["axi"] is not None:
                _check_axi(name, given, found, len(data))
            origin = f"{given['path']}, {given['order']}-endian words"
            address = given["address"] or 0
            memory = Memory(name, data, given["width"], given["order"] == "big", address, origin)
            entry = {
                "name": name,
                "path": given["path"],
                "file": found.file,
                "offset": found.offset,
                "size": len(found.data),
                "sha256": hashlib.sha256(found.data).hexdigest(),
                "width": given["width"],
                "order": given["order"],
                "words": memory.count,
                "padding": len(data) - len(found.data),
                "address": address,
                "files": [_write(job, memory, kind) for kind in given["as"] if kind != TRUTH],
            }
            if TRUTH in given["as"]:
                entry["truth"] = _write_truth(job, name, found)
            index.append(entry)
            total += len(found.data)
        job.write("slices/index.json", json_document(index))
        job.say(f"{len(index)} slice{'s' * (len(index) != 1)} of {total:,} bytes")


def _write(job: Job, memory: Memory, kind: str) -> str:
    """Write a file of a memory; give its name."""
    words = refusal(memory, kind)
    if words:
        raise UsageError(f"step slices: files.{memory.name}.as: {words}")
    file = f"slices/{memory.name}{KINDS[kind].suffix}"
    job.write(file, KINDS[kind].write(memory))
    return file


def _write_truth(job: Job, name: str, found: Slice) -> dict[str, Any]:
    """Write the numbers that a tensor's blocks stand for; describe the file."""
    from pipeline.firmware import truth

    if found.type not in truth.TYPES:
        known = ", ".join(kind.name for kind in truth.TYPES)
        what = found.file if found.type is None else f"{found.type.name} in {found.file}"
        raise UsageError(f"step slices: files.{name}.as: expected blocks of {known} for truth, found {what}")
    values = truth.dequantise(found.type, found.data)
    file = f"slices/{name}{truth.SUFFIX}"
    job.write(file, truth.truth_file(values))
    return {
        "file": file,
        "type": found.type.name,
        "values": len(values),
        "relative_tolerance": truth.TOLERANCE,
    }


def _padded(name: str, data: bytes, given: Mapping[str, Any]) -> bytes:
    """Make whole words, as many as there have to be."""
    size, where = given["width"] // 8, f"step slices: files.{name}"
    if not data:
        raise UsageError(f"{where}.path: expected at least a byte, found none")
    over = len(data) % size
    if over and given["pad"] == "refuse":
        raise UsageError(
            f"{where}.width: expected whole words of {size} bytes, found {len(data)} bytes, {over} behind the last; "
            "take another width, or `pad: fill`"
        )
    words = -(-len(data) // size)
    depth = given["depth"] or words
    if words > depth:
        raise UsageError(f"{where}.depth: expected at most {depth} words, found {words}")
    return data.ljust(depth * size, bytes([given["fill"]]))


def _check_axi(name: str, given: Mapping[str, Any], found: Slice, size: int) -> None:
    """Refuse a slice that bursts of full length would not fetch alone, inside pages of 4 KiB."""
    axi = given["axi"]
    beat, burst = axi["width"] // 8, axi["width"] // 8 * axi["max_burst"]
    where = f"step slices: files.{name}.axi"
    start, place = given["address"], "`address`"
    if start is None:
        start, place = found.offset, found.file
    # A burst is a power of two of bytes: where one starts on a multiple of it, all do, and none crosses a page.
    if start % burst:
        raise UsageError(
            f"{where}: expected a start on a multiple of {burst}, so that no burst crosses 4 KiB, found "
            f"0x{start:X} in {place}; align it to more, or take shorter bursts"
        )
    if size % beat:
        raise UsageError(
            f"{where}: expected whole beats of {beat} bytes, found {size} bytes; take `pad: fill` or `depth`"
        )
