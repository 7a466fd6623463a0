"""Steps and their parameters: each kind's refusals, with the exact line."""

import pytest
from manifest_samples import HEAD, PATH, parse

from pipeline.manifest import ManifestError

STEP = "expected a step's name, or its name and parameters as NAME: {KEY: VALUE}, found"
ALL = "inspect, tokenizer, tensors, runtime_image or parity"


def refusal(steps):
    with pytest.raises(ManifestError) as caught:
        parse(HEAD + steps)
    return str(caught.value).replace(f"{PATH}:", "").split("\n")


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        (" - inspct", "5:4: steps: unknown step 'inspct'; did you mean 'inspect'?"),
        (" - INSPECT: {}", "5:4: steps: unknown step 'INSPECT'; did you mean 'inspect'?"),
        (" - unheard_of", f"5:4: steps: unknown step 'unheard_of'; expected {ALL}"),
        (" - 5", f"5:4: steps: unknown step '5'; expected {ALL}"),
        (' - "a\\e[31m"', rf"5:4: steps: unknown step 'a\x1b[31m'; expected {ALL}"),
        (" - inspect\n - inspect:", "6:4: steps: the step inspect is given twice; it stands at 5:4 already"),
        (" - ", f"5:3: steps: {STEP} nothing"),
        (" - [inspect]", f"5:4: steps: {STEP} a list of 1"),
        (" - {}", f"5:4: steps: {STEP} a mapping"),
        (
            " - runtime_image:\n   align: 64",
            (
                f"6:4: steps: {STEP} 'align' beside 'runtime_image'; "
                "indent a step's parameters further than its name"
            ),
        ),
        (
            " - runtime_image: 64",
            "5:19: steps.runtime_image: expected a mapping of parameters (align, budget, pad), found 64",
        ),
        (" - inspect: 64", "5:13: steps.inspect: expected no parameters, found 64"),
        (" - inspect: {a: 1}", "5:14: steps.inspect: unknown key 'a'; it has no keys"),
        (
            " - runtime_image: {alig: 64}",
            "5:20: steps.runtime_image: unknown key 'alig'; did you mean 'align'?",
        ),
        (
            " - runtime_image: {zzz: 64}",
            "5:20: steps.runtime_image: unknown key 'zzz'; expected align, budget or pad",
        ),
        (" - parity", "5:4: steps.parity.corpus is missing; expected a path"),
        (" - parity: {}", "5:4: steps.parity.corpus is missing; expected a path"),
    ],
)
def test_steps_that_are_refused(steps, line):
    assert refusal(steps) == [line]


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ("[]", "an empty list"),
        ("inspect", "'inspect'"),
        ("{inspect: }", "a mapping; begin each step with '- '"),
    ],
)
def test_a_list_of_steps_is_needed(steps, found):
    with pytest.raises(ManifestError) as caught:
        parse(f"version: 1\nmodel: {{ollama: a}}\nout: b\nsteps: {steps}")
    assert (
        str(caught.value) == f"{PATH}:4:8: steps: expected a list of steps, each at most once, found {found}"
    )


def test_every_mistake_is_reported_in_the_order_of_the_file():
    steps = " - parity: {weights: {a: 10, b: x}}\n - tensors: {include: [no], mode: '', x: 1}\n - nothing\n"
    places = [line.split(": ")[:2] for line in refusal(steps)]
    assert places == [
        ["5:4", "steps.parity.corpus is missing; expected a path"],
        ["5:26", "steps.parity.weights.a"],
        ["5:33", "steps.parity.weights.b"],
        ["6:24", "steps.tensors.include[0]"],
        ["6:35", "steps.tensors.mode"],
        ["6:39", "steps.tensors"],
        ["7:4", "steps"],
    ]


POWER = "expected a power of two from 16 (0x10) to 1048576 (0x100000), found"
MULTIPLE = (
    "expected a size in bytes that is a multiple of 64, from 64 (0x40) to 1073741824 (0x40000000), found"
)
UNITS = "sizes are written like 64, 0x40, 64KiB, 1MiB or 2GiB"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("48", "48"),
        ("0x30", "0x30"),
        ("0", "0"),
        ("8", "8"),
        ("2097152", "2097152"),
        ("2MiB", "'2MiB'"),
        ("-64", "-64"),
        ("64K", f"'64K'; {UNITS}"),
        ("64kb", f"'64kb'; {UNITS}"),
        ("64 KiB", f"'64 KiB'; {UNITS}"),
        ("010KiB", f"'010KiB'; {UNITS}"),
        ("010", "010; a leading 0 makes it a number in base 8 to some readers; leave the 0 out"),
        ("089", "089; a leading 0 makes it a number in base 8 to some readers; leave the 0 out"),
        ("0o100", "0o100; YAML takes it for a number in base 8; write it in base 10, or in base 16 with 0x"),
        (
            "0b1000000",
            "0b1000000; YAML takes it for a number in base 2; write it in base 10, or in base 16 with 0x",
        ),
        ("12:30", "12:30; YAML takes it for a number in base 60; write it in base 10, or in base 16 with 0x"),
        ("1_024", "1_024; leave the _ out"),
        ("0x4_0", "0x4_0; leave the _ out"),
        ("1e3", "1e3; write a number without fraction and exponent"),
        ("64.0", "64.0; write a number without fraction and exponent"),
        ("+64", "+64; leave the sign out"),
        ("-0", "-0; leave the sign out"),
        ("'64'", "the quoted text '64'; write it without quotes"),
        ("true", "true"),
        ("~", "nothing"),
        ("[64]", "a list of 1"),
        ("{}", "a mapping"),
        ("9" * 5000, "a number of 5000 digits"),
        ("9" * 30 + "KiB", f"'{'9' * 30}KiB'; {UNITS}"),
        ("many", "'many'"),
        ("0x", "'0x'"),
    ],
)
def test_alignments_that_are_refused(value, found):
    assert refusal(f" - runtime_image: {{align: {value}}}") == [
        f"5:27: steps.runtime_image.align: {POWER} {found}"
    ]


@pytest.mark.parametrize("value", ["63", "32", "100", "0x41", "2147483648"])
def test_sizes_that_are_refused(value):
    assert refusal(f" - runtime_image: {{budget: {value}}}") == [
        f"5:28: steps.runtime_image.budget: {MULTIPLE} {value}"
    ]
    assert refusal(" - runtime_image: {budget: 2GiB}") == [
        f"5:28: steps.runtime_image.budget: {MULTIPLE} '2GiB'"
    ]


@pytest.mark.parametrize(
    ("value", "size"),
    [("64", 64), ("0x40", 64), ("0xFC0", 0xFC0), ("64KiB", 65536), ("'1MiB'", 1 << 20), ("1GiB", 1 << 30)],
)
def test_sizes(value, size):
    step = parse(HEAD + f" - runtime_image: {{budget: {value}}}").steps[0]
    assert step.parameters["budget"] == size


def test_a_size_of_one_mebibyte_is_honoured_not_rounded():
    for value in ("1MiB", "1024KiB", "1048576", "0x100000"):
        step = parse(HEAD + f" - runtime_image: {{align: {value}}}").steps[0]
        assert step.parameters["align"] == 1 << 20


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("True", "True"),
        ("1", "1"),
        ("'true'", "the quoted text 'true'; write it without quotes"),
        ("[]", "an empty list"),
    ],
)
def test_flags_that_are_refused(value, found):
    assert refusal(f" - runtime_image: {{pad: {value}}}") == [
        f"5:25: steps.runtime_image.pad: expected true or false, found {found}"
    ]


def test_flags():
    for value, flag in (("true", True), ("false", False)):
        assert parse(HEAD + f" - runtime_image: {{pad: {value}}}").steps[0].parameters["pad"] is flag


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("copi", "'copi'; did you mean copy?"),
        ("Index", "'Index'; did you mean index?"),
        ("no", "no"),
        ("'zzz'", "the quoted text 'zzz'"),
        ("[copy]", "a list of 1"),
    ],
)
def test_choices_that_are_refused(value, found):
    assert refusal(f" - tensors: {{mode: {value}}}") == [
        f"5:20: steps.tensors.mode: expected copy or index, found {found}"
    ]


def test_lists_that_are_refused():
    expected = "steps.tensors.include: expected a list of at least 1, each a glob, found"
    assert refusal(" - tensors: {include: '*'}") == [
        f"5:23: {expected} the quoted text '*'; write it in brackets, as a list of one: [...]"
    ]
    assert refusal(" - tensors: {include: []}") == [f"5:23: {expected} an empty list"]
    assert refusal(" - tensors: {include: ~}") == [f"5:23: {expected} nothing"]


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("no", "true or false"),
        ("on", "true or false"),
        ("010", "a number in base 8"),
        ("1.10", "a number"),
        ("12:30", "a number in base 60"),
        ("2024-01-01", "a date"),
    ],
)
def test_text_that_needs_quotes(text, reading):
    assert refusal(f" - tensors: {{include: [{text}]}}") == [
        (
            f"5:24: steps.tensors.include[0]: expected a glob, found {text}; "
            f'YAML takes it for {reading}, so quote it: "{text}"'
        )
    ]
    step = parse(HEAD + f" - tensors: {{include: ['{text}']}}").steps[0]
    assert step.parameters["include"] == (text,)


def test_mappings_that_are_refused():
    assert refusal(" - parity: {corpus: x, weights: [a]}") == [
        "5:33: steps.parity.weights: expected a mapping of text to a whole number from 0 to 9, found a list of 1"
    ]
    assert refusal(" - parity: {corpus: x, weights: {a: 10, \"c\\ed\": 1, '': 1, 'x y': z}}") == [
        "5:37: steps.parity.weights.a: expected a whole number from 0 to 9, found 10",
        (
            "5:41: steps.parity.weights: key: expected text, found the quoted text 'c\\x1bd'; "
            "it has to be one line without control characters"
        ),
        "5:52: steps.parity.weights: key: expected text, found an empty text",
        "5:66: steps.parity.weights.'x y': expected a whole number from 0 to 9, found 'z'",
    ]
