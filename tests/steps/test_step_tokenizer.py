"""Step `tokenizer`: tokens.jsonl, merges.txt, token_types.bin, templates, tokenizer_facts.json."""

import json

import numpy as np
import pytest
from tiny_model import (
    CONTROL,
    END_OF_TEXT,
    FIRST_PAD,
    IM_END,
    MERGES,
    N_TOKENS,
    NORMAL,
    SPECIALS,
    TEMPLATE,
    TOOL,
    UNUSED,
    USER_DEFINED,
    pairs,
    tensor,
    tokens,
    write_tiny,
)

from formats.byte_level import encode
from formats.ggml_types import GgmlType
from formats.gguf.value_types import ValueType
from formats.gguf.writer import ArrayToWrite


@pytest.fixture
def tokenizer(project):
    """Give a function that runs the step on a model."""
    project.write_manifest(steps=["tokenizer"])

    def run(changes=None, **model):
        write_tiny(project.gguf, changes, **model)
        return project.run()

    run.project = project
    run.read = lambda name: (project.out / name).read_bytes()
    run.facts = lambda: json.loads(run.read("tokenizer_facts.json"))
    return run


def rows_with(*added):
    """List the tiny vocabulary's tokens with others before its specials."""
    rows = tokens()
    return [*rows[:END_OF_TEXT], *added, *rows[END_OF_TEXT:FIRST_PAD]]


def test_every_file(tokenizer):
    tokenizer().done()
    assert tokenizer.project.names() == [
        "build.json",
        "chat_template.txt",
        "merges.txt",
        "token_types.bin",
        "tokenizer_facts.json",
        "tokens.jsonl",
    ]


def test_tokens_jsonl_has_a_line_for_each_token(tokenizer):
    tokenizer().done()
    text = tokenizer.read("tokens.jsonl").decode("ascii")
    found = [json.loads(line) for line in text.splitlines()]
    assert len(found) == text.count("\n") == N_TOKENS
    for token_id, (entry, (token, kind)) in enumerate(zip(found, tokens(), strict=True)):
        assert (entry["id"], entry["token"], entry["type"]) == (token_id, token, kind)
        plain = kind != NORMAL
        assert encode(bytes.fromhex(entry["bytes"])) == token or plain
        if plain:
            assert bytes.fromhex(entry["bytes"]) == token.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"\xe2\x80\xa8",
        b"\x00",
        b"\n",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xc2\x85",
        b"\x0b\x0c\x1c\r",
        b'"\\',
        b"\xe5\xb0",
    ],
)
def test_tokens_that_no_text_file_likes(tokenizer, data):
    """The lines stay lines for every reader, and the bytes come back."""
    tokenizer(rows=rows_with((encode(b"zz" + data), NORMAL))).done()
    text = tokenizer.read("tokens.jsonl").decode("ascii")
    lines = text.splitlines()
    assert len(lines) == text.count("\n") == END_OF_TEXT + 1 + len(SPECIALS)
    entry = json.loads(lines[END_OF_TEXT])
    assert bytes.fromhex(entry["bytes"]) == b"zz" + data
    assert entry["token"] == encode(b"zz" + data)


def test_two_halves_of_a_character_give_it_back(tokenizer):
    halves = [(encode(b"\xe5\xb0"), NORMAL), (encode(b"\xb1"), NORMAL)]
    tokenizer(rows=rows_with(*halves)).done()
    lines = tokenizer.read("tokens.jsonl").splitlines()
    parts = [bytes.fromhex(json.loads(line)["bytes"]) for line in lines[END_OF_TEXT : END_OF_TEXT + 2]]
    assert b"".join(parts).decode() == "就"


def test_added_tokens_are_plain_text_by_their_type_not_by_their_looks(tokenizer):
    added = [("đem", USER_DEFINED), ("<|é|>", CONTROL), ("<|x|>", NORMAL)]
    tokenizer(rows=rows_with(*added)).done()
    lines = tokenizer.read("tokens.jsonl").splitlines()[END_OF_TEXT:][:3]
    assert [json.loads(line)["bytes"] for line in lines] == [
        "c49165 6d".replace(" ", ""),
        "<|é|>".encode().hex(),
        b"<|x|>".hex(),
    ]
    types = [(entry["token"], entry["type"]) for entry in tokenizer.facts()["added_tokens"]]
    assert types[:2] == [("đem", "user_defined"), ("<|é|>", "control")]
    assert "<|x|>" not in dict(types)


def test_merges_txt_is_the_merges_in_rank_order(tokenizer):
    tokenizer().done()
    assert tokenizer.read("merges.txt") == "".join(f"{merge}\n" for merge in MERGES).encode()


def test_token_types_bin_is_i32_for_each_token(tokenizer):
    tokenizer().done()
    types = np.frombuffer(tokenizer.read("token_types.bin"), "<i4")
    assert types.tolist() == [kind for _, kind in tokens()]


@pytest.mark.parametrize("kind", [ValueType.UINT8, ValueType.UINT32, ValueType.INT64, ValueType.UINT64])
def test_types_of_another_width_give_the_same_file(tokenizer, kind):
    tokenizer().done()
    good = tokenizer.read("token_types.bin")
    values = ArrayToWrite(kind, [kind for _, kind in tokens()])
    tokenizer({"tokenizer.ggml.token_type": (ValueType.ARRAY, values)}).done()
    assert tokenizer.read("token_types.bin") == good


def test_the_template_is_byte_for_byte(tokenizer):
    """It ends in two line feeds, and holds U+2581 and CRLF."""
    tokenizer().done()
    assert tokenizer.read("chat_template.txt") == TEMPLATE.encode()
    assert b"\r\n\xe2\x96\x81" in TEMPLATE.encode()
    assert TEMPLATE.endswith("\n\n")


def test_named_templates(tokenizer):
    named = {"rag": "R", "tool_use": "T\r\n", "../x": "X", "CON": "C", "con": "c", "": "E"}
    changes = {f"tokenizer.chat_template.{name}": (ValueType.STRING, text) for name, text in named.items()}
    tokenizer(changes).done()
    files = tokenizer.facts()["chat_templates"]
    written = {path.name for path in (tokenizer.project.out / "chat_templates").iterdir()}
    assert len({name.lower() for name in written}) == len(named)
    for name, text in named.items():
        file = files[f"tokenizer.chat_template.{name}"]
        assert file.startswith("chat_templates/")
        assert tokenizer.read(file) == text.encode()
    assert tokenizer.read("chat_template.txt") == TEMPLATE.encode()
    assert tokenizer.project.out.joinpath("chat_templates", "rag.txt").exists()


def test_no_template(tokenizer):
    tokenizer({"tokenizer.chat_template": None}).done()
    assert "chat_template.txt" not in tokenizer.project.names()
    assert tokenizer.facts()["chat_templates"] == {}


def test_the_facts(tokenizer):
    outcome = tokenizer().done()
    facts = tokenizer.facts()
    assert facts["counts"] == {
        "tokens": 272,
        "base": 262,
        "added": 4,
        "padded": 6,
        "embedding_rows": 272,
        "merges": 6,
        "unreachable": 0,
        "types": {"normal": 262, "unknown": 0, "control": 3, "user_defined": 1, "unused": 6, "byte": 0},
    }
    assert facts["first_pad_id"] == FIRST_PAD
    assert facts["special_ids"] == {
        "bos": None,
        "eos": IM_END,
        "eot": None,
        "eom": None,
        "unk": None,
        "pad": END_OF_TEXT,
    }
    assert facts["add_bos"] is False
    assert facts["add_eos"] is None
    assert [(end["id"], end["token"]) for end in facts["end_ids"]] == [(IM_END, "<|im_end|>")]
    assert facts["pre_tokenizer"]["name"] == "qwen2"
    assert facts["pre_tokenizer"]["named_by"] == "model"
    assert facts["pre_tokenizer"]["served"] is True
    assert facts["added_tokens"][-1] == {"id": TOOL, "token": "<tool>", "type": "user_defined"}
    assert outcome.lines[2].strip() == (
        "262 base + 4 added + 6 padded tokens, 272 embedding rows; 6 merges; end ids 264"
    )


def test_an_end_of_turn_that_no_key_names_is_found_and_warned_of(tokenizer):
    """eos, bos and pad are the base model's, the template is a chat model's."""
    changes = {
        f"tokenizer.ggml.{name}_token_id": (ValueType.UINT32, END_OF_TEXT)
        for name in ("bos", "eos", "padding")
    }
    outcome = tokenizer(changes).done()
    ends = [(end["id"], end["named_by"]) for end in tokenizer.facts()["end_ids"]]
    assert [token for token, _ in ends] == [END_OF_TEXT, IM_END]
    (warning,) = [line.strip() for line in outcome.lines if "warning:" in line]
    assert "'<|im_end|>' (264)" in warning


def test_ollamas_list_of_end_ids(tokenizer):
    ids = ArrayToWrite(ValueType.INT32, [END_OF_TEXT, IM_END])
    tokenizer({"tokenizer.ggml.eos_token_ids": (ValueType.ARRAY, ids)}).done()
    assert {end["id"] for end in tokenizer.facts()["end_ids"]} == {END_OF_TEXT, IM_END}


def test_duplicates_are_kept_and_warned_of(tokenizer):
    outcome = tokenizer(rows=rows_with(("zzz", NORMAL), ("b", NORMAL), ("zzz", NORMAL))).done()
    lines = tokenizer.read("tokens.jsonl").splitlines()
    assert len(lines) == END_OF_TEXT + 3 + 4
    assert tokenizer.facts()["duplicates"] == [[98, 263], [262, 264]]
    assert "warning: texts that an earlier token has already: 2, the first 'b' as 98 and 263" in outcome.out


def test_tokens_that_no_merge_makes_are_counted(tokenizer):
    tokenizer(rows=rows_with(("xyz", NORMAL))).done()
    facts = tokenizer.facts()
    assert facts["counts"]["unreachable"] == 1
    assert facts["unreachable"] == [END_OF_TEXT]


def test_fewer_rows_than_tokens(tokenizer):
    body = [tensor("token_embd.weight", GgmlType.F16, (4, N_TOKENS - 1))]
    line = tokenizer(body=body).refused(3)
    assert "tensor 'token_embd.weight'" in line
    assert "expected at least 272 rows, one for each token, found 271 (ne [4, 271])" in line


def test_more_rows_than_tokens(tokenizer):
    tokenizer(body=[tensor("token_embd.weight", GgmlType.F16, (4, 300))]).done()
    assert tokenizer.facts()["counts"]["embedding_rows"] == 300


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tokenizer.ggml.merges": None}, "tokenizer.ggml.merges"),
        (
            {"tokenizer.ggml.merges": (ValueType.ARRAY, ArrayToWrite(ValueType.STRING, []))},
            "tokenizer.ggml.merges",
        ),
        ({"tokenizer.ggml.tokens": None}, "tokenizer.ggml.tokens"),
        ({"tokenizer.ggml.token_type": None}, "tokenizer.ggml.token_type"),
        (
            {"tokenizer.ggml.token_type": (ValueType.ARRAY, ArrayToWrite(ValueType.INT32, [1] * 271))},
            "expected 272 types",
        ),
        (
            {"tokenizer.ggml.model": (ValueType.STRING, "llama")},
            "tokenizer model 'llama' is not byte-level BPE",
        ),
        ({"tokenizer.ggml.model": None}, "tokenizer.ggml.model"),
        (
            {"tokenizer.ggml.eos_token_id": (ValueType.UINT32, 272)},
            "expected a token id below 272, found 272",
        ),
        ({"tokenizer.ggml.eos_token_id": (ValueType.STRING, "x")}, "tokenizer.ggml.eos_token_id"),
        ({"tokenizer.chat_template": (ValueType.UINT32, 5)}, "tokenizer.chat_template"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_vocabulary_is_refused(tokenizer, changes, words):
    line = tokenizer(changes).refused(3)
    assert words in line
    assert str(tokenizer.project.gguf) in line
    assert tokenizer.project.names() == []


@pytest.mark.parametrize("merge", ["x yz", "xy z", "cd x", "nospace", " ", ""])
def test_a_merge_of_what_is_no_token(tokenizer, merge):
    line = tokenizer(merges=[*MERGES, merge]).refused(3)
    assert "key 'tokenizer.ggml.merges'[6]" in line


@pytest.mark.parametrize("pre", [None, "gpt-2", "no such rule"])
def test_a_rule_that_is_not_known_is_said_so_and_nothing_more(tokenizer, pre):
    change = None if pre is None else (ValueType.STRING, pre)
    tokenizer({"tokenizer.ggml.pre": change}).done()
    found = tokenizer.facts()["pre_tokenizer"]
    assert (found["name"], found["served"], found["nfc"], found["class_tables"]) == (
        pre or "",
        False,
        False,
        0,
    )
    assert found["named_by"] == ("model" if pre else None)


def test_the_manifests_rule_goes_before_the_models(tokenizer):
    tokenizer.project.write_manifest(model={"gguf": "tiny.gguf", "pre": "qwen2"}, steps=["tokenizer"])
    tokenizer({"tokenizer.ggml.pre": (ValueType.STRING, "gpt-2")}).done()
    found = tokenizer.facts()["pre_tokenizer"]
    assert (found["name"], found["named_by"], found["served"]) == ("qwen2", "manifest", True)


def test_padding_named_by_ollama(tokenizer):
    """Ollama counts pads from 0, and types them as user-defined."""
    rows = [*tokens()[:FIRST_PAD], *((f"[PAD{number}]", USER_DEFINED) for number in range(6))]
    tokenizer(rows=rows).done()
    facts = tokenizer.facts()
    assert (facts["first_pad_id"], facts["counts"]["padded"], facts["counts"]["added"]) == (FIRST_PAD, 6, 4)


def test_the_builder_of_these_tests_makes_what_it_says():
    assert len(tokens()) == N_TOKENS
    assert [kind for _, kind in tokens()[FIRST_PAD:]] == [UNUSED] * 6
    assert {key for key, *_ in pairs()} >= {"tokenizer.ggml.tokens", "tokenizer.chat_template"}
