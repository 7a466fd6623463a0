"""`--explain`: of each step why it would run, or what was compared; nothing is written."""

from tiny_model import STEPS, write_tiny

from pipeline.runner.fingerprint import tool_version


def explained(project, command="run"):
    """Give the lines below each step."""
    outcome = getattr(project, command)("--explain")
    found, step = {}, None
    for line in outcome.lines:
        if line.split()[:1] and line.split()[0] in STEPS and not line.startswith(" "):
            step = found.setdefault(line.split()[0], [])
        elif line.startswith(" ") and step is not None:
            step.append(line.strip())
    return found


def test_a_fresh_step_says_what_was_compared(built):
    before = built.stamps()
    found = explained(built)
    assert list(found) == [step["step"] for step in built.record()["steps"]]
    for step in built.record()["steps"]:
        lines = found[step["step"]]
        assert lines[0] == f"the tool is {tool_version()}, the step's version {step['version']}, as before"
        assert lines[-1].startswith(f"{len(step['artifacts'])} artifact")
        assert len(lines) == 2 + len(step["parameters"]) + len(step["inputs"])
    image = found["runtime_image"]
    assert "align is 64, as before" in image
    digest = built.recorded()["token_index.bin"]["sha256"]
    assert f"token_index.bin: as before ({digest[:12]})" in image
    assert built.stamps() == before
    assert explained(built, "status") == found


def test_a_stale_step_says_every_reason_even_many(built):
    names = [name for name in built.recorded() if name.startswith("tensors/")]
    for name in names[:5]:
        (built.out / name).write_bytes(b"edited")
    before = built.contents()
    found = explained(built)
    assert found["tensors"] == [f"{name} was edited" for name in sorted(names[:5])]
    assert found["vocab_bin"][-1] == "1 artifact is there as written"
    assert built.contents() == before


def test_a_step_behind_another_says_what_it_waits_for_and_its_own_reasons(built):
    (built.out / "token_index.bin").write_bytes(b"edited")
    (built.out / "q25_tokenizer.img").write_bytes(b"edited")
    before = built.contents()
    found = explained(built)
    assert found["ps_bundle"] == ["token_index.bin was edited"]
    tables = ("token_index.bin", "token_bytes.bin", "merge_table_u32.bin")
    assert found["runtime_image"] == [
        "q25_tokenizer.img was edited",
        *(f"{name} is from ps_bundle" for name in tables),
    ]
    assert built.contents() == before


def test_a_changed_model_is_named_with_both_digests(built):
    old = built.record()["source"]["gguf"]["sha256"]
    write_tiny(built.gguf, merges=("a b",))
    line = explained(built)["inspect"][0]
    assert line.startswith(f"the model changed ({old[:12]} -> ")


def test_before_the_first_run(project):
    assert explained(project)["inspect"] == ["not made yet"]
    assert not project.out.exists()
