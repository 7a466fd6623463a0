"""`expect`: digests that artifacts must have."""

import pytest
from command_line import call
from tiny_model import MERGES, tokens, write_tiny

WRONG = "sha256:" + "0" * 64


def pin(project, name):
    return "sha256:" + project.contents()[name]


def test_pins_that_hold(built):
    pins = {name: pin(built, name) for name in ("vocab.bin", "model.json", "tensors/blk.0.f32.weight.bin")}
    built.write_manifest(expect=pins)
    before = built.stamps()
    assert set(built.states().values()) == {"fresh"}
    assert set(built.states("--force").values()) == {"made"}
    assert built.stamps() == before


def test_a_pin_may_leave_the_algorithm_out(built):
    built.write_manifest(expect={"vocab.bin": built.contents()["vocab.bin"]})
    built.run().done()


def test_a_pin_that_does_not_hold_stops_the_run_and_nothing_is_replaced(built):
    good = built.contents()
    built.write_manifest(expect={"token_bytes.bin": pin(built, "token_bytes.bin")})
    merges = ("d c", *MERGES[1:])
    write_tiny(built.gguf, rows=tokens(merges), merges=merges)
    outcome = built.run()
    line = outcome.refused(1)
    assert line.startswith(f"pipeline: {built.manifest}:18:3: expect: token_bytes.bin: expected sha256:")
    assert line.endswith(" as step ps_bundle makes it")
    now = built.contents()
    for name in ("token_bytes.bin", "token_index.bin", "merge_table_u32.bin", "q25_tokenizer.img"):
        assert now[name] == good[name]
    assert "ps_bundle      failed" in outcome.out


def test_a_pin_on_what_is_fresh_already(built):
    built.write_manifest(expect={"vocab.bin": WRONG})
    before = built.stamps()
    line = built.run().refused(1)
    found = built.contents()["vocab.bin"]
    assert line == (
        f"pipeline: {built.manifest}:18:3: expect: vocab.bin: expected {WRONG}, found sha256:{found} as step "
        "vocab_bin makes it"
    )
    assert built.stamps() == before


def test_keep_going_and_a_pin_on_what_is_fresh_already(built):
    built.write_manifest(expect={"token_index.bin": WRONG})
    outcome = built.run("--keep-going")
    outcome.refused(1)
    assert "ps_bundle      failed" in outcome.out
    assert "runtime_image  skipped   it reads from ps_bundle, which failed" in outcome.lines
    assert outcome.lines[-1].startswith("6 fresh, 1 failed, 1 skipped; 22 artifacts")


def test_status_tells_of_every_pin_that_does_not_hold(built):
    built.write_manifest(expect={"model.json": WRONG, "vocab.bin": WRONG})
    outcome = built.status()
    assert (outcome.code, outcome.err) == (1, "")
    failed = [line for line in outcome.lines if " failed " in line]
    assert [line.split()[0] for line in failed] == ["inspect", "vocab_bin"]
    assert all("expect: " in line for line in failed)


@pytest.mark.parametrize("command", ["run", "status", "dag", "clean"])
def test_a_pin_of_what_no_step_writes(built, command):
    built.write_manifest(expect={"q26.img": WRONG})
    line = call(command, built.manifest).refused(2)
    assert line == f"{built.manifest}:18:3: expect: no step of this manifest writes 'q26.img'"


def test_a_pin_of_a_tensor_that_the_model_does_not_have_holds_nothing_up(built):
    """Whether there is such a file the model decides; a pin is about what it holds."""
    built.write_manifest(expect={"tensors/no_such.bin": WRONG})
    built.run().done()
