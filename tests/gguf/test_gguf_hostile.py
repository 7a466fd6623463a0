"""Every hostile file: read exactly, or refused in one line that names the place."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hostile import Accept
from hostile_given import GIVEN
from hostile_metadata import METADATA
from hostile_tensors import TENSORS

from formats.errors import FormatError
from formats.gguf import GgufFile

CASES = {**GIVEN, **METADATA, **TENSORS}

BADLY_MADE = "; the file is damaged or badly made: fetch it or convert the model again"

CHILD = """
import json, sys, time
from pathlib import Path
from formats.errors import FormatError
from formats.gguf import GgufFile
for path in sorted(Path(sys.argv[1]).iterdir()):
    started = time.perf_counter()
    try:
        with GgufFile.open(path) as model:
            for value in model.key_values.values():
                value.value
            outcome = "read"
    except FormatError as error:
        outcome = str(error)
    # Not getrusage: its maximum counts the process that this one was forked from.
    (peak,) = [int(row.split()[1]) for row in open("/proc/self/status") if row.startswith("VmHWM:")]
    print(json.dumps([path.name, outcome, peak, time.perf_counter() - started]), flush=True)
"""


def line(file, outcome):
    """Give the whole message; one without advice of its own ends in the general advice."""
    return f"{file}: {outcome}" + ("" if "; " in outcome else BADLY_MADE)


def test_no_name_is_used_twice():
    assert len(CASES) == len(GIVEN) + len(METADATA) + len(TENSORS)


@pytest.mark.parametrize("name", CASES)
def test_each_file_is_read_or_refused_as_stated(name):
    data, outcome = CASES[name]
    if isinstance(outcome, Accept):
        with GgufFile(data, "x.gguf") as model:
            found = tuple((t.name, t.type_label, t.shape, t.offset, t.size) for t in model.tensors)
            assert found == outcome.tensors
            assert model.warnings == outcome.warnings
            assert model.key_values["general.architecture"].value == b"qwen2"
        return
    with pytest.raises(FormatError) as caught:
        GgufFile(data, "x.gguf")
    assert str(caught.value) == line("x.gguf", outcome)


def test_the_collection_is_rebuilt_byte_for_byte(shared):
    folder = shared / "cases" / "hostile_gguf"
    files = {path.stem: path.read_bytes() for path in folder.glob("*.gguf")}
    assert files == {name: data for name, (data, _) in GIVEN.items()}
    stated = json.loads((shared / "cases" / "hostile_gguf.json").read_text("utf-8"))["files"]
    refused = {name for name, words in stated.items() if words.startswith("refuse")}
    assert refused == {name for name, (_, outcome) in GIVEN.items() if isinstance(outcome, str)}


def test_no_file_takes_long_or_much_memory(tmp_path):
    pytest.importorskip("resource")
    for name, (data, _) in CASES.items():
        (tmp_path / f"{name}.gguf").write_bytes(data)
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    lines = [json.loads(line) for line in child.stdout.splitlines()]
    assert [name for name, *_ in lines] == sorted(f"{name}.gguf" for name in CASES)
    for name, outcome, peak_kib, seconds in lines:
        expected = CASES[name.removesuffix(".gguf")][1]
        words = "read" if isinstance(expected, Accept) else line(tmp_path / name, expected)
        assert outcome == words
        assert "\n" not in outcome
        # The interpreter with numpy and construct is about half of it.
        assert peak_kib < 100 * 1024, f"{name}: {peak_kib} KiB"
        assert seconds < 10, f"{name}: {seconds} s"
