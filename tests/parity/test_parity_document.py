"""parity.json and the tables made from it: what they say, that they add up, and that every flaw is found."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest
from small_models import small_assembly, small_vocabulary
from tiny_model import USER_DEFINED, tokens

from formats import tokenizer_bin, vocab_bin
from formats.errors import FormatError
from pipeline.parity.corpus import Sample
from pipeline.parity.judging import compare
from pipeline.parity.table import (
    aligned,
    class_rows,
    corpus_line,
    difference_lines,
    group_rows,
    ids_words,
    percent,
    pieces_words,
    summary_lines,
    summary_rows,
)
from pipeline.text_output import json_document
from pipeline.verification.parity_json import check_parity


def small_parties(assembly, vocabulary):
    """Give the parties of a small model that need no image."""
    packed = vocab_bin.build(vocabulary.tokens, vocabulary.types).data
    merges = vocabulary.merges
    other = tokenizer_bin.build(
        "documented", vocabulary.texts, merges.left, merges.right, vocabulary.added_ids
    )
    return assembly.of_vocab_bin(packed) + assembly.of_tokenizer_bin(other)


class FixedCorpus:
    """A corpus of given texts, a group a list."""

    name, unit = "given", "lines"

    def __init__(self, **groups):
        self.given = groups

    def samples(self):
        for group, texts in self.given.items():
            for number, text in enumerate(texts, 1):
                yield Sample(group, number, text)


def exact_party(assembly, encode=None):
    """Give a party by the name of the exact one; it encodes as the exact encoder does, or as told."""
    from pipeline.parity.assembly import EXACT
    from pipeline.parity.parties import StagedParty

    exact = assembly.exact
    if encode is None:
        encode = exact.encode
    return StagedParty(
        EXACT,
        "exact",
        "image",
        exact,
        encode=encode,
        stretches=exact.stretches,
        nfc=True,
        split=exact.split,
        merge=encode,
        token_bytes=assembly.tables.token_bytes,
    )


def document_of(*, listed=10, rows=None, **groups):
    assembly = small_assembly(rows=rows)
    parties = [exact_party(assembly), *small_parties(assembly, small_vocabulary(rows=rows))]
    return compare(assembly, parties, "ab" * 32, FixedCorpus(**groups), listed=listed).document


@pytest.fixture(scope="module")
def document():
    return document_of(one=["abcd", "a  b", "hi"], two=["\tx", "e\u0301 <tool>.", "中"])


def party_of(document, key):
    return next(party for party in document["parties"] if party["party"] == key)


def test_what_it_says(document):
    assert document["corpus"]["samples"] == 6
    assert [group["name"] for group in document["corpus"]["groups"]] == ["one", "two"]
    assert document["corpus"]["bytes"] == sum(
        len(text.encode()) for text in ["abcd", "a  b", "hi", "\tx", "e\u0301 <tool>.", "中"]
    )
    assert document["model"]["gguf_sha256"] == "ab" * 32
    assert (document["reference"]["library"], document["reference"]["pre_tokenizer"]) == (
        "tokenizers",
        "qwen2",
    )
    exact = party_of(document, "exact")
    assert (exact["equal"], exact["differences"], exact["classes"]) == (6, 0, {})
    base = party_of(document, "greedy_base")
    assert base["equal"] == 2
    assert base["classes"] == {"normalisation": 1, "unmatched byte": 1, "lost blank": 2, "merge order": 1}
    assert base["returned"] == 3
    first = next(entry for entry in document["differences"] if entry["party"] == "greedy_base")
    assert first == {
        "party": "greedy_base",
        "group": "one",
        "sample": 1,
        "start": 0,
        "end": 4,
        "bytes": "61626364",
        "text": "abcd",
        "classes": ["merge order"],
        "reference": {"ids": [257, 256], "pieces": ["ab", "cd"]},
        "found": {"ids": [258, 100], "pieces": ["abc", "d"]},
    }


def test_the_same_comparison_gives_the_same_bytes(document):
    again = document_of(one=["abcd", "a  b", "hi"], two=["\tx", "e\u0301 <tool>.", "中"])
    assert json_document(again) == json_document(document)
    assert json.loads(json_document(document)) == document


def test_it_is_verified(document):
    check_parity(json_document(document), "parity.json")


def test_differences_are_listed_up_to_a_number_of_each_class_and_all_counted():
    found = document_of(one=["abcd"] * 5 + ["\tx"] * 2, listed=2)
    base = party_of(found, "greedy_base")
    assert base["classes"] == {"unmatched byte": 2, "merge order": 5}
    listed = [entry for entry in found["differences"] if entry["party"] == "greedy_base"]
    assert [entry["sample"] for entry in listed] == [1, 2, 6, 7]
    check_parity(json_document(found), "p")
    assert document_of(one=["abcd"], listed=0)["differences"] == []


def test_added_tokens_that_the_library_decodes_wrongly_are_named():
    rows = tokens()
    rows[265] = ("đem", USER_DEFINED)
    found = document_of(one=["đem ab"], rows=rows)
    (entry,) = found["reference"]["decodes_otherwise"]
    assert (entry["id"], entry["text"]) == (265, "đem")
    assert summary_lines(found)[-1].startswith("note: tokenizers itself decodes token 265, 'đem', to ")
    assert found["reference"]["returned"] == 1, "the model's own bytes are right"


PATHS = [
    (["parity_version"], 2, "parity_version: expected 1, the version that is known here, found 2"),
    (["parity_version"], True, "parity_version: expected a whole number from 0 on, found 'true'"),
    (["corpus"], [], "corpus: expected an object, found '[]'"),
    (["corpus", "samples"], 7, "corpus.samples: expected 6, the sum of its groups, found 7"),
    (["corpus", "groups", 0, "name"], 5, "corpus.groups[0].name: expected a name, found '5'"),
    (
        ["corpus", "groups", 0, "bytes"],
        -1,
        "corpus.groups[0].bytes: expected a whole number from 0 on, found '-1'",
    ),
    (["corpus", "groups", 0, "samples"], 4, "corpus.samples: expected 7, the sum of its groups, found 6"),
    (["parties", 1, "samples"], 7, "parties[1].samples: expected 6, the sum of its groups, found 7"),
    (["parties", 1, "equal"], 7, "parties[1].equal: expected at most 6, the samples, found 7"),
    (["parties", 1, "equal"], 3, "parties[1].equal: expected 2, the sum of its groups, found 3"),
    (["parties", 1, "tokens"], 1.5, "parties[1].tokens: expected a whole number from 0 on, found '1.5'"),
    (["parties", 1, "differences"], 0, "parties[1].differences: expected 5, the sum of its classes, found 0"),
    (
        ["parties", 1, "groups", 0, "equal"],
        3,
        "parties[1].groups[0].equal: expected all samples exactly where",
    ),
    (
        ["parties", 1, "groups", 0, "samples"],
        2,
        "parties[1].groups[0].samples: expected 3, as the corpus has it",
    ),
    (
        ["parties", 1, "groups", 1, "name"],
        "x",
        "parties[1].groups[1].samples: expected None, as the corpus has it",
    ),
    (["parties", 1, "classes"], {"odd": 5}, "parties[1].classes: expected known classes, found 'odd'"),
    (["parties", 1, "classes"], {"special": 5}, "parties[1].classes: expected {'"),
    (
        ["parties", 1, "reference_tokens_differing"],
        10**6,
        "parties[1].reference_tokens_differing: expected at most",
    ),
    (["listed_differences"], 1, "differences: expected 1, listed of 'greedy_base' and 'lost blank', found 2"),
    (["differences"], [], "differences: expected 2, listed of 'greedy_base' and"),
    (["differences"], None, "differences: expected a list, found 'null'"),
    (["differences", 0, "party"], "x", "differences[0].party: expected one of the parties, found 'x'"),
    (
        ["differences", 0, "sample"],
        0,
        "differences[0].sample: expected a sample of the corpus, found 'one', 0",
    ),
    (
        ["differences", 0, "sample"],
        4,
        "differences[0].sample: expected a sample of the corpus, found 'one', 4",
    ),
    (
        ["differences", 0, "group"],
        "x",
        "differences[0].sample: expected a sample of the corpus, found 'x', 1",
    ),
    (["differences", 0, "bytes"], "61", "differences[0].bytes: expected 8, two digits a byte, found 2"),
    (["differences", 0, "classes"], [], "differences[0].classes: expected at least one class, found none"),
    (["differences", 0, "classes"], [7], "differences[0].classes: expected known classes, found 7"),
    (
        ["differences", 0, "found", "ids"],
        [257, 256],
        "differences[0].found: expected other ids than the reference's",
    ),
    (
        ["differences", 0, "found", "ids"],
        ["x"],
        "differences[0].found.ids[0]: expected a token id, found '\"x\"'",
    ),
    (
        ["differences", 0, "found", "pieces"],
        ["x"],
        "differences[0].found.pieces: expected 2, one for each id, found 1",
    ),
]


@pytest.mark.parametrize(("keys", "value", "line"), PATHS, ids=lambda value: "")
def test_every_flaw_is_found_with_its_place(document, keys, value, line):
    changed = deepcopy(document)
    place = changed
    for key in keys[:-1]:
        place = place[key]
    assert place[keys[-1]] != value or value is True
    place[keys[-1]] = value
    with pytest.raises(FormatError) as caught:
        check_parity(json_document(changed), "p.json")
    assert str(caught.value).startswith(f"p.json: {line}"), str(caught.value)


@pytest.mark.parametrize("key", ["parity_version", "corpus", "parties", "differences", "listed_differences"])
def test_a_missing_key_is_found(document, key):
    changed = {name: value for name, value in document.items() if name != key}
    with pytest.raises(FormatError, match=rf"^p: {key}: expected .*, found nothing$"):
        check_parity(json_document(changed), "p")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_what_is_no_such_document(data):
    with pytest.raises(FormatError, match=r"^p: "):
        check_parity(data, "p")


def test_tables(document):
    head, rows = summary_rows(document)
    assert [row[0] for row in rows] == ["reference", *(party["party"] for party in document["parties"])]
    assert all(len(row) == len(head) for row in rows)
    assert rows[0][1] == "6 of 6"
    assert corpus_line(document).startswith("corpus given: 6 samples (lines), ")
    head, rows = class_rows(document)
    assert head[0] == "differences by class"
    assert "other" not in head
    assert "exact" not in [row[0] for row in rows]
    head, rows = group_rows(document, ["one", "two"])
    assert ("greedy_base", "1/3", "1/3") in rows
    lines = summary_lines(document)
    assert any(line.startswith("one ") for line in lines)
    assert all(line.isprintable() and line == line.rstrip() for line in lines)


def test_shown_differences(document):
    shown = list(difference_lines(document, 1))
    assert shown[:3] == [
        "greedy_base: merge order: one, sample 1, bytes 0..4",
        "  reference  257 256  'ab' 'cd'",
        "  found      258 100  'abc' 'd'",
    ]
    assert "greedy_base: 1 more" in shown
    assert list(difference_lines(document, 0)) == []
    assert r"  found      0  '\x00'" in shown
    assert all(line.isprintable() for line in shown)


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 0, "0 %"),
        (0, 5, "0 %"),
        (5, 5, "100 %"),
        (1, 3, "33.33 %"),
        (1, 10**6, "0.01 %"),
        (10**6 - 1, 10**6, "99.99 %"),
    ],
)
def test_a_share_is_never_rounded_to_all_or_nothing(part, whole, words):
    assert percent(part, whole) == words


def test_long_lists_are_cut():
    assert ids_words([]) == "nothing"
    assert ids_words(range(3)) == "0 1 2"
    assert ids_words(range(100)).endswith(" 23 ... (100 ids)")
    assert pieces_words(["a"] * 100).endswith("'a' ...")
    assert pieces_words(["\\xe4", "\n"]) == r"'\xe4' '\n'"


def test_columns():
    assert aligned(("a", "bb"), [("ccc", "d"), ("", "10")]) == ["a    bb", "ccc   d", "     10"]


def test_the_verdict_on_the_exact_encoder():
    assembly = small_assembly()
    wrong = exact_party(assembly, lambda text: [7] if text == "ab" else assembly.exact.encode(text))
    corpus = FixedCorpus(texts=["hi", "ab", "cd", "x"])
    verdict = compare(assembly, [wrong], "00" * 32, corpus, listed=0)
    assert verdict.failure(75) is None
    assert verdict.failure(0) is None
    assert verdict.failure(76) == (
        "the exact encoder on the image gives the reference's ids for 3 of 4 samples, 75.00 %; at least 76 % are "
        "wanted; the first that differs: texts, sample 2, byte 0, 'ab': expected 257, found 7"
    )
    right = compare(assembly, [exact_party(assembly)], "00" * 32, corpus, listed=0)
    assert right.failure(100) is None


def test_wrong_ids_that_no_stage_gives_are_a_difference_all_the_same():
    """An encoder whose stages are right, and which yet goes wrong, does not pass for exact."""
    assembly = small_assembly()
    wrong = replace(
        exact_party(assembly), encode=lambda text: [7] if text == "ab" else assembly.exact.encode(text)
    )
    verdict = compare(assembly, [wrong], "00" * 32, FixedCorpus(texts=["hi", "ab"]), listed=1)
    assert verdict.failure(100).endswith("texts, sample 2, byte 0, 'ab': expected 257, found 7")
    (listed,) = verdict.document["differences"]
    assert listed["classes"] == ["other"]
    check_parity(json_document(verdict.document), "p")


def test_the_built_in_texts_give_a_document_that_verifies(of_built_in_texts):
    check_parity(json_document(of_built_in_texts), "p")
    assert party_of(of_built_in_texts, "exact")["equal"] == of_built_in_texts["corpus"]["samples"]
