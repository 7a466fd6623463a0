"""What a manifest in order is read as, and what its own keys refuse."""

import subprocess
import sys
from pathlib import Path

import pytest
from manifest_samples import DIGEST, FULL, HEAD, PATH, STEPS, parse

from pipeline.manifest import ManifestError, ModelChoice, as_json, parse_manifest
from pipeline.manifest import parameters as declared


def refusal(text):
    with pytest.raises(ManifestError) as caught:
        parse(text)
    return str(caught.value).replace(f"{PATH}:", "").split("\n")


def with_model(model):
    return f"version: 1\nmodel: {model}\nout: ../b\nsteps: [inspect]\n"


def test_a_whole_manifest():
    manifest = parse(FULL)
    assert manifest.path == Path(PATH)
    assert manifest.version == 1
    assert manifest.model == ModelChoice("ollama", "qwen2.5:7b", DIGEST, "qwen2", "qwen3")
    assert manifest.out == Path("build/m")
    assert dict(manifest.expect) == {"vocab.bin": DIGEST, "tensors/a.bin": "sha256:" + "1" * 64}
    assert [(step.name, as_json(step.parameters)) for step in manifest.steps] == [
        ("inspect", {}),
        ("tokenizer", {}),
        ("tensors", {"include": ["*.weight", "1.10"], "mode": "index"}),
        ("runtime_image", {"align": 4096, "budget": 64, "pad": True}),
        ("parity", {"corpus": "texts", "weights": {"de": 1, "no": 2}}),
    ]
    assert manifest.notes == ()


def test_defaults():
    manifest = parse(HEAD + "  - tensors\n  - runtime_image:\n")
    assert manifest.model == ModelChoice("ollama", "qwen2.5:0.5b")
    assert manifest.expect == {}
    assert manifest.steps[0].parameters == {"include": ("*",), "mode": "copy"}
    assert manifest.steps[1].parameters == {"align": 64, "budget": None, "pad": False}
    assert list(manifest.steps[1].parameters) == ["align", "budget", "pad"]


def test_what_is_read_cannot_be_changed():
    manifest = parse(FULL)
    for values in (manifest.expect, manifest.steps[4].parameters, manifest.steps[4].parameters["weights"]):
        with pytest.raises(TypeError):
            values["x"] = 1


def test_paths_start_at_the_manifests_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def out(manifest, path):
        text = HEAD.replace("../build", path) + "  - inspect\n"
        return parse_manifest(text.encode(), manifest, STEPS).out

    assert out("manifests/m.yaml", "../build/m") == Path("build/m")
    assert out("manifests/m.yaml", "build") == Path("manifests/build")
    assert out("m.yaml", "../build") == Path("../build")
    assert out("/a/manifests/m.yaml", "../build") == Path("/a/build")
    assert out("/a/manifests/m.yaml", "/b/./c/") == Path("/b/c")
    manifest = parse(with_model("{gguf: ../models/a.gguf}"))
    assert manifest.model == ModelChoice("gguf", "../models/a.gguf")
    assert manifest.beside(manifest.model.value) == Path("models/a.gguf")


def test_places():
    manifest = parse(FULL)
    assert str(manifest.place("model", "digest")) == "manifests/m.yaml:4:3"
    assert str(manifest.place("expect", "vocab.bin")) == "manifests/m.yaml:9:3"
    assert str(manifest.place("steps", "tokenizer")) == "manifests/m.yaml:13:5"
    assert str(manifest.place("steps", "tensors", "include", "1.10")) == "manifests/m.yaml:14:37"
    # What is not given is reported where it would stand.
    assert str(manifest.place("steps", "parity", "seed")) == "manifests/m.yaml:19:5"
    assert str(manifest.place("limits")) == "manifests/m.yaml:1:1"
    error = manifest.place("expect", "vocab.bin").error("no step makes it")
    assert isinstance(error, ManifestError)
    assert str(error) == "manifests/m.yaml:9:3: no step makes it"
    assert manifest.steps[3].place == manifest.place("steps", "runtime_image")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "{}",
            [
                "1:1: version is missing; expected 1, the version that this tool reads",
                "1:1: model is missing; expected a mapping with one of ollama, gguf or sample",
                "1:1: out is missing; expected a path",
                "1:1: steps is missing; expected a list of steps, each at most once",
            ],
        ),
        (
            "version: 1\nout: 12:30\nexpect: 5\nsteps: {inspect: }\nmodl: {ollama: a}\n",
            [
                "1:1: model is missing; expected a mapping with one of ollama, gguf or sample",
                (
                    "2:6: out: expected a path, found 12:30; "
                    'YAML takes it for a number in base 60, so quote it: "12:30"'
                ),
                (
                    "3:9: expect: expected a mapping of a relative path to "
                    "sha256: and 64 hexadecimal digits, found 5"
                ),
                (
                    "4:8: steps: expected a list of steps, each at most once, found a mapping; "
                    "begin each step with '- '"
                ),
                "5:1: unknown key 'modl'; did you mean 'model'?",
            ],
        ),
        (
            HEAD + "  - inspect\nzzz: 1",
            ["6:1: unknown key 'zzz'; expected version, model, out, expect, budget or steps"],
        ),
    ],
)
def test_keys_of_the_manifest(text, lines):
    assert refusal(text) == lines


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("2", "2; use a newer tool"),
        ("0", "0"),
        ("'1'", "the quoted text '1'; write it without quotes"),
        ("1.0", "1.0; write a number without fraction and exponent"),
        ("[1]", "a list of 1"),
        ("9" * 5000, "a number of 5000 digits"),
    ],
)
def test_another_version_is_all_that_is_reported(version, found):
    expected = f"1:10: version: expected 1, the version that this tool reads, found {found}"
    assert refusal(f"version: {version}\nfoo: 1\n") == [expected]


OLLAMA = "expected the name of a model in the Ollama store, such as qwen2.5:0.5b, found"
ONE_OF = "2:8: model: expected a mapping with one of ollama, gguf or sample, found"
NONE = "2:8: model: expected one of ollama, gguf or sample, found none of them"
ONLY_ONE = "model: expected only one of ollama, gguf or sample, found"
SHA = "model.digest: expected sha256: and 64 hexadecimal digits, found"
FALLBACK = "model.fallback: expected sample, which is that of qwen2.5, or {sample: qwen3}, found"


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        ("qwen2.5:0.5b", [f"{ONE_OF} 'qwen2.5:0.5b'; an Ollama model is {{ollama: NAME}}"]),
        ("[a]", [f"{ONE_OF} a list of 1"]),
        ("{}", [NONE]),
        (f"{{digest: {DIGEST}}}", [NONE]),
        ("{ollama: a, gguf: b}", [f"2:20: {ONLY_ONE} gguf; ollama stands at 2:9 already"]),
        ("{sample: qwen3, gguf: b}", [f"2:24: {ONLY_ONE} gguf; sample stands at 2:9 already"]),
        ("{olama: a}", ["2:9: model: unknown key 'olama'; did you mean 'ollama'?"]),
        (
            "{gguf: a, fallback: sample}",
            ["2:18: model.fallback: it goes with ollama only; a model named by gguf has none"],
        ),
        ("{ollama: a, fallback: smple}", [f"2:30: {FALLBACK} 'smple'"]),
        ("{ollama: a, fallback: }", [f"2:29: {FALLBACK} nothing"]),
        (
            "{ollama: a, fallback: {sampel: qwen3}}",
            [
                "2:30: model.fallback.sample is missing; expected qwen2.5 or qwen3",
                "2:31: model.fallback: unknown key 'sampel'; did you mean 'sample'?",
            ],
        ),
        (
            "{ollama: a, fallback: {sample: qwen4}}",
            ["2:39: model.fallback.sample: expected qwen2.5 or qwen3, found 'qwen4'; did you mean qwen3?"],
        ),
        (
            "{sample: 2.5}",
            ["2:17: model.sample: expected qwen2.5 or qwen3, found 2.5; did you mean qwen2.5?"],
        ),
        (
            "{ollama: 010}",
            [f'2:17: model.ollama: {OLLAMA} 010; YAML takes it for a number in base 8, so quote it: "010"'],
        ),
        ("{ollama: ''}", [f"2:17: model.ollama: {OLLAMA} an empty text"]),
        ("{ollama: a, pre: llama}", ["2:25: model.pre: expected qwen2 or deepseek-r1-qwen, found 'llama'"]),
        (
            f"{{ollama: a, digest: {'12' * 32}}}",
            [f"2:28: {SHA} {'12' * 32}; YAML takes it for a number, so quote it"],
        ),
        (
            f"{{ollama: a, digest: sha256-{'0a' * 32}}}",
            [f"2:28: {SHA} 'sha256-{'0a' * 32}'; write sha256: in place of sha256-"],
        ),
        (f"{{ollama: a, digest: {'a' * 63}}}", [f"2:28: {SHA} '{'a' * 63}'; it has 63 digits"]),
        ("{ollama: a, digest: md5:00}", [f"2:28: {SHA} 'md5:00'"]),
    ],
)
def test_models_that_are_refused(model, lines):
    assert refusal(with_model(model)) == lines


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("{ollama: qwen2.5}", ModelChoice("ollama", "qwen2.5")),
        ("{ollama: 'host:5000/ns/m'}", ModelChoice("ollama", "host:5000/ns/m")),
        ("{ollama: hf.co/Org/Repo:Q4_K_M}", ModelChoice("ollama", "hf.co/Org/Repo:Q4_K_M")),
        ("{ollama: a, fallback: sample}", ModelChoice("ollama", "a", fallback="qwen2.5")),
        ("{ollama: a, fallback: {sample: qwen2.5}}", ModelChoice("ollama", "a", fallback="qwen2.5")),
        (
            "{gguf: /a/b.gguf, pre: deepseek-r1-qwen}",
            ModelChoice("gguf", "/a/b.gguf", pre="deepseek-r1-qwen"),
        ),
        (f"{{sample: qwen3, digest: {'AB' * 32}}}", ModelChoice("sample", "qwen3", "sha256:" + "ab" * 32)),
    ],
)
def test_models(model, expected):
    assert parse(with_model(model)).model == expected


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("../x", "none of its parts may be empty, . or .."),
        ("a/../x", "none of its parts may be empty, . or .."),
        ("a/..", "none of its parts may be empty, . or .."),
        ("./x", "none of its parts may be empty, . or .."),
        ("a//x", "none of its parts may be empty, . or .."),
        ("x/", "none of its parts may be empty, . or .."),
        ("/x", "it must not be absolute"),
        ("C:/x", "it must not be absolute"),
        (r"a\x", "write / for \\"),
    ],
)
def test_names_that_lead_out_of_the_folder(name, hint):
    line = f"6:11: expect: key: expected a relative path, found the quoted text {name!r}; {hint}"
    assert refusal(HEAD + f"  - inspect\nexpect: {{ '{name}': {DIGEST}}}\n") == [line]


def test_names_of_expected_artifacts():
    names = ["a", "..a", "a..", ".a", "...", "a/.b/c.d", "a b", "é"]
    text = HEAD + "  - inspect\nexpect:\n" + "".join(f"  '{name}': {DIGEST}\n" for name in names)
    assert list(parse(text).expect) == names
    assert parse(HEAD + "  - inspect\nexpect:\n  # vocab.bin: later\n").expect == {}


@pytest.mark.parametrize(
    ("out", "line"),
    [
        ("''", "expected a path, found an empty text"),
        ("", "expected a path, found nothing"),
        ("[a]", "expected a path, found a list of 1"),
        ("~/x", "expected a path, found '~/x'; ~ is not expanded, write the path out"),
        (r"..\b", "expected a path, found '..\\\\b'; write / for \\"),
        (
            '"a\\0b"',
            (
                "expected a path, found the quoted text 'a\\x00b'; "
                "it has to be one line without control characters"
            ),
        ),
        (
            "2024-01-01",
            'expected a path, found 2024-01-01; YAML takes it for a date, so quote it: "2024-01-01"',
        ),
    ],
)
def test_out(out, line):
    column = 6 if out else 5
    assert refusal(f"version: 1\nmodel: {{ollama: a}}\nout: {out}\nsteps: [inspect]\n") == [
        f"3:{column}: out: {line}"
    ]


def test_renamed_keys_name_their_successor(monkeypatch):
    monkeypatch.setitem(declared.RENAMED, "steps.runtime_image.alignment", "align")
    monkeypatch.setitem(declared.RENAMED, "target", "out")
    text = HEAD + "  - runtime_image: {alignment: 64}\ntarget: x\n"
    assert refusal(text) == [
        "5:21: steps.runtime_image: unknown key 'alignment'; it is called 'align' now",
        "6:1: unknown key 'target'; it is called 'out' now",
    ]


def test_importing_the_package_is_light():
    code = (
        "import sys, pipeline.manifest\n"
        "heavy = {'yaml', 'numpy', 'construct', 'gguf', 'difflib', 'json', 'argparse'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
