"""`budget`: sizes that artifacts may have at the most."""

import pytest
from command_line import call


def test_a_budget_that_holds(built):
    built.write_manifest(budget={"vocab.bin": "1MiB", "q25_tokenizer.img": 1 << 20})
    before = built.stamps()
    assert set(built.states().values()) == {"fresh"}
    assert set(built.states("--force").values()) == {"made"}
    assert built.stamps() == before


def test_a_budget_that_does_not_hold_stops_the_run_and_nothing_is_replaced(project):
    project.write_manifest(budget={"q25_tokenizer.img": "1KiB"})
    outcome = project.run()
    line = outcome.refused(1)
    assert line.startswith(
        f"pipeline: {project.manifest}:18:3: budget: q25_tokenizer.img: expected at most 1,024 bytes, found "
    )
    assert "too many; most go to sections.token_index " in line
    assert not (project.out / "q25_tokenizer.img").exists()
    assert "runtime_image  failed" in outcome.out


def test_a_budget_on_what_is_fresh_already(built):
    size = (built.out / "vocab.bin").stat().st_size
    built.write_manifest(budget={"vocab.bin": size - 1})
    before = built.stamps()
    line = built.run().refused(1)
    assert (
        f"expected at most {size - 1:,} bytes, found {size:,}, 1 too many; most go to entries[].token_id"
        in line
    )
    assert built.stamps() == before
    outcome = built.status()
    assert (outcome.code, outcome.err) == (1, "")
    assert any("budget: vocab.bin" in line for line in outcome.lines)


def test_a_budget_of_a_tensor(built):
    built.write_manifest(budget={"tensors/token_embd.weight.bin": 5})
    assert "most go to blocks 2,176" in built.run().refused(1)


@pytest.mark.parametrize("command", ["run", "status", "dag", "clean"])
def test_a_budget_of_what_no_step_writes(built, command):
    built.write_manifest(budget={"q26.img": 5})
    line = call(command, built.manifest).refused(2)
    assert line == f"{built.manifest}:18:3: budget: no step of this manifest writes 'q26.img'"


@pytest.mark.parametrize("value", ["6MB", 0, -1, "x", 1.5])
def test_budgets_that_are_no_sizes(project, value):
    project.write_manifest(budget={"vocab.bin": value})
    assert "budget.vocab.bin: expected a size in bytes from 1 to " in project.run().refused(2)


def test_a_budget_from_the_command_line(built):
    assert "too many" in built.run("--set", "budget.vocab.bin=5").refused(1)
    built.run("--set", "budget.vocab.bin=5MiB").done()
