"""A text for each class of difference, and the claim of the class checked beside its name."""

import pytest
from parity_parties import differences

from pipeline.bpe.nfc import nfc
from pipeline.parity.causes import Cause, explain
from pipeline.parity.corpus import TEXTS

GREEDY = ["greedy_base", "greedy_A", "greedy_AB", "greedy_specials_first"]
WITHOUT_SPECIALS_FIRST = GREEDY[:3]
PRE_TOKENIZED_OTHERWISE = ["rank_bpe", "tokenizer_bin"]


def each(parties, *texts):
    return [(party, text) for party in parties for text in texts]


EXAMPLES = {
    Cause.SPECIAL: each(
        [*WITHOUT_SPECIALS_FIRST, *PRE_TOKENIZED_OTHERWISE], "Hi.<|im_end|>", "x?</think>", "a.<tool_call>"
    )
    + each(["greedy_specials_first"], "a.<tool_call>", "x.<|fim_pad|>"),
    Cause.NORMALISATION: each(
        [*GREEDY, *PRE_TOKENIZED_OTHERWISE], "Mu\u0308ller", "\u212b", "\u1112\u1161\u11ab"
    ),
    Cause.UNMATCHED_BYTE: each(GREEDY, "a\tb", "x);\n", "a\t\t") + each(WITHOUT_SPECIALS_FIRST, "a\n\n"),
    Cause.BYTE_ALIAS: each(GREEDY, "\u0101", "\u0119", "x\u0105"),
    Cause.LOST_BLANK: each(["greedy_base", "greedy_specials_first"], " apple", "The 5th", "x ", "a   b")
    + each(["greedy_A"], "The 5th", "x ")
    + each(["greedy_AB"], "x ", "a   b"),
    Cause.PRE_TOKENIZER: each([*GREEDY, "rank_bpe"], "\u05d5\u05b9")
    + each(["tokenizer_bin"], "你好", "a (b)", "x  y", "größe", "don't\u2019s")
    + each(["rank_bpe"], "x  y"),
    Cause.MERGE_ORDER: each(GREEDY, "中国的首都是北京", "x Kestrel", "x Goshawk"),
}


def examples():
    return [
        pytest.param(cause, party, text, id=f"{cause}-{party}-{ascii(text)[1:-1]}")
        for cause, found in EXAMPLES.items()
        for party, text in found
    ]


@pytest.mark.parametrize(("cause", "party", "text"), examples())
def test_a_text_for_each_class(assembly, parties, cause, party, text):
    found = differences(assembly, parties[party], text)
    assert [difference.causes[0] for difference in found] == [cause], found
    (difference,) = found
    assert difference.expected != difference.found
    CLAIMS[cause](assembly, parties[party], text, difference)


def test_every_class_but_the_last_has_examples():
    assert set(EXAMPLES) == set(Cause) - {Cause.OTHER}


def stood_for(assembly, ids):
    return b"".join(map(assembly.tables.token_bytes, ids))


def claim_special(assembly, party, text, difference):
    """The reference has a special token there, and without it the party agrees."""
    added = set(assembly.tables.added_tokens)
    (special,) = added & set(difference.expected)
    name = assembly.tables.token_bytes(special).decode()
    for part in text.split(name):
        assert party.encode(part) == assembly.reference.encode(part)


def claim_normalisation(assembly, party, text, difference):
    """In NFC the text gives the same ids, up to what the reference's pieces and merges do beside."""
    assert nfc(text) != text
    assert stood_for(assembly, difference.found) == difference.data
    assert stood_for(assembly, difference.expected) == nfc(difference.data.decode()).encode()
    if difference.causes == (Cause.NORMALISATION,):
        assert party.encode(nfc(text)) == assembly.reference.encode(text)


def claim_unmatched_byte(assembly, party, text, difference):
    """A byte below 20 is there, and where it stands as the entries have it the ids are the reference's."""
    low = [byte for byte in difference.data if byte < 0x20]
    assert low
    assert 0 in difference.found or difference.found.count(198) == low.count(0x0A)
    spelled = text.replace("\n", "Ċ").replace("\t", "ĉ")
    assert party.encode(spelled) == assembly.reference.encode(text)


def claim_byte_alias(assembly, party, text, difference):
    """The id taken stands for a control character, and is stored as the letter is."""
    stands_for = stood_for(assembly, difference.found)
    assert any(byte <= 0x20 for byte in stands_for)
    assert not any(byte <= 0x20 for byte in difference.data)
    assert stood_for(assembly, difference.expected) == difference.data


def claim_lost_blank(assembly, party, text, difference):
    """The bytes are those of the text but for blanks, and with blanks as the entries have them the ids agree."""
    stands_for = stood_for(assembly, difference.found)
    assert stands_for.replace(b" ", b"") == difference.data.replace(b" ", b"")
    assert stands_for.count(b" ") < difference.data.count(b" ")
    if difference.causes == (Cause.LOST_BLANK,):
        assert party.encode(text.replace(" ", "Ġ")) == assembly.reference.encode(text)


def claim_pre_tokenizer(assembly, party, text, difference):
    """The bytes are right, and piece by piece the party has the reference's ids."""
    assert stood_for(assembly, difference.found) == difference.data
    pieces = assembly.exact.split(text)
    assert len(pieces) > 1 or len(party.split(text)) > 1
    trace = party.trace(text, frozenset({Cause.PRE_TOKENIZER}))
    assert [span.token for span in trace] == assembly.reference.encode(text)


def claim_merge_order(assembly, party, text, difference):
    """Both stand for the same bytes within one piece, whose merges by rank give the reference's ids."""
    assert (
        stood_for(assembly, difference.found) == stood_for(assembly, difference.expected) == difference.data
    )
    at = 0
    for piece in assembly.exact.split(text):
        start, at = at, at + len(piece.encode())
        if start <= difference.start < at:
            assert difference.end <= at
            ids = assembly.exact.piece_ids(piece)
            assert any(
                tuple(ids[index : index + len(difference.expected)]) == difference.expected
                for index in range(len(ids))
            )


CLAIMS = {
    Cause.SPECIAL: claim_special,
    Cause.NORMALISATION: claim_normalisation,
    Cause.UNMATCHED_BYTE: claim_unmatched_byte,
    Cause.BYTE_ALIAS: claim_byte_alias,
    Cause.LOST_BLANK: claim_lost_blank,
    Cause.PRE_TOKENIZER: claim_pre_tokenizer,
    Cause.MERGE_ORDER: claim_merge_order,
}


def test_several_causes_together(assembly, parties):
    """A run of blanks: kept, they would still be taken as one token too many."""
    (difference,) = differences(assembly, parties["greedy_base"], "a  b")
    assert difference.causes == (Cause.LOST_BLANK, Cause.PRE_TOKENIZER)
    assert (difference.data, difference.expected, difference.found) == (b"  b", (220, 293), (293,))


def test_differences_of_one_text_are_told_apart(assembly, parties):
    found = differences(assembly, parties["greedy_base"], "x\ty中国的首都是 5<|im_end|>.<|im_end|>")
    assert [(difference.data.decode(), difference.causes) for difference in found] == [
        ("\ty", (Cause.UNMATCHED_BYTE,)),
        ("首都是", (Cause.MERGE_ORDER,)),
        (" 5", (Cause.LOST_BLANK,)),
        (".<|im_end|>", (Cause.SPECIAL,)),
    ]


def test_the_known_probes_have_their_known_classes(assembly, parties):
    for text, party, cause in [
        ("回答：中国的首都是北京", "greedy_base", Cause.MERGE_ORDER),
        (" apple pie", "greedy_base", Cause.LOST_BLANK),
        ("The 5th 版本 of 学习", "greedy_base", Cause.LOST_BLANK),
        ("The 5th 版本 of 学习", "greedy_A", Cause.LOST_BLANK),
        ("Red Kestrel: vLLM on RK3588", "greedy_base", Cause.MERGE_ORDER),
        ("Red Kestrel: vLLM on RK3588", "greedy_AB", Cause.MERGE_ORDER),
    ]:
        assert [difference.causes for difference in differences(assembly, parties[party], text)] == [(cause,)]
    for text, party in [(" apple pie", "greedy_A"), ("The 5th 版本 of 学习", "greedy_AB")]:
        assert differences(assembly, parties[party], text) == []


def test_nothing_of_the_built_in_texts_is_left_unexplained(of_built_in_texts):
    found = {party["party"]: party for party in of_built_in_texts["parties"]}
    assert [key for key, party in found.items() if Cause.OTHER in party["classes"]] == []
    assert found["exact"]["equal"] == found["exact"]["samples"] > 150
    assert len(list(TEXTS.glob("*.txt"))) == len(found["exact"]["groups"])


STAGES = (Cause.SPECIAL, Cause.LOST_BLANK, Cause.PRE_TOKENIZER, Cause.MERGE_ORDER)


@pytest.mark.parametrize(
    ("needed", "causes"),
    [
        ([{Cause.SPECIAL}], (Cause.SPECIAL,)),
        ([{Cause.MERGE_ORDER}, {Cause.LOST_BLANK}], (Cause.LOST_BLANK,)),
        ([{Cause.LOST_BLANK, Cause.MERGE_ORDER}], (Cause.LOST_BLANK, Cause.MERGE_ORDER)),
        (
            [{Cause.SPECIAL, Cause.LOST_BLANK, Cause.MERGE_ORDER}],
            (Cause.SPECIAL, Cause.LOST_BLANK, Cause.MERGE_ORDER),
        ),
        ([set(STAGES)], STAGES),
        ([{Cause.BYTE_ALIAS}], (Cause.OTHER,)),
        ([], (Cause.OTHER,)),
    ],
)
def test_the_search_for_causes(needed, causes):
    """A difference is gone where one of the needed sets is mended: the smallest explanation is found."""

    def holds(number, mended):
        assert number == 7
        return any(stages <= mended for stages in needed)

    assert explain([7], STAGES, STAGES, holds) == {7: causes}
    assert explain([7], STAGES, (), holds)[7][-1:] == causes[-1:], "and without the quick tries, too"


def test_what_is_explained_is_not_tried_again():
    asked = []

    def holds(number, mended):
        asked.append((number, mended))
        return Cause.SPECIAL in mended

    assert explain([1, 2], STAGES, STAGES, holds) == {1: (Cause.SPECIAL,), 2: (Cause.SPECIAL,)}
    assert asked == [(1, frozenset({Cause.SPECIAL})), (2, frozenset({Cause.SPECIAL}))]
    assert explain([], STAGES, STAGES, holds) == {}
