"""`--set KEY=VALUE`: what it changes, what it voids, and how its mistakes are told."""

from pathlib import Path

import pytest
from manifest_samples import DIGEST, FULL, HEAD, parse

from pipeline.manifest import ManifestError, ModelChoice

TEXT = HEAD + "  - inspect\n  - runtime_image\n  - tensors: {mode: index}\n"


def refusal(*overrides, text=TEXT):
    with pytest.raises(ManifestError) as caught:
        parse(text, *overrides)
    return str(caught.value)


def parameters(manifest, name):
    return next(step.parameters for step in manifest.steps if step.name == name)


@pytest.mark.parametrize("place", ["align: 64", "align: 128", ""])
def test_a_parameter(place):
    text = HEAD + f"  - inspect\n  - runtime_image: {{{place}}}\n  - tokenizer\n"
    manifest = parse(text, "steps.runtime_image.align=4KiB")
    assert parameters(manifest, "runtime_image")["align"] == 4096
    assert [step.name for step in manifest.steps] == ["inspect", "runtime_image", "tokenizer"]
    assert str(manifest.place("steps", "runtime_image")) == "manifests/m.yaml:6:5"
    assert str(manifest.place("steps", "runtime_image", "align")) == "--set steps.runtime_image.align=4KiB"


def test_a_parameter_of_a_step_that_has_only_its_name():
    assert parameters(parse(TEXT, "steps.runtime_image.pad=true"), "runtime_image")["pad"] is True
    text = TEXT.replace("runtime_image", "runtime_image:")
    assert parameters(parse(text, "steps.runtime_image.pad=true"), "runtime_image")["pad"] is True


def test_the_other_parameters_stay():
    manifest = parse(TEXT, "steps.tensors.include=['*.bias', \"a.*\"]")
    assert parameters(manifest, "tensors") == {"include": ("*.bias", "a.*"), "mode": "index"}


def test_a_whole_step():
    manifest = parse(TEXT, "steps.tensors={include: [a]}")
    assert parameters(manifest, "tensors") == {"include": ("a",), "mode": "copy"}
    assert parameters(parse(TEXT, "steps.tensors="), "tensors")["mode"] == "copy"
    manifest = parse(TEXT, "steps.parity={corpus: x}", "steps.parity.weights.zh.hant=3")
    assert parameters(manifest, "parity") == {"corpus": "x", "weights": {"zh.hant": 3}}
    assert manifest.steps[-1].name == "parity"


def test_the_list_of_steps():
    assert [step.name for step in parse(TEXT, "steps=[tokenizer, tensors: {mode: copy}]").steps] == [
        "tokenizer",
        "tensors",
    ]
    text = "version: 1\nmodel: {ollama: a}\nout: b\n"
    assert [step.name for step in parse(text, "steps.inspect=", "steps.tokenizer={}").steps] == [
        "inspect",
        "tokenizer",
    ]


def test_out_starts_at_the_manifests_folder():
    assert parse(TEXT, "out=../elsewhere").out == Path("elsewhere")
    assert parse(TEXT, "out=' x'").out == Path("manifests/ x")


def test_artifacts_names_may_have_dots():
    manifest = parse(TEXT, f"expect.tensors/blk.0.weight.bin={DIGEST}")
    assert dict(manifest.expect) == {"tensors/blk.0.weight.bin": DIGEST}
    assert dict(parse(TEXT + "expect:\n", f"expect.vocab.bin={DIGEST}").expect) == {"vocab.bin": DIGEST}
    manifest = parse(FULL, f"expect.vocab.bin={'b' * 64}")
    assert list(manifest.expect) == ["vocab.bin", "tensors/a.bin"]
    assert manifest.expect["vocab.bin"] == "sha256:" + "b" * 64


def test_the_last_one_holds():
    assert parse(TEXT, "out=a", "out=b").out == Path("manifests/b")
    assert parse(TEXT, "model.gguf=a", "model.sample=qwen3").model == ModelChoice("sample", "qwen3")


def test_the_same_model_voids_nothing():
    manifest = parse(FULL, "model.ollama=qwen2.5:7b")
    assert manifest.model == parse(FULL).model
    assert manifest.notes == ()


def test_another_model_of_the_store_voids_what_is_known_of_the_first():
    manifest = parse(FULL, "model.ollama=qwen2.5:0.5b")
    assert manifest.model == ModelChoice("ollama", "qwen2.5:0.5b", fallback="qwen3")
    assert manifest.notes == (
        (
            "--set model.ollama=qwen2.5:0.5b: another model; "
            "left out, as about the manifest's own: model.digest, model.pre"
        ),
    )


def test_a_file_voids_the_fallback_too():
    manifest = parse(FULL, "model.gguf=a.gguf")
    assert manifest.model == ModelChoice("gguf", "a.gguf")
    assert manifest.notes == (
        (
            "--set model.gguf=a.gguf: another model; "
            "left out, as about the manifest's own: model.digest, model.pre, model.fallback"
        ),
    )
    assert parse(TEXT, "model.gguf=a.gguf").notes == ()


@pytest.mark.parametrize("turn", [1, -1])
def test_what_is_set_too_is_not_voided(turn):
    pin = "sha256:" + "c" * 64
    manifest = parse(FULL, *["model.gguf=a.gguf", f"model.digest={pin}", "model.pre=qwen2"][::turn])
    assert manifest.model == ModelChoice("gguf", "a.gguf", pin, "qwen2")


def test_a_manifest_without_a_model_gets_one():
    text = TEXT.replace("model: {ollama: qwen2.5:0.5b}\n", "")
    for part in ("", "model:\n"):
        assert parse(text + part, "model.gguf=a").model == ModelChoice("gguf", "a")
    assert "model: expected a mapping" in refusal(text=text + "model: 5\n")
    line = refusal("model.gguf=a", text=text + "model: 5\n")
    assert (
        line
        == "--set model.gguf=a: model holds no keys to set: it is 5, which stands at manifests/m.yaml:7:8"
    )


def test_a_model_as_a_whole():
    assert parse(FULL, "model={sample: qwen3}").model == ModelChoice("sample", "qwen3")
    assert parse(TEXT, "model.fallback.sample=qwen3").model.fallback == "qwen3"


POWER = "expected a power of two from 16 (0x10) to 1048576 (0x100000), found"
FORM = "expected KEY=VALUE, such as out=build or steps.STEP.PARAMETER=VALUE"
PLACE = "--set steps.runtime_image.align"


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("x", f"--set x: {FORM}"),
        ("=x", f"--set =x: {FORM}"),
        ("a..b=c", f"--set a..b=c: {FORM}"),
        ("steps.=c", f"--set steps.=c: {FORM}"),
        ("outt=3", "--set outt=3: unknown key 'outt'; did you mean 'out'?"),
        ("steps.runtime_image.align=48", f"{PLACE}=48: steps.runtime_image.align: {POWER} 48"),
        (
            "steps.runtime_image.align=010",
            (
                f"{PLACE}=010: steps.runtime_image.align: {POWER} 010; "
                "a leading 0 makes it a number in base 8 to some readers; leave the 0 out"
            ),
        ),
        (
            "steps.runtime_image.alig=64",
            "--set steps.runtime_image.alig=64: steps.runtime_image: unknown key 'alig'; did you mean 'align'?",
        ),
        (
            "steps.runtime_imag.align=64",
            (
                "--set steps.runtime_imag.align=64: the manifest has no step 'runtime_imag'; "
                "did you mean runtime_image?"
            ),
        ),
        (
            "steps.parity.corpus=x",
            "--set steps.parity.corpus=x: the manifest has no step 'parity'; steps.parity={} adds it",
        ),
        (
            "steps.nothing={}",
            (
                "--set steps.nothing={}: steps: unknown step 'nothing'; "
                "expected inspect, tokenizer, tensors, runtime_image or parity"
            ),
        ),
        (
            "steps=[inspect, inspect]",
            (
                "--set steps=[inspect, inspect]: steps: the step inspect is given twice; "
                "it stands at --set steps=[inspect, inspect] already"
            ),
        ),
        (
            "version=2",
            "--set version=2: version: expected 1, the version that this tool reads, found 2; use a newer tool",
        ),
        (
            "model.ollama.x=1",
            (
                "--set model.ollama.x=1: model.ollama holds no keys to set: "
                "it is 'qwen2.5:0.5b', which stands at manifests/m.yaml:2:17"
            ),
        ),
        ("out=", "--set out=: out: expected a path, found nothing"),
        (
            "out=no",
            '--set out=no: out: expected a path, found no; YAML takes it for true or false, so quote it: "no"',
        ),
        ("out=a: b", "--set out=a: b: out: expected a path, found a mapping"),
        ("out=[a", "--set out=[a: this [ is never closed"),
        (
            "out=a #b",
            "--set out=a #b: the value has a comment (#) in it; put it in quotes, inside those of the shell",
        ),
        ("out=a\tb", r"'--set out=a\tb': a tab; use spaces to indent and to part words"),
        ("out=\x1b[31m", r"'--set out=\x1b[31m': the character U+001B is not allowed in a manifest"),
        ("out=\udcff", r"'--set out=\udcff': the character U+DCFF is not allowed in a manifest"),
        (
            "steps.tensors={include: [*b]}",
            (
                "--set steps.tensors={include: [*b]}: YAML aliases are not used in a manifest: "
                'write the value out; if the text is meant, quote it: "*b"'
            ),
        ),
        (
            "expect.a=" + "1" * 64,
            (
                f"--set expect.a={'1' * 64}: expect.a: expected sha256: and 64 hexadecimal digits, "
                f"found {'1' * 64}; YAML takes it for a number, so quote it"
            ),
        ),
        (
            "model.fallback=sample",
            (
                "--set model.fallback=sample: model.fallback: it goes with ollama only; "
                "a model named by gguf has none"
            ),
        ),
    ],
)
def test_refusal(override, line):
    text = TEXT.replace("ollama: qwen2.5:0.5b", "gguf: a") if "fallback" in override else TEXT
    assert refusal(override, text=text) == line


def test_a_long_one_is_cut():
    line = refusal("out=[" + "a, " * 1000)
    assert line.startswith("--set out=[a, a, ")
    assert len(line) < 250


def test_problems_of_the_file_come_first():
    lines = refusal("steps.runtime_image.align=48", text=TEXT + "zzz: 1\n").split("\n")
    assert [line.partition(": ")[0] for line in lines] == [
        "manifests/m.yaml:8:1",
        "--set steps.runtime_image.align=48",
    ]


@pytest.mark.parametrize("steps", ["5", "{inspect: }", "[[inspect]]", "[5, {a: 1, b: 2}]"])
def test_a_broken_list_of_steps_stays_an_error(steps):
    text = f"version: 1\nmodel: {{ollama: a}}\nout: b\nsteps: {steps}\n"
    assert "steps" in refusal("steps.inspect={}", text=text)
    assert "steps" in refusal("steps.inspect.a=1", text=text)
