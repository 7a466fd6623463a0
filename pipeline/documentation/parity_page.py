"""The page on parity: what the command `parity` says of Qwen3's vocabulary and the built-in texts."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pipeline.parity.causes import MEANING, Cause
from pipeline.parity.corpus import TEXTS
from pipeline.parity.table import percent
from pipeline.schema.tables import markdown_table as table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MANIFEST = """\
version: 1
model: {sample: qwen3}
out: out
steps: [tokenizer, ps_bundle, runtime_image, vocab_bin, tokenizer_bin]
"""
KINDS = {
    "English": ("english",),
    "Chinese": ("chinese", "han"),
    "code": ("code",),
    "mixed": ("mixed",),
    "chat": ("chat",),
    "other scripts": (
        "arabic", "bengali_tamil", "cyrillic", "devanagari", "greek", "hangul", "hebrew", "kana", "latin", "thai",
    ),
    "unusual": ("unusual",),
}  # fmt: skip
"""Kinds of text, each of one or several of the built-in ones."""
EXPLAINED = ("English", "Chinese", "code", "mixed")
LINES = "fifteen"
VARIANTS = {"base": "greedy_base", "A": "greedy_A", "AB": "greedy_AB"}

_INTRODUCTION = """\
# Parity: which engine cuts which text differently, and why

`pipeline parity MANIFEST` holds the tokenizers of a build against HuggingFace `tokenizers`, set up from the
model's own vocabulary, and names the cause of every difference. The step `parity` does the same in a build,
writes `parity.json`, and stops the build where the exact encoder on the image is not exact. Both need
the extra: `pip install '.[parity]'`.

Everything below is what the command says of Qwen3's vocabulary and the texts that come with the tool
(`pipeline/parity/texts/`; they are this project's own). The texts are short: take your own with
`--corpus PATH`."""

_PARTIES = """\
A number is the share of the reference's tokens that an engine gets wrong; behind it stands in how many
samples, lines or blocks of code, it has all of them right."""

_RETURNED = """\
In how many samples the ids stand for the text, byte for byte, as it is or in NFC. Where they do not, blanks
got lost, or a byte became another; no decoder can tell. (The RK3588 engine's own decoder prints the
stored bytes, so it shows `Ġ` for a blank; that is not counted here.)"""

_TAKEN = """\
The engines are modelled after their published descriptions (`pipeline/engines/`), and the greedy one is held
against published id sequences of each of its forms. Where a description says nothing, a model takes the
simplest reading:

- greedy: a blank is forgotten once any token was put out behind it; blanks at the end of a text put nothing
  out; a run of newlines takes the longest entry of so many `Ċ` that there is.
- tokenizer.bin: letters, digits and signs are those of ASCII; contractions are taken in either case; white
  space is C's `isspace`, and a run of it is one piece; special tokens are not looked for in the text.
- BPE by rank: neither NFC nor special tokens; the whole text is one piece."""

_CLASSES = """\
A class is a claim that was tried: the engine was asked again with the reference's way at one stage in
place of its own, and then gave the reference's ids. Where it takes several at once, the difference counts
for the first. A class that none of these texts has a difference of is not in the tables."""

_LINES = """\
These fifteen lines are made up as the corpus is by which the engine's repairs A and B were judged: a
greeting, sentences, Chinese, emoji, letters apart, cities, a blank in front, digits, a mixture, a rare name."""


def parity_page_parts() -> Iterator[str]:
    """Give the page's paragraphs and tables."""
    document = _document()
    yield _INTRODUCTION
    yield "## Who is compared"
    yield table(
        ("tokenizer", "what it is", "its tables"),
        [(f"`{party['party']}`", party["title"], f"`{party['artifact']}`") for party in document["parties"]],
    )
    yield "## How often each is wrong"
    yield _PARTIES
    rows: list[tuple[str, ...]] = [
        (f"`{party['party']}`", *(_share(_sum(party, groups)) for groups in KINDS.values()))
        for party in document["parties"]
    ]
    yield table(("tokenizer", *KINDS), rows)
    yield "Tokens per byte, which is what a longer or shorter prompt costs:"
    yield table(("tokenizer", *KINDS), list(_densities(document)))
    yield _RETURNED
    yield table(
        ("tokenizer", *KINDS),
        [
            (f"`{party['party']}`", *(_returned(_sum(party, groups)) for groups in KINDS.values()))
            for party in document["parties"]
        ],
    )
    yield "## What the models take for granted"
    yield _TAKEN
    yield "## Why"
    yield _CLASSES
    yield "\n".join(f"- **{cause}**: {meaning}." for cause, meaning in MEANING.items())
    for kind in EXPLAINED:
        yield f"### {kind}"
        yield _causes_table(document, KINDS[kind])
    yield "### An example of each"
    yield table(("class", "engine", "text", "reference", "engine's"), list(_examples(document)))
    yield "## Fifteen lines"
    yield _LINES
    lines = (TEXTS / f"{LINES}.txt").read_text(encoding="utf-8").splitlines()
    rows = [
        (_code(line), *(_line_words(document, key, number) for key in VARIANTS.values()))
        for number, line in enumerate(lines, 1)
    ]
    counts = [_sum(_party(document, key), (LINES,)) for key in VARIANTS.values()]
    rows.append(
        ("lines with the reference's ids", *(f"{count['equal']} of {count['samples']}" for count in counts))
    )
    yield table(("line", *VARIANTS), rows)


@cache
def _document() -> Mapping[str, Any]:
    """Build the sample's tables, and let the command compare them."""
    from pipeline.__main__ import main

    with TemporaryDirectory() as folder:
        manifest = Path(folder, "qwen3.yaml")
        manifest.write_text(MANIFEST, encoding="utf-8")
        _quietly(main, ["run", str(manifest)])
        document = json.loads(_quietly(main, ["parity", str(manifest), "--json", "--differences", "1000"]))
        assert isinstance(document, dict)  # noqa: S101  (the command's own words)
        return document


def _quietly(main: Any, arguments: Sequence[str]) -> str:
    """Run a command, and return what it prints.

    Raises:
        SystemExit: it fails; with its words.

    """
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    if code:
        raise SystemExit(err.getvalue())
    return out.getvalue()


def _party(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return next(party for party in document["parties"] if party["party"] == key)


def _sum(party: Mapping[str, Any], groups: Sequence[str]) -> dict[str, Any]:
    """Add the counts of some groups up."""
    chosen = [group for group in party["groups"] if group["name"] in groups]
    names = ("samples", "equal", "returned", "tokens", "reference_tokens", "reference_tokens_differing")
    total: dict[str, Any] = {name: sum(group[name] for group in chosen) for name in names}
    total["classes"] = {
        str(cause): sum(group["classes"].get(str(cause), 0) for group in chosen) for cause in Cause
    }
    return total


def _share(count: Mapping[str, Any]) -> str:
    share = percent(count["reference_tokens_differing"], count["reference_tokens"])
    return f"{share} ({count['equal']} of {count['samples']})"


def _returned(count: Mapping[str, Any]) -> str:
    return f"{count['returned']} of {count['samples']}"


def _densities(document: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    sizes = {group["name"]: group["bytes"] for group in document["corpus"]["groups"]}
    sums = [sum(sizes[name] for name in groups) for groups in KINDS.values()]
    first = document["parties"][0]
    reference = [_sum(first, groups)["reference_tokens"] for groups in KINDS.values()]
    yield "reference", *(f"{tokens / size:.3f}" for tokens, size in zip(reference, sums, strict=True))
    for party in document["parties"]:
        tokens = [_sum(party, groups)["tokens"] for groups in KINDS.values()]
        cells = (f"{count / size:.3f}" for count, size in zip(tokens, sums, strict=True))
        yield f"`{party['party']}`", *cells


def _causes_table(document: Mapping[str, Any], groups: Sequence[str]) -> str:
    counts = {party["party"]: _sum(party, groups)["classes"] for party in document["parties"]}
    used = [str(cause) for cause in Cause if any(classes[str(cause)] for classes in counts.values())]
    rows = [(f"`{party}`", *(str(classes[name] or "") for name in used)) for party, classes in counts.items()]
    return table(("differences", *used), rows)


def _examples(document: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Give the shortest difference of each class, if possible one of printable text and of that cause alone."""

    def rank(entry: Mapping[str, Any]) -> tuple[int, bool, bool, int]:
        is_whole = "\\x" not in "".join(entry["reference"]["pieces"])
        return len(entry["classes"]), not entry["text"].isprintable(), not is_whole, len(entry["bytes"])

    for cause in Cause:
        found = [entry for entry in document["differences"] if entry["classes"][0] == str(cause)]
        if found:
            entry = min(found, key=rank)
            sides = (_pieces(entry[side]) for side in ("reference", "found"))
            yield str(cause), f"`{entry['party']}`", _code(entry["text"]), *sides


def _pieces(tokens: Mapping[str, Any]) -> str:
    return " ".join(_code(piece) for piece in tokens["pieces"]) or "nothing"


def _line_words(document: Mapping[str, Any], key: str, number: int) -> str:
    classes = [
        entry["classes"][0]
        for entry in document["differences"]
        if (entry["party"], entry["group"], entry["sample"]) == (key, LINES, number)
    ]
    counted = [(name, len(list(same))) for name, same in groupby(sorted(classes))]
    return ", ".join(name if count == 1 else f"{name} ({count})" for name, count in counted) or "equal"


def _code(text: str) -> str:
    r"""Show a text as code, with blanks that Markdown would drop made visible.

    >>> _code(" a\n")
    '`␣a\\n`'
    """
    visible = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    edge = len(visible) - len(visible.lstrip(" "))
    tail = len(visible) - len(visible.rstrip(" ")) if edge < len(visible) else 0
    middle = visible[edge : len(visible) - tail].replace("`", "'")
    return f"`{'␣' * edge}{middle}{'␣' * tail}`"
