"""What holds for every module: who may import whom, how big it may be, and what it says of itself."""

import ast
import json
import subprocess
from collections import Counter

import pytest
import yaml
from command_line import ROOT, command, imported_by
from jsonschema import Draft202012Validator

from pipeline.commands import COMMANDS
from pipeline.manifest.load import load_manifest
from pipeline.manifest.parameters import as_json
from pipeline.manifest.schema import COMMITTED, manifest_schema, schema_text
from pipeline.steps import DECLARATIONS
from pipeline.steps.step import MODEL_INPUTS

MODULES = sorted(path for package in ("pipeline", "formats") for path in (ROOT / package).rglob("*.py"))
MANIFESTS = sorted((ROOT / "manifests").glob("*.yaml"))
LONGEST = 350
NEED_AN_EXTRA = ("chat_frames", "parity")
GENERATED = ("pipeline.bpe.class_data", "pipeline.bpe.nfc_data")
"""Data, which nobody reads line by line."""


def test_modules_of_tests_have_names_of_their_own():
    """All folders of tests are on one path: a second module of a name would hide the first."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path, *, at_runtime=False):
    """List the modules that a module names in its imports, at any depth of its code."""
    found = set()
    nodes = [ast.parse(path.read_bytes())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            # `from package import module` reaches the module.
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif at_runtime and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += node.orelse
            continue
        nodes += ast.iter_child_nodes(node)
    return found


def inside(name, package):
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize(
    ("package", "never"),
    [
        ("formats", ["pipeline"]),
        ("pipeline.steps", ["pipeline.runner", "pipeline.commands", "pipeline.__main__"]),
        ("pipeline.runner", ["pipeline.commands", "pipeline.__main__"]),
        ("pipeline.sources", ["pipeline.steps", "pipeline.runner", "pipeline.commands"]),
        ("pipeline.manifest", ["pipeline.runner", "pipeline.commands", "pipeline.sources", "pipeline.model"]),
        ("pipeline.artifact_files", ["pipeline.steps", "pipeline.runner", "pipeline.commands"]),
        ("pipeline.sizes", ["pipeline.steps", "pipeline.runner", "pipeline.commands"]),
        ("pipeline.diff", ["pipeline.steps", "pipeline.runner", "pipeline.commands"]),
        ("pipeline.dump", ["pipeline.steps", "pipeline.runner", "pipeline.commands"]),
        ("pipeline.report", ["pipeline.commands", "pipeline.__main__"]),
        ("pipeline.schema", ["pipeline.steps", "pipeline.runner", "pipeline.commands", "pipeline.sources"]),
        ("pipeline.vocabulary", ["pipeline.steps", "pipeline.runner", "pipeline.commands"]),
        ("pipeline.engines", ["pipeline.steps", "pipeline.runner", "pipeline.commands", "pipeline.sources"]),
        (
            "pipeline.bpe",
            [
                *("pipeline.steps", "pipeline.runner", "pipeline.commands", "pipeline.sources"),
                "pipeline.native",
            ],
        ),
        ("pipeline.native", ["pipeline.steps", "pipeline.runner", "pipeline.commands", "pipeline.sources"]),
        ("pipeline.parity", ["pipeline.steps", "pipeline.runner", "pipeline.commands"]),
    ],
)
def test_imports_go_one_way(package, never):
    looked_at = [path for path in MODULES if inside(name_of(path), package)]
    assert looked_at
    wrong = [
        f"{name_of(path)} imports {name}"
        for path in looked_at
        for name in sorted(imports(path))
        if any(inside(name, other) for other in never)
    ]
    assert wrong == []


def test_the_walk_sees_imports_of_every_form(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(
        "import a.b as c\nfrom d import e\ndef f():\n    from g.h import i\nif TYPE_CHECKING:\n    import j\n"
    )
    assert imports(path) == {"a.b", "d", "d.e", "g.h", "g.h.i", "j"}
    assert imports(path, at_runtime=True) == {"a.b", "d", "d.e", "g.h", "g.h.i"}


@pytest.mark.parametrize(
    ("library", "users"),
    [
        ("tokenizers", ["pipeline.bpe.ask_classes", "pipeline.bpe.ask_nfc", "pipeline.parity.reference"]),
        ("jinja2", ["pipeline.chat.render_child"]),
    ],
)
def test_an_optional_library_is_imported_by_its_users_only(library, users):
    found = [name_of(path) for path in MODULES if any(inside(name, library) for name in imports(path))]
    assert found == users


def test_what_runs_a_foreign_template_imports_nothing_of_this_project():
    (path,) = [path for path in MODULES if name_of(path) == "pipeline.chat.render_child"]
    assert [name for name in imports(path) if inside(name, "pipeline") or inside(name, "formats")] == []


def test_the_runner_imports_no_numpy_at_all():
    looked_at = [path for path in MODULES if inside(name_of(path), "pipeline.runner")]
    assert looked_at
    for path in looked_at:
        assert not [name for name in imports(path, at_runtime=True) if inside(name, "numpy")], path


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_is_for_and_is_small(path):
    text = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text))
    assert docstring, "no docstring"
    if name_of(path) in GENERATED:
        assert "Generated by" in docstring
    else:
        assert len(text.splitlines()) <= LONGEST


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["schema", "--help"], ["dump", "--help"]]
)
def test_help_imports_nothing_heavy(arguments):
    assert imported_by(*arguments) == (0, [])


@pytest.mark.parametrize("arguments", [["run"], ["status"], ["run", "--dry-run"], ["dag"], ["clean"]])
def test_a_command_with_nothing_to_do_imports_nothing_heavy(built, arguments):
    assert imported_by(*arguments, built.manifest) == (0, [])


def test_a_run_with_something_to_do_does_import_numpy(project):
    code, heavy = imported_by("run", project.manifest, "--only", "ps_bundle")
    assert code == 0
    assert "numpy" in heavy


def test_python_m_pipeline_is_the_command():
    ended = subprocess.run(command("--version"), capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("pipeline ")


@pytest.mark.parametrize("known", COMMANDS, ids=lambda known: known.name)
def test_a_command_explains_itself_and_every_argument(known):
    from argparse import ArgumentParser

    assert known.summary
    assert not known.summary.endswith(".")
    assert len(known.description.strip()) > len(known.summary)
    parser = ArgumentParser()
    known.add_arguments(parser)
    assert [action.dest for action in parser._actions if not action.help] == []


@pytest.mark.parametrize("step", DECLARATIONS.values(), ids=DECLARATIONS.keys())
def test_a_step_declares_and_explains_what_it_does(step):
    assert type(step).__doc__
    assert step.summary
    assert not step.summary.endswith(".")
    assert isinstance(step.version, int)
    assert step.writes
    for artifact in step.writes:
        assert artifact.summary
        assert artifact.layout
        assert artifact.version
    for parameter in step.parameters:
        assert len(parameter.doc) > 10, parameter.name


def test_what_a_step_reads_is_there_and_no_artifact_has_two_makers():
    written = [artifact.name for step in DECLARATIONS.values() for artifact in step.writes]
    assert len(set(written)) == len(written)
    for step in DECLARATIONS.values():
        assert set(step.reads) <= {*written, *MODEL_INPUTS}
        assert not set(step.reads) & {artifact.name for artifact in step.writes}


def parameters():
    return [
        pytest.param(step, parameter, id=f"{step.name}.{parameter.name}")
        for step in DECLARATIONS.values()
        for parameter in step.parameters
    ]


@pytest.mark.parametrize(("step", "parameter"), parameters())
def test_a_default_is_a_value_that_its_kind_accepts(step, parameter):
    from pipeline.manifest import parse_manifest

    # None stands for a key that is not given.
    given = {} if parameter.default is None else {parameter.name: as_json(parameter.default)}
    document = {
        "version": 1,
        "model": {"sample": "qwen3"},
        "out": "out",
        "steps": [{step.name: given}],
    }
    manifest = parse_manifest(json.dumps(document).encode(), "m.yaml", DECLARATIONS)
    assert manifest.steps[0].parameters[parameter.name] == parameter.default
    Draft202012Validator(manifest_schema(DECLARATIONS)).validate(document)


def test_the_committed_schema_is_that_of_the_steps():
    assert COMMITTED.read_text(encoding="utf-8") == schema_text(DECLARATIONS)
    Draft202012Validator.check_schema(json.loads(COMMITTED.read_bytes()))


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_a_manifest_of_ours_loads_and_fits_the_schema(path):
    validator = Draft202012Validator(json.loads(COMMITTED.read_bytes()))
    validator.validate(yaml.safe_load(path.read_bytes()))
    manifest = load_manifest(path, DECLARATIONS)
    assert [request.name for request in manifest.steps] == [
        name for name in DECLARATIONS if name not in NEED_AN_EXTRA
    ]
    assert manifest.out.resolve() == ROOT / "build" / path.stem


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_a_manifest_of_ours_has_the_steps_that_need_an_extra_ready(path, tmp_path):
    """`make run` installs no `tokenizers` and no `jinja2`; a line without its comment sign adds a step."""
    text = path.read_text(encoding="utf-8")
    for name in NEED_AN_EXTRA:
        assert text.count(f"  # - {name}") == 1
        text = text.replace(f"  # - {name}", f"  - {name}")
    copy = tmp_path / path.name
    copy.write_text(text, encoding="utf-8")
    Draft202012Validator(json.loads(COMMITTED.read_bytes())).validate(yaml.safe_load(copy.read_bytes()))
    assert {request.name for request in load_manifest(copy, DECLARATIONS).steps} == set(DECLARATIONS)


def test_both_families_have_a_manifest():
    assert [path.name for path in MANIFESTS] == ["qwen25.yaml", "qwen3.yaml"]
