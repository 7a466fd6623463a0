"""A run: every step of a manifest that has to run, in order, each committed before the next."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.errors import FormatError
from pipeline.errors import ModelError, PipelineError, UsageError
from pipeline.runner.budgets import check_budgets
from pipeline.runner.fingerprint import tool_version
from pipeline.runner.freshness import can_write, grounds, plain_parameters, reasons_to_run
from pipeline.runner.inputs import Inputs
from pipeline.runner.job import StepJob
from pipeline.runner.lock import locked
from pipeline.runner.outputs import OutputFolder, refusal
from pipeline.runner.pins import check_pins
from pipeline.runner.record import ArtifactRecord, BuildRecord, StepRecord, source_document
from pipeline.runner.record_file import load_record, orphans, write_record
from pipeline.runner.reporter import State, StepReport
from pipeline.runner.selection import select
from pipeline.sources.source import find_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.manifest.load import Manifest
    from pipeline.model import Model
    from pipeline.runner.graph import Graph, Node
    from pipeline.runner.outputs import Committed
    from pipeline.runner.reporter import Reporter
    from pipeline.runner.selection import Selection
    from pipeline.sources.source import Source


@dataclass(frozen=True)
class RunOptions:
    """How to run.

    Attributes:
        only: run these steps alone; empty for all.
        start: run this step and what depends on it; None for all.
        force: run steps that are fresh too, and replace files that are not ours.
        dry_run: say what would run, and touch nothing.
        keep_going: after a failure go on with what does not depend on it.
        fallback: whether the manifest's fallback may serve.
        wait: wait for another run in the same folder.
        explain: say of each step all that makes it run, or all that was compared where it need not.

    """

    only: Sequence[str] = ()
    start: str | None = None
    force: bool = False
    dry_run: bool = False
    keep_going: bool = False
    fallback: bool = True
    wait: bool = False
    explain: bool = False


@dataclass(frozen=True)
class RunResult:
    """What a run came to.

    Attributes:
        reports: one for each step that was looked at, in order.
        record: the build record as it stands.
        orphans: files of earlier runs that no step of the manifest makes any more.
        failure: the first error of a run that kept going, or None.
        source: the model.

    """

    reports: tuple[StepReport, ...]
    record: BuildRecord
    orphans: tuple[str, ...]
    failure: PipelineError | None
    source: Source


def run_manifest(manifest: Manifest, graph: Graph, options: RunOptions, reporter: Reporter) -> RunResult:
    """Bring the artifacts of a manifest up to date.

    Raises:
        PipelineError: the first failure, unless the run keeps going.

    """
    selection = select(graph, options.only, options.start)
    for note in manifest.notes:
        reporter.note(note)
    with ExitStack() as stack:
        try:
            if not options.dry_run:
                lock = OutputFolder.prepare(manifest.out)
                stack.enter_context(locked(lock, wait=options.wait, on_wait=reporter.note))
            folder = stack.enter_context(OutputFolder(manifest.out, writable=not options.dry_run))
            source = find_source(
                manifest.model,
                manifest.beside,
                fallback=options.fallback,
                progress=lambda done, total: reporter.progress("checking the model", done, total),
            )
            reporter.source(source)
            run = _Run(manifest, options, reporter, folder, source)
            stack.callback(run.close_model)
            return run.run(graph, selection)
        except OSError as error:
            raise refusal(error, manifest.out) from error


class _Run:
    """The state of one run.

    Attributes:
        steps: the record of every step, the earlier one until the step was made anew.
        unsettled: steps whose artifacts are not what this run needs, with the reason.

    """

    def __init__(
        self,
        manifest: Manifest,
        options: RunOptions,
        reporter: Reporter,
        folder: OutputFolder,
        source: Source,
    ) -> None:
        self._manifest = manifest
        self._options = options
        self._reporter = reporter
        self._folder = folder
        self._source = source
        self._model: Model | None = None
        self._reports: list[StepReport] = []
        self._failure: PipelineError | None = None
        self._order: tuple[str, ...] = ()
        self._inputs = Inputs(manifest, source)
        self.steps: dict[str, StepRecord] = {}
        self.unsettled: dict[str, str] = {}

    def run(self, graph: Graph, selection: Selection) -> RunResult:
        earlier = load_record(self._folder).steps
        self.steps = {name: earlier[name] for name in graph.nodes if name in earlier}
        self._order = tuple(graph.nodes)
        self._adopt(graph)
        for node in graph.nodes.values():
            if node.name in selection.wanted:
                self._visit(node)
            elif node.name in selection.needed:
                self._require_fresh(node, graph, selection)
        record = self._record()
        if not self._options.dry_run:
            write_record(self._folder, record, replace_strangers=self._options.force)
        return RunResult(
            tuple(self._reports), record, orphans(self._folder, record), self._failure, self._source
        )

    def _adopt(self, graph: Graph) -> None:
        """Take what the record lists for ours where the list of known files was lost."""
        for name, step in self.steps.items():
            for artifact in step.artifacts:
                if can_write(graph.nodes[name], artifact.name):
                    self._folder.known.adopt(artifact.name, artifact.sha256)

    def _visit(self, node: Node) -> None:
        """Run a step where it has to run."""
        blocked = [provider for provider in node.providers.values() if provider in self.unsettled]
        if blocked:
            self.unsettled[node.name] = self.unsettled[blocked[0]]
            state = State.WOULD_RUN if self._options.dry_run else State.SKIPPED
            notes = self._behind_others(node) if self._options.explain else []
            self._report(StepReport(node.name, state, [self.unsettled[node.name]], notes=notes))
            return
        try:
            report = self._settle(node)
        except (PipelineError, FormatError, OSError) as error:
            self._folder.drop_staged()
            failure = self._as_failure(node, error)
            self._report(StepReport(node.name, State.FAILED, [str(failure)]))
            if not self._options.keep_going:
                raise failure from error
            self._failure = self._failure or failure
            self.unsettled[node.name] = f"it reads from {node.name}, which failed"
        else:
            self._report(report)

    def _settle(self, node: Node) -> StepReport:
        """Find a step fresh, or run it."""
        inputs = self._inputs.digests(node, self.steps)
        reasons = reasons_to_run(node, inputs, self.steps.get(node.name), self._folder)
        if self._options.force and not reasons:
            reasons = ["forced"]
        if not reasons:
            check_pins(self._manifest, node.name, self.steps[node.name].artifacts)
            check_budgets(self._manifest, self.steps[node.name].artifacts)
            notes = grounds(node, inputs, self.steps[node.name]) if self._options.explain else []
            return StepReport(node.name, State.FRESH, notes=notes)
        if self._options.dry_run:
            self.unsettled[node.name] = f"after {node.name}, which would run"
            notes = reasons if self._options.explain else []
            return StepReport(node.name, State.WOULD_RUN, reasons, notes=notes)
        return self._make(node, inputs, reasons)

    def _behind_others(self, node: Node) -> list[str]:
        """Say of a step behind others that would run what it waits for, and what makes it run of itself."""
        known = self.steps.get(node.name)
        inputs = {} if known is None else known.inputs  # what they will be is not known yet
        return [
            *reasons_to_run(node, inputs, known, self._folder),
            *(f"{name} is from {maker}" for name, maker in node.providers.items() if maker in self.unsettled),
        ]

    def _require_fresh(self, node: Node, graph: Graph, selection: Selection) -> None:
        """Refuse to build on a step that is not part of this run and out of date.

        Raises:
            UsageError: naming it, and every other such step.

        """
        if not self._reasons(node):
            return
        others = [graph.nodes[name] for name in graph.nodes if name in selection.needed - selection.wanted]
        stale = {other.name: self._reasons(other) for other in others}
        listed = ", ".join(f"{name} ({reasons[0]})" for name, reasons in stale.items() if reasons)
        again = [name for name in graph.nodes if name in selection.wanted or stale.get(name)]
        raise UsageError(
            f"this run reads from steps that are out of date: {listed}; run them too: "
            + " ".join(f"--only {name}" for name in again)
        )

    def _reasons(self, node: Node) -> list[str]:
        """Say why a step would have to run; what it reads may not be there either."""
        if any(provider not in self.steps for provider in node.providers.values()):
            return ["what it reads is not made yet"]
        return reasons_to_run(
            node, self._inputs.digests(node, self.steps), self.steps.get(node.name), self._folder
        )

    def _make(self, node: Node, inputs: Mapping[str, str], reasons: Sequence[str]) -> StepReport:
        """Run a step, and commit its artifacts once all of them are whole."""
        self._reporter.started(node.name, reasons)

        def progress(done: int, total: int) -> None:
            self._reporter.progress(node.name, done, total)

        job = StepJob(node, self._folder, self._inputs.paths(node), self._open_model, progress)
        node.step.run(job)
        self._source.check_unchanged()
        self._inputs.check_files_unchanged(node, inputs)
        check_pins(self._manifest, node.name, job.staged)
        check_budgets(self._manifest, job.staged)
        files = self._folder.commit(job.staged, replace_strangers=self._options.force)
        artifacts = tuple(_describe(node, file) for file in sorted(files, key=lambda file: file.name))
        self.steps[node.name] = StepRecord(
            node.name, node.step.version, tool_version(), plain_parameters(node), inputs, artifacts
        )
        # A run that is killed after this finds the step done.
        write_record(self._folder, self._record(), replace_strangers=self._options.force, is_last=False)
        return StepReport(node.name, State.MADE, reasons, files, job.notes, job.warnings)

    def _as_failure(self, node: Node, error: PipelineError | FormatError | OSError) -> PipelineError:
        if isinstance(error, FormatError):
            return ModelError(f"step {node.name}: {error}")
        return refusal(error, self._manifest.out) if isinstance(error, OSError) else error

    def _report(self, report: StepReport) -> None:
        self._reports.append(report)
        self._reporter.step(report)

    def _open_model(self) -> Model:
        if self._model is None:
            from pipeline.model import Model

            self._model = Model(self._source)
        return self._model

    def close_model(self) -> None:
        """Give the model's file back."""
        if self._model is not None:
            self._model.close()

    def _record(self) -> BuildRecord:
        steps = {name: self.steps[name] for name in self._order if name in self.steps}
        return BuildRecord(source_document(self._source), steps)


def _describe(node: Node, file: Committed) -> ArtifactRecord:
    declared = node.step.artifact(file.name)
    return ArtifactRecord(
        file.name, file.size, file.sha256, declared.layout, declared.version, declared.summary
    )
