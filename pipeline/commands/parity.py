"""Compare the tokenizers of a build with the reference, and show where they differ and why.

The reference is HuggingFace `tokenizers`, set up from the model's own vocabulary: it needs the extra
`parity`. Compared are the exact encoder on the image, BPE by rank without a pre-tokenizer, the RK3588
engine's variants on `vocab.bin`, and the engine of `tokenizer.bin`, as far as the manifest's output
folder holds their files. Corpus, samples and `fail_under` are those of the manifest's step `parity`
where it has one, and where the call names no others.

A token differs where it lies in a stretch of text that has other ids; a text comes back where the ids stand
for its bytes, or for those of its NFC form.

Exit code 1 where the exact encoder equals the reference in fewer samples than `fail_under` says.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pipeline.commands.command import Command
from pipeline.commands.console import say
from pipeline.commands.manifest_arguments import add_manifest_arguments, load
from pipeline.text_output import json_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from formats.q25tokrt.image import Image
    from pipeline.manifest.load import Manifest
    from pipeline.parity.corpus import Corpus
    from pipeline.parity.judging import Verdict
    from pipeline.sources.source import Source

SHOWN = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_manifest_arguments(parser)
    parser.add_argument(
        "--corpus", metavar="PATH", help="a text file, or a folder of them, seen from the current folder"
    )
    parser.add_argument(
        "--samples", choices=("lines", "blocks"), help="compare lines, or blocks of lines up to blank ones"
    )
    parser.add_argument(
        "--differences",
        metavar="N",
        type=int,
        help=f"differences of each tokenizer and class to show (default: {SHOWN}; with --json as the step has it)",
    )
    parser.add_argument("--no-fallback", action="store_true", help="refuse the manifest's fallback")
    parser.add_argument("--json", action="store_true", help="print what parity.json holds, on one line")


def run(arguments: argparse.Namespace) -> int:
    """Compare, and print the outcome."""
    from pipeline.errors import UsageError
    from pipeline.parity.table import difference_lines, summary_lines
    from pipeline.steps.parity import LISTED

    manifest, _ = load(arguments)
    if arguments.differences is not None and arguments.differences < 0:
        raise UsageError(f"--differences: expected a number from 0 on, found {arguments.differences}")
    stated = _stated(manifest)
    corpus = _corpus(arguments, manifest, stated)
    most = arguments.differences
    if most is None:
        most = stated.get("differences", LISTED) if arguments.json else SHOWN
    verdict = _compare(arguments, manifest, corpus, most)
    if arguments.json:
        say(json_line(verdict.document))
    else:
        for line in summary_lines(verdict.document):
            say(line)
        for number, line in enumerate(difference_lines(verdict.document, most)):
            say(("" if number else "\n") + line)
    failure = verdict.failure(stated.get("fail_under", 100))
    if failure is not None:
        print(f"pipeline: {failure}", file=sys.stderr)
    return int(failure is not None)


def _stated(manifest: Manifest) -> Mapping[str, Any]:
    """Give the parameters of the manifest's step `parity`; none where it has no such step."""
    from pipeline.steps.parity import Parity

    return next((request.parameters for request in manifest.steps if request.name == Parity.name), {})


def _corpus(arguments: argparse.Namespace, manifest: Manifest, stated: Mapping[str, Any]) -> Corpus:
    from pathlib import Path

    from pipeline.parity.corpus import open_corpus

    path = None
    if arguments.corpus is not None:
        path = Path(arguments.corpus)
    elif stated.get("corpus") is not None:
        path = manifest.beside(stated["corpus"])
    return open_corpus(path, arguments.samples or stated.get("samples", "lines"))


def _compare(arguments: argparse.Namespace, manifest: Manifest, corpus: Corpus, most: int) -> Verdict:
    from formats.errors import FormatError
    from pipeline.commands.image_arguments import load_image
    from pipeline.commands.reporting import Progress
    from pipeline.errors import ModelError
    from pipeline.model import Model
    from pipeline.parity.assembly import Assembly
    from pipeline.parity.judging import compare
    from pipeline.sources.source import find_source
    from pipeline.steps.parity import TOKENIZER_BIN, VOCAB_BIN

    progress = Progress(sys.stderr)
    tell = _teller(as_json=arguments.json)
    source = find_source(
        manifest.model,
        manifest.beside,
        fallback=not arguments.no_fallback,
        progress=lambda done, total: progress.show("checking the model", done, total),
    )
    for note in (*manifest.notes, *source.notes):
        tell(f"note: {note}")
    tell(f"model: {source.words} (sha256:{source.sha256[:12]})")
    image = load_image(manifest.out)
    for line in _foreign(image, source):
        tell(line)
    model = Model(source)
    try:
        assembly = Assembly(model.vocabulary, model.pre)
        parties = assembly.of_image(image)
        for name, make in ((VOCAB_BIN, assembly.of_vocab_bin), (TOKENIZER_BIN, assembly.of_tokenizer_bin)):
            data = _read(manifest.out / name)
            if data is None:
                tell(f"note: there is no {name} in the output folder; its engine is left out")
            else:
                parties += make(data, str(manifest.out / name))
        size = corpus.size
        return compare(
            assembly,
            parties,
            source.sha256,
            corpus,
            listed=most,
            progress=lambda done: progress.show("comparing", done, size),
        )
    except FormatError as error:
        raise ModelError(str(error)) from error
    finally:
        progress.clear()
        model.close()


def _teller(*, as_json: bool) -> Callable[[str], None]:
    """Give what prints a line for people: beside the result where that is JSON."""
    return (lambda line: print(line, file=sys.stderr)) if as_json else say


def _foreign(image: Image, source: Source) -> list[str]:
    """Say so where the image was built from another model than the manifest's."""
    if image.source_sha256 == source.sha256:
        return []
    return [
        (
            f"warning: the image was built from the model sha256:{image.source_sha256[:12]}, not from this one; "
            "run the manifest again"
        )
    ]


def _read(path: Path) -> bytes | None:
    """Read an artifact; None where there is none."""
    from pipeline.sources.files import require_file, stat_or_none

    status = stat_or_none(path)
    if status is None:
        return None
    require_file(path, status)
    return path.read_bytes()


COMMAND = Command("parity", "compare a build's tokenizers with the reference", __doc__, add_arguments, run)
