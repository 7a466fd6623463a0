"""Steps and manifests that the tests of the manifest share."""

from dataclasses import dataclass

from pipeline.manifest import (
    Choice,
    FilePath,
    Flag,
    Integer,
    ListOf,
    MapOf,
    Parameter,
    Size,
    Text,
    parse_manifest,
)


@dataclass(frozen=True)
class Step:
    name: str
    summary: str
    parameters: tuple[Parameter, ...] = ()


STEPS = {
    step.name: step
    for step in (
        Step("inspect", "Write down what the model holds."),
        Step("tokenizer", "Export the tokenizer."),
        Step(
            "tensors",
            "Export tensors.",
            (
                Parameter("include", ListOf(Text("a glob"), 1), ("*",), "Which tensors."),
                Parameter("mode", Choice("copy", "index"), "copy", "Copy them | list them."),
            ),
        ),
        Step(
            "runtime_image",
            "Pack the image.",
            (
                Parameter("align", Size(16, 1 << 20, power_of_two=True), 64, "Alignment of sections."),
                Parameter("budget", Size(64, 1 << 30, multiple_of=64), None, "The most bytes."),
                Parameter("pad", Flag(), default=False, doc="Fill the last page."),
            ),
        ),
        Step(
            "parity",
            "Compare tokenizers.",
            (
                Parameter("corpus", FilePath(), doc="Texts to compare on."),
                Parameter("weights", MapOf(Integer(0, 9)), {}, "Weight of each language."),
            ),
        ),
    )
}

PATH = "manifests/m.yaml"
DIGEST = "sha256:" + "0a" * 32

FULL = f"""\
version: 1
model:
  ollama: qwen2.5:7b   # no quotes needed
  digest: {DIGEST}
  pre: qwen2
  fallback: {{sample: qwen3}}
out: ../build/m
expect:
  vocab.bin: {DIGEST}
  tensors/a.bin: "{"1" * 64}"
steps:
  - inspect
  - tokenizer:
  - tensors: {{include: ["*.weight", '1.10'], mode: index}}
  - runtime_image:
      align: 4KiB
      budget: 0x40
      pad: true
  - parity: {{corpus: texts, weights: {{de: 1, "no": 2}}}}
"""

HEAD = "version: 1\nmodel: {ollama: qwen2.5:0.5b}\nout: ../build\nsteps:\n"
"""Four lines; a test adds steps from line 5."""


def parse(text, *overrides):
    data = text if isinstance(text, bytes) else text.encode()
    return parse_manifest(data, PATH, STEPS, overrides)
