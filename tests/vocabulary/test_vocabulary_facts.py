"""tokenizer_facts.json: counts, special and end ids with their origin, pre-tokenizer, and warnings."""

import json

import pytest
from refusals import refusal
from small_vocabulary import SmallVocabulary
from tiny_model import CONTROL, IM_END, NORMAL, UNUSED, USER_DEFINED, tokens
from vocabulary_files import (
    BOS,
    EOM,
    EOS,
    EOS_IDS,
    EOT,
    NONE_NAMED,
    PAD,
    PRE,
    TEMPLATE,
    UNK,
    array,
    facts_of,
    gguf_of,
    number,
    offset_of,
    string,
)

from formats import vocab_bin
from formats.ggml_types import GgmlType
from formats.gguf.value_types import ValueType
from formats.gguf.writer import TensorToWrite
from formats.q25tokrt.verify import verify_image
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.errors import PretokenizerError
from pipeline.bpe.image_tables import ImageTables
from pipeline.bpe.unicode_tables import CLASS_TABLES_VERSION, NFC_TABLES_VERSION
from pipeline.text_output import json_document
from pipeline.vocabulary.vocabulary import read_vocabulary

UNKNOWN = 2


def test_the_whole_document():
    facts = facts_of({UNK: number(5), EOT: number(IM_END), TEMPLATE: string("{{ m.content }}<|im_end|>")})
    document = facts.document
    assert json.loads(json_document(document))["first_pad_id"] == 266
    assert document == {
        "tokenizer_model": "gpt2",
        "pre_tokenizer": {
            "name": "qwen2",
            "named_by": "model",
            "served": True,
            "nfc": True,
            "class_tables": CLASS_TABLES_VERSION,
            "nfc_tables": NFC_TABLES_VERSION,
        },
        "counts": {
            "tokens": 272,
            "base": 262,
            "added": 4,
            "padded": 6,
            "embedding_rows": None,
            "merges": 6,
            "unreachable": 0,
            "types": {"normal": 262, "unknown": 0, "control": 3, "user_defined": 1, "unused": 6, "byte": 0},
        },
        "first_pad_id": 266,
        "max_token_bytes": 13,
        "special_ids": {"bos": None, "eos": 264, "eot": 264, "eom": None, "unk": 5, "pad": 262},
        "add_bos": False,
        "add_eos": None,
        "end_ids": [{"id": 264, "token": "<|im_end|>", "named_by": [EOS, EOT, TEMPLATE]}],
        "added_tokens": [
            {"id": 262, "token": "<|endoftext|>", "type": "control"},
            {"id": 263, "token": "<|im_start|>", "type": "control"},
            {"id": 264, "token": "<|im_end|>", "type": "control"},
            {"id": 265, "token": "<tool>", "type": "user_defined"},
        ],
        "duplicates": [],
        "unreachable": [],
        "chat_templates": {TEMPLATE: "chat_template.txt"},
    }
    assert facts.warnings == ()


def test_four_counts_that_must_not_be_mixed_up():
    """Six tokens, two of them padding, eight rows of the embedding."""
    rows = [
        ("a", NORMAL),
        ("b", NORMAL),
        ("ab", NORMAL),
        ("<s>", CONTROL),
        ("[PAD4]", UNUSED),
        ("[PAD5]", UNUSED),
    ]
    embedding = TensorToWrite("token_embd.weight", GgmlType.F16, (2, 8), bytes(32))
    facts = facts_of(NONE_NAMED, rows=rows, merges=["a b"], tensors=[embedding])
    counts = facts.document["counts"]
    assert [counts[name] for name in ("tokens", "base", "added", "padded", "embedding_rows")] == [
        6,
        3,
        1,
        2,
        8,
    ]
    assert facts.document["first_pad_id"] == 4


def test_the_text_of_a_pad_never_matches():
    """Neither in the image nor in vocab.bin, whatever type the pad has."""
    letters = [(char, NORMAL) for char in "PAD[]6ab"]
    for kind in (UNUSED, USER_DEFINED, CONTROL):
        rows = [*letters, ("ab", NORMAL), ("[PAD9]", kind), ("[PAD10]", kind)]
        vocabulary = read_vocabulary(gguf_of(NONE_NAMED, rows=rows, merges=["a b"]))
        assert vocabulary.first_pad_id == 9
        small = SmallVocabulary(
            list(zip(vocabulary.tokens, vocabulary.types.tolist(), strict=True)), [(6, 7, 8)], first_pad_id=9
        )
        encoder = Encoder(ImageTables(verify_image(small.image())))
        assert encoder.encode("[PAD6]") == [3, 0, 1, 2, 5, 4]
        real = list(range(vocabulary.first_pad_id))
        entries = vocab_bin.build(vocabulary.tokens.take(real), vocabulary.types[real]).entries
        assert b"[PAD9]" not in list(entries)


@pytest.mark.parametrize(
    ("key", "name"), [(BOS, "bos"), (EOS, "eos"), (EOT, "eot"), (EOM, "eom"), (UNK, "unk"), (PAD, "pad")]
)
@pytest.mark.parametrize("kind", [ValueType.UINT32, ValueType.INT32, ValueType.UINT64, ValueType.UINT8])
def test_special_ids_of_any_integer(key, name, kind):
    assert facts_of({**NONE_NAMED, key: (kind, 7)}).document["special_ids"][name] == 7


@pytest.mark.parametrize("key", [BOS, EOS, EOT, EOM, UNK, PAD])
@pytest.mark.parametrize(
    ("kind", "value"), [(ValueType.UINT32, 272), (ValueType.INT32, -1), (ValueType.UINT64, 2**64 - 1)]
)
def test_a_special_id_that_is_no_token(key, kind, value):
    line = refusal(facts_of, {**NONE_NAMED, key: (kind, value)})
    assert line.startswith(f"t.gguf: key '{key}' at offset 0x")
    assert line.endswith(f": expected a token id below 272, found {value}")


def test_the_first_and_the_last_token_may_be_special():
    changes = {**NONE_NAMED, BOS: number(0), EOS: number(271), EOS_IDS: array([0, 271], ValueType.UINT32)}
    document = facts_of(changes).document
    assert (document["special_ids"]["bos"], document["special_ids"]["eos"]) == (0, 271)
    assert [(end["id"], end["named_by"]) for end in document["end_ids"]] == [
        (271, [EOS, EOS_IDS]),
        (0, [EOS_IDS]),
    ]


def test_a_special_id_of_the_wrong_type():
    assert "expected an integer, found string" in refusal(facts_of, {EOS: string("264")})


def test_a_list_of_end_ids():
    changes = {**NONE_NAMED, EOS: number(264), EOS_IDS: array([262, 264, 263], ValueType.INT32)}
    assert facts_of(changes).document["end_ids"] == [
        {"id": 264, "token": "<|im_end|>", "named_by": [EOS, EOS_IDS]},
        {"id": 262, "token": "<|endoftext|>", "named_by": [EOS_IDS]},
        {"id": 263, "token": "<|im_start|>", "named_by": [EOS_IDS]},
    ]
    assert facts_of({**NONE_NAMED, EOS_IDS: array([], ValueType.INT32)}).document["end_ids"] == []


@pytest.mark.parametrize("value", [-1, 272, 2**31 - 1])
def test_an_end_id_of_the_list_that_is_no_token(value):
    gguf_changes = {EOS_IDS: array([264, value], ValueType.INT32)}
    gguf = gguf_of(gguf_changes)
    assert refusal(facts_of, gguf_changes) == (
        f"t.gguf: key '{EOS_IDS}'[1] at {offset_of(gguf, EOS_IDS, 1)}: expected a token id below 272, found {value}"
    )


def test_a_template_that_ends_turns_with_a_token_that_no_key_names():
    """eos = bos = pad, as base models have it: firmware that stops at eos alone would run on."""
    template = "{% for m in messages %}{{ '<|im_start|>' + m.role + m.content + '<|im_end|>' }}{% endfor %}"
    facts = facts_of({EOS: number(262), BOS: number(262), PAD: number(262), TEMPLATE: string(template)})
    assert [(end["id"], end["named_by"]) for end in facts.document["end_ids"]] == [
        (262, [EOS]),
        (264, [TEMPLATE]),
    ]
    assert facts.warnings == (
        "the chat template ends turns with '<|im_end|>' (264), which no key names; it is listed as an end id",
    )


@pytest.mark.parametrize(
    "text", ["{{ m.content }}<tool>", "{{ m.content }}[PAD266]", "no token at all", b"\xff\xfe"]
)
def test_only_control_tokens_end_turns(text):
    facts = facts_of({**NONE_NAMED, TEMPLATE: string(text)})
    assert facts.document["end_ids"] == []
    assert facts.warnings == ()


def test_a_named_template_says_nothing_about_the_end():
    facts = facts_of({**NONE_NAMED, f"{TEMPLATE}.default": string("{{ content }}<|im_end|>")})
    assert facts.document["end_ids"] == []
    assert facts.document["chat_templates"] == {f"{TEMPLATE}.default": "chat_templates/default.txt"}


def test_of_control_tokens_with_the_same_text_the_lowest_id_ends_turns():
    rows = [("a", NORMAL), ("b", NORMAL), ("ab", NORMAL), ("<e>", CONTROL), ("<e>", CONTROL)]
    facts = facts_of({**NONE_NAMED, TEMPLATE: string("{{ content }}<e>")}, rows=rows, merges=["a b"])
    assert [end["id"] for end in facts.document["end_ids"]] == [3]


@pytest.mark.parametrize(
    ("named", "stated", "expected"),
    [
        ("qwen2", None, ("qwen2", "model", True)),
        ("deepseek-r1-qwen", None, ("deepseek-r1-qwen", "model", True)),
        ("llama-bpe", None, ("llama-bpe", "model", False)),
        (None, None, ("", None, False)),
        ("", None, ("", None, False)),
        ("gpt-2", "qwen2", ("qwen2", "manifest", True)),
        (None, "qwen2", ("qwen2", "manifest", True)),
    ],
)
def test_the_pre_tokenizer_is_named_never_guessed(named, stated, expected):
    changes = {PRE: None if named is None else string(named)}
    found = facts_of(changes, stated_pre=stated).document["pre_tokenizer"]
    assert (found["name"], found["named_by"], found["served"]) == expected
    assert found["nfc"] is found["served"]
    assert bool(found["class_tables"]) is bool(found["nfc_tables"]) is found["served"]


def test_an_image_of_an_unknown_pre_tokenizer_does_not_encode():
    small = SmallVocabulary([(b"a", NORMAL)])
    for name in ("llama-bpe", ""):
        tables = ImageTables(verify_image(small.image(pre_name=name, nfc=False)))
        words = "pre-tokenizer 'llama-bpe' is not known here" if name else "the model names no pre-tokenizer"
        assert refusal(Encoder, tables, error=PretokenizerError).startswith(words)


def test_types_three_and_four_and_a_normal_token_that_looks_like_them():
    """3 and 4 are one id each, the normal one never is; `</s>` is atomic though it does not look it."""
    chars = sorted(set("<|x>yu/s"))
    rows = [(char, NORMAL) for char in chars] + [
        ("<|", NORMAL), ("<|x|>", NORMAL), ("<|y|>", CONTROL), ("<|u|>", USER_DEFINED), ("</s>", CONTROL),
    ]  # fmt: skip
    vocabulary = read_vocabulary(gguf_of(NONE_NAMED, rows=rows, merges=["< |"]))
    small = SmallVocabulary(
        list(zip(vocabulary.tokens, vocabulary.types.tolist(), strict=True)),
        list(
            zip(
                *(
                    column.tolist()
                    for column in (vocabulary.merges.left, vocabulary.merges.right, vocabulary.merges.out)
                ),
                strict=True,
            )
        ),
    )
    encoder = Encoder(ImageTables(verify_image(small.image())))
    ids = {text: token for token, (text, _) in enumerate(rows)}
    assert encoder.encode("<|y|>") == [ids["<|y|>"]]
    assert encoder.encode("<|u|>") == [ids["<|u|>"]]
    assert encoder.encode("</s>") == [ids["</s>"]]
    assert encoder.encode("<|x|>") == [ids[part] for part in ("<|", "x", "|", ">")]
    assert Encoder(ImageTables(verify_image(small.image())), "user").encode("</s>") == [
        ids[c] for c in "</s>"
    ]


def test_duplicates_are_told_with_both_ids():
    facts = facts_of(
        NONE_NAMED, rows=[("a", NORMAL), ("b", NORMAL), ("a", NORMAL), ("ab", NORMAL)], merges=["a b"]
    )
    assert facts.document["duplicates"] == [(0, 2)]
    assert facts.warnings == (
        "texts that an earlier token has already: 1, the first 'a' as 0 and 2; look-ups by text give the lowest id",
    )
    assert facts.document["counts"]["tokens"] == 4


def test_long_lists_are_cut_and_their_counts_are_whole():
    rows = [
        ("a", NORMAL),
        ("b", NORMAL),
        ("ab", NORMAL),
        *[("b", NORMAL)] * 150,
        *[(f"ax{n}", NORMAL) for n in range(120)],
    ]
    facts = facts_of(NONE_NAMED, rows=rows, merges=["a b"])
    assert len(facts.document["duplicates"]) == 100
    assert facts.warnings[0].startswith(
        "texts that an earlier token has already: 150, the first 'b' as 1 and 3"
    )
    assert (len(facts.document["unreachable"]), facts.document["counts"]["unreachable"]) == (100, 120)


def test_a_hostile_duplicate_is_shown_safely():
    rows = [("a", NORMAL), ("b", NORMAL), ("ab", NORMAL), ("\x1b[2J\n", CONTROL), ("\x1b[2J\n", CONTROL)]
    facts = facts_of(NONE_NAMED, rows=rows, merges=["a b"])
    assert facts.warnings[0].startswith(
        r"texts that an earlier token has already: 1, the first '\x1b[2J\n' as 3 and 4; "
    )


def test_unused_tokens_in_the_middle_are_counted_by_their_type_only():
    rows = [*tokens()[:256], ("ab", NORMAL), ("[PAD257]", UNUSED), ("<x>", UNKNOWN)]
    document = facts_of(NONE_NAMED, rows=rows, merges=["a b"]).document
    counts = document["counts"]
    assert (counts["base"], counts["added"], counts["padded"], counts["types"]["unused"]) == (257, 1, 0, 1)
    assert [entry["id"] for entry in document["added_tokens"]] == [258]
