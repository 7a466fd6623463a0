"""The manifest's `model:`: which model is built from, and what is known of it beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from pipeline.manifest.kinds import Choice, Digest, FilePath, Text, any_of
from pipeline.manifest.nodes import Mapping, Node, Scalar, refusal
from pipeline.manifest.parameters import Parameter, parameters_schema, read_parameters

SourceKind: TypeAlias = Literal["ollama", "gguf", "sample"]
SOURCES: tuple[SourceKind, ...] = ("ollama", "gguf", "sample")
"""The keys of which a model has exactly one."""

SAMPLES = Choice("qwen2.5", "qwen3")
"""Families that the sample can be made of."""

PRE_TOKENIZERS = Choice("qwen2", "deepseek-r1-qwen")
"""Names of the one pre-tokenizer rule that is served; both stand for the same rule."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model that a manifest names.

    Attributes:
        kind: where it is: in an Ollama store, in a GGUF file, or made as a sample.
        value: the Ollama name, the file's path as it is written (`Manifest.beside` resolves it), or
            the sample's family.
        digest: `sha256:<64 digits>` that the GGUF must have, or None. It is about the model named
            here, not about the fallback.
        pre: the pre-tokenizer's rule where the GGUF states none, or None.
        fallback: family of the sample to build on where the store has no such model, or None.

    """

    kind: SourceKind
    value: str
    digest: str | None = None
    pre: str | None = None
    fallback: str | None = None


class Fallback:
    """`sample`, or `{sample: FAMILY}`; the value is the family."""

    def read(self, node: Node, path: str) -> str:
        """Read the family; plain `sample` means the first."""
        if isinstance(node, Scalar) and node.text == "sample":
            return SAMPLES.options[0]
        if not isinstance(node, Mapping):
            raise refusal(node, path, self.words())
        return str(read_parameters(node, path, self._parameters(), node.place)["sample"])

    def _parameters(self) -> tuple[Parameter, ...]:
        return (Parameter("sample", SAMPLES, doc="Family of the sample."),)

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {"anyOf": [{"const": "sample"}, parameters_schema(self._parameters())]}

    def words(self) -> str:
        """Describe it in words."""
        families = " or ".join(f"{{sample: {family}}}" for family in SAMPLES.options[1:])
        return f"sample, which is that of {SAMPLES.options[0]}, or {families}"


class Model:
    """The mapping behind `model:`."""

    parameters = (
        Parameter(
            "ollama",
            Text("the name of a model in the Ollama store, such as qwen2.5:0.5b"),
            None,
            "A model in the local Ollama store, in any form of name that Ollama takes.",
        ),
        Parameter("gguf", FilePath(), None, "A GGUF file; relative to the manifest's folder, or absolute."),
        Parameter(
            "sample",
            SAMPLES,
            None,
            "The sample: the real vocabulary of this family with a small synthetic body.",
        ),
        Parameter(
            "digest", Digest(), None, "SHA-256 that the model's GGUF must have; any other stops the run."
        ),
        Parameter(
            "pre", PRE_TOKENIZERS, None, "Rule of the pre-tokenizer, for a GGUF that does not state one."
        ),
        Parameter(
            "fallback",
            Fallback(),
            None,
            "What to build on where there is no Ollama store or no such model in it; only with `ollama`.",
        ),
    )

    def read(self, node: Node, path: str) -> ModelChoice:
        """Read the model."""
        if not isinstance(node, Mapping):
            text = isinstance(node, Scalar) and not node.is_null
            raise refusal(node, path, self.words(), "an Ollama model is {ollama: NAME}" if text else "")
        values: dict[str, Any] = read_parameters(node, path, self.parameters, node.place)
        given = [entry for entry in node.entries if entry.key.text in SOURCES]
        if not given:
            raise node.place.error(f"{path}: expected one of {any_of(SOURCES)}, found none of them")
        first, *others = given
        if others:
            raise others[0].key.place.error(
                f"{path}: expected only one of {any_of(SOURCES)}, found {others[0].key.text}; "
                f"{first.key.text} stands at {first.key.place} already"
            )
        fallback = node.get("fallback")
        if fallback and first.key.text != "ollama":
            raise fallback.key.place.error(
                f"{path}.fallback: it goes with ollama only; a model named by {first.key.text} has none"
            )
        return ModelChoice(
            cast("SourceKind", first.key.text),
            values[first.key.text],
            digest=values["digest"],
            pre=values["pre"],
            fallback=values["fallback"],
        )

    def schema(self) -> dict[str, object]:
        """Describe it in JSON Schema."""
        return {
            **parameters_schema(self.parameters),
            "oneOf": [{"required": [source]} for source in SOURCES],
            "dependentRequired": {"fallback": ["ollama"]},
        }

    def words(self) -> str:
        """Describe it in words."""
        return f"a mapping with one of {any_of(SOURCES)}"
