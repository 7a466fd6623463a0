"""Packing: small vocabularies of every odd kind, and tables or facts that contradict each other."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from image_bytes import ImageBytes
from refusals import refusal
from small_vocabulary import (
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    PlainTables,
    SmallVocabulary,
    grown,
    image_facts,
)

from formats import vocab_bin
from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import MAX_MERGES, NONE, SECTIONS, Kind, Profile
from formats.q25tokrt.packer import pack_image
from formats.q25tokrt.verify import verify_image
from pipeline.bpe import image_tables
from pipeline.bpe.decoder import Decoder
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.errors import ByteTokenError
from pipeline.bpe.image_tables import ImageTables

SMALL = {
    "one token": SmallVocabulary([(b"a", NORMAL)]),
    "one added token": SmallVocabulary([(b"<s>", CONTROL)]),
    "one empty token": SmallVocabulary([(b"", NORMAL)]),
    "one pad": SmallVocabulary([(b"[PAD0]", UNUSED)], first_pad_id=0),
    "no byte tokens": SmallVocabulary([(b"ab", NORMAL), (b"cd", NORMAL), (b"abcd", NORMAL)], [(0, 1, 2)]),
    "no added tokens": grown("a|b", "ab|c", pads=3),
    "no pads": grown("a|b", added=[("<s>", CONTROL), ("<t>", USER_DEFINED)]),
    "no merges": grown(added=[("<s>", CONTROL)], pads=2),
    "pads of every type": SmallVocabulary(
        [(b"a", NORMAL), (b"[PAD0]", CONTROL), (b"[PAD1]", USER_DEFINED), (b"[PAD2]", UNUSED)], first_pad_id=1
    ),
    "duplicates": SmallVocabulary([(b"a", NORMAL), (b"b", NORMAL), (b"a", NORMAL), (b"<", CONTROL), (b"<", CONTROL)]),
    "unused in the middle": SmallVocabulary([(b"a", NORMAL), (b"[PAD5]", UNUSED), (b"b", NORMAL)]),
    "long": SmallVocabulary([(b" " * 65_535, NORMAL), (b"x" * 300, USER_DEFINED), (b"", NORMAL)]),
    "an empty token last": SmallVocabulary([(b"a", NORMAL), (b"<s>", CONTROL), (b"", NORMAL)]),
    "odd length": SmallVocabulary([(b"abc", NORMAL), (b"x" * 62, NORMAL)]),
    "bytes that are no text": SmallVocabulary([(bytes([byte]) * 3, NORMAL) for byte in range(256)]),
}  # fmt: skip


@pytest.mark.parametrize("align", [64, 128, 4096, 65_536])
@pytest.mark.parametrize("name", SMALL)
def test_small_images_are_packed_opened_and_verified(name, align):
    vocabulary = SMALL[name]
    image = verify_image(vocabulary.image(align), "small.img")
    index, token_bytes, merges = vocabulary.tables()
    assert bytes(image.sections[Kind.TOKEN_INDEX].data) == index
    assert bytes(image.sections[Kind.TOKEN_BYTES].data) == token_bytes
    assert bytes(image.sections[Kind.MERGE_TABLE].data) == merges
    assert len(image.data) % align == 0
    assert all(section.place.offset % align == 0 for section in image.sections.values())
    assert image.header.section_align == align
    assert image.header.n_tokens == len(vocabulary.tokens)
    tables, plain = ImageTables(image), PlainTables(vocabulary)
    assert tables.first_pad_id == plain.first_pad_id
    assert sorted(tables.added_tokens) == plain.added_tokens
    assert [tables.byte_token(byte) for byte in range(256)] == [plain.byte_token(byte) for byte in range(256)]
    for token in range(len(vocabulary.tokens)):
        assert (tables.token_bytes(token), tables.token_type(token)) == vocabulary.tokens[token]


def test_the_alignment_changes_nothing_but_places():
    vocabulary = SMALL["no pads"]
    images = [open_image(vocabulary.image(align)) for align in (64, 4096, 65_536)]
    for kind in SECTIONS[Profile.STANDARD]:
        assert len({bytes(image.sections[kind].data) for image in images}) == 1
    assert [len(image.data) for image in images] == sorted(len(image.data) for image in images)


@pytest.mark.parametrize("align", [0, -64, 1, 32, 48, 63, 96, 100, 131_072, 2**20, "64", None])
def test_another_alignment_is_refused_never_rounded(align):
    line = f"header.section_align: expected a power of two from 64 to 65536, found {align!r}"
    assert refusal(SMALL["one token"].image, align) == line


def test_sections_behind_one_of_odd_length_are_aligned():
    """A first section of 13 bytes: nothing behind it may be read at an odd address."""
    image = open_image(SMALL["odd length"].image())
    assert image.sections[Kind.TOKEN_BYTES].data.nbytes % 2 == 1
    assert [section.place.offset % 64 for section in image.sections.values()] == [0] * 6


def test_no_merges_leave_an_index_of_empty_slots():
    image = open_image(SMALL["no merges"].image())
    assert bytes(image.sections[Kind.MERGE_PAIR_INDEX].data) == bytes(64)
    assert (image.header.n_merges, image.header.max_probe) == (0, 1)
    assert ImageTables(image).merge(97, 98) is None


@pytest.mark.parametrize("nfc", [True, False])
def test_the_flag_for_normal_forms_reaches_the_encoder(nfc):
    image = verify_image(SMALL["no pads"].image(nfc=nfc))
    assert ImageTables(image).nfc is nfc
    assert ImageTables(image).pre == "qwen2"


def test_byte_tokens_are_normal_ones_the_lowest_first():
    vocabulary = SmallVocabulary(
        [(b"a", CONTROL), (b"b", NORMAL), (b"a", NORMAL), (b"b", NORMAL), (b"a", NORMAL), (b"c", UNUSED)]
    )
    words = open_image(vocabulary.image()).sections[Kind.BYTE_TOKEN_MAP].data.cast("I")
    assert (words[ord("a")], words[ord("b")], words[ord("c")]) == (2, 1, NONE)


TWO = grown("a|b", added=[("<s>", CONTROL)], pads=1)
N = len(TWO.tokens)


NAME = "pre_name at offset 0x40 (64): expected a pre-tokenizer's name of at most 31 printable ASCII characters, found"
STATE = "state model.pre in the manifest if the rule is a known one"


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"first_pad_id": N + 1}, f"first_pad_id at offset 0xB8 (184): expected at most {N}, found {N + 1}"),
        (
            {"first_pad_id": -1},
            "first_pad_id at offset 0xB8 (184): expected a value that fits 4 bytes, found -1",
        ),
        ({"bos_id": N}, f"bos_id at offset 0x68 (104): expected below {N}, or 0xFFFFFFFF, found {N}"),
        ({"eos_id": N}, f"eos_id at offset 0x6C (108): expected below {N}, or 0xFFFFFFFF, found {N}"),
        ({"pad_id": -1}, "pad_id at offset 0x70 (112): expected a value that fits 4 bytes, found -1"),
        ({"end_ids": (257, N)}, f"end_ids[1] at offset 0x7C (124): expected a token id below {N}, found {N}"),
        (
            {"end_ids": tuple(range(9))},
            "end_ids at offset 0x78 (120): expected at most 8 end ids, found 9; an image has no room for more",
        ),
        ({"pre_name": "q" * 32}, f"{NAME} '{'q' * 32}'; {STATE}"),
        ({"pre_name": "a b"}, f"{NAME} 'a b'; {STATE}"),
        ({"pre_name": "đ"}, f"{NAME} 'đ'; {STATE}"),
        ({"pre_name": "\x7f"}, rf"{NAME} '\x7f'; {STATE}"),
        ({"pre_name": "a\0"}, rf"{NAME} 'a\x00'; {STATE}"),
        (
            {"source_sha256": b"\1\2"},
            "source_sha256 at offset 0x98 (152): expected a value that fits 32 bytes, found bytes 01 02",
        ),
        (
            {"class_tables": 2**32},
            "class_tables at offset 0x60 (96): expected a value that fits 4 bytes, found 4294967296",
        ),
    ],
)
def test_facts_that_no_reader_would_take(facts, line):
    assert refusal(TWO.image, **facts) == f"header.{line}"


def test_padding_that_merges_could_make():
    assert refusal(TWO.image, first_pad_id=3) == (
        "token_index.bin: token_index[3].token_type at offset 0x1E (30): "
        "expected a type other than normal for padding, found 1"
    )


def test_names_of_31_characters_and_none_at_all_are_fine():
    assert open_image(TWO.image(pre_name="q" * 31)).pre_name == "q" * 31
    assert open_image(TWO.image(pre_name="")).pre_name == ""
    assert open_image(TWO.image(pre_name="!~")).pre_name == "!~"
    assert open_image(TWO.image(end_ids=tuple(range(8)))).end_ids == tuple(range(8))


def test_tables_that_contradict_each_other():
    index, token_bytes, merges = TWO.tables()
    facts = image_facts(first_pad_id=N - 1)
    assert "a sum of" in refusal(pack_image, index, token_bytes + b"x", merges, facts)
    assert "token_index[0].byte_offset" in refusal(pack_image, index[8:], token_bytes[1:], merges, facts)
    assert "merge_table[1]: " not in refusal(pack_image, index, token_bytes, merges + b"\0", facts)
    assert "expected a token id below 2" in refusal(pack_image, index[:16], token_bytes[:2], merges, facts)
    assert refusal(pack_image, b"", b"", b"", image_facts()) == (
        "header.n_tokens at offset 0x20 (32): expected at least 1, found 0"
    )


def test_an_added_token_without_bytes():
    vocabulary = SmallVocabulary([(b"a", NORMAL), (b"", USER_DEFINED)])
    assert refusal(vocabulary.image) == (
        "special_token_index: expected added tokens of at least one byte, found token 1 without any"
    )
    # As padding it is none of the added tokens.
    assert verify_image(SmallVocabulary(vocabulary.tokens, first_pad_id=1).image()).header.n_added == 0


def many_merges(count):
    """512 tokens `a`, and merges of any two of them: up to 262,144 pairs."""
    tokens = [(b"a", NORMAL)] * 512 + [(b"aa", NORMAL)]
    return SmallVocabulary(tokens, [(row >> 9, row & 511, 512) for row in range(count)])


def test_more_merges_than_a_slot_numbers():
    assert refusal(many_merges(262_143).image) == (
        "merge_pair_index: expected at most 262142 merges (a slot has 18 bits for the row), found 262143; "
        "the tables of ps_bundle can be made without an image"
    )
    raised = ImageBytes(SMALL["one token"].image()).set_header(n_merges=262_143).seal()
    assert refusal(open_image, bytes(raised)) == (
        "header.n_merges at offset 0x2C (44): expected at most 262142, found 262143"
    )


def test_as_many_merges_as_fit():
    image = verify_image(many_merges(262_142).image())
    assert image.header.n_merges == MAX_MERGES == 262_142
    tables = ImageTables(image)
    for row in (0, 1, 511, 512, 131_071, 262_141):
        assert tables.merge(row >> 9, row & 511) == (row, 512)
    assert tables.merge(511, 510) is None
    assert tables.merge(512, 0) is None


def test_merges_by_rank_are_not_the_longest_match():
    """`abcd` is `ab|cd`; the engine of vocab.bin takes the longest entry at each place: `abc|d`."""
    vocabulary = grown("c|d", "a|b", "ab|c")
    exact = Encoder(ImageTables(verify_image(vocabulary.image()))).encode("abcd")
    assert [vocabulary.tokens[token][0] for token in exact] == [b"ab", b"cd"]
    entries = list(vocab_bin.build(vocabulary.strings, vocabulary.types).entries)
    greedy, rest = [], b"abcd"
    while rest:
        greedy.append(max((entry for entry in entries if entry and rest.startswith(entry)), key=len))
        rest = rest[len(greedy[-1]) :]
    assert greedy == [b"abc", b"d"]


def test_machines_of_the_other_byte_order_read_the_same_words(monkeypatch):
    """There the words are copied and swapped; here that swaps words which were in order."""
    data = memoryview(bytes.fromhex("01 00 00 00  00 00 00 FF"))
    assert list(image_tables._words(data)) == [1, 0xFF000000]
    monkeypatch.setattr(image_tables.sys, "byteorder", "big")
    assert list(image_tables._words(data)) == [0x01000000, 0xFF]


ALPHABET = "ab 1é!\n"


@st.composite
def vocabularies(draw):
    """Draw tokens made by merges over a small alphabet, in any order of ids, with added tokens and pads."""
    chance = draw(st.randoms(use_true_random=False))
    rows = [(bytes([byte]), NORMAL) for byte in sorted(set(ALPHABET.encode()))]
    if draw(st.booleans()):
        rows += [(b"a", NORMAL), (b"", NORMAL)]  # a second token of the same bytes, and an empty one
    merges = {}
    for _ in range(draw(st.integers(0, 12))):
        left, right = (chance.randrange(len(rows)) for _ in "lr")
        data = rows[left][0] + rows[right][0]
        known = [token for token, row in enumerate(rows) if row[0] == data]
        out = known[0] if known and chance.random() < 0.9 else len(rows)
        if out == len(rows):
            rows.append((data, NORMAL))
        merges.setdefault((left, right), out)
    texts = draw(st.lists(st.text(ALPHABET + "<|>", min_size=1, max_size=4), max_size=5))
    kinds = st.sampled_from([CONTROL, USER_DEFINED, UNKNOWN, UNUSED])
    rows += [(text.encode(), draw(kinds)) for text in texts]
    order = list(range(len(rows)))
    chance.shuffle(order)
    place = {token: at for at, token in enumerate(order)}
    tokens = [rows[token] for token in order]
    ranked = [(place[left], place[right], place[out]) for (left, right), out in merges.items()]
    chance.shuffle(ranked)
    first_pad_id = len(tokens)
    pads = draw(st.integers(0, 3))
    tokens += [
        (b"[PAD%d]" % (first_pad_id + pad), draw(st.sampled_from([CONTROL, USER_DEFINED, UNUSED])))
        for pad in range(pads)
    ]
    return SmallVocabulary(tokens, ranked, first_pad_id)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    vocabulary=vocabularies(),
    texts=st.lists(st.text(ALPHABET + "<|>[PAD]", max_size=24), min_size=1, max_size=6),
    specials=st.sampled_from(["all", "user", "none"]),
    align=st.sampled_from([64, 256]),
)
def test_an_encoder_on_an_image_is_one_on_plain_tables(vocabulary, texts, specials, align):
    image = verify_image(vocabulary.image(align, eos_id=0, end_ids=(0,)))
    plain = PlainTables(vocabulary)
    one, other = Encoder(ImageTables(image), specials), Encoder(plain, specials)
    for text in [*texts, *[token.decode() for token, kind in vocabulary.tokens if kind != NORMAL]]:
        ids = _encoded(one, text)
        assert ids == _encoded(other, text)
        if isinstance(ids, list):
            assert Decoder(ImageTables(image)).decode(ids) == Decoder(plain).decode(ids) == text.encode()
            assert not any(token >= image.header.first_pad_id for token in ids)


def _encoded(encoder, text):
    try:
        return encoder.encode(text)
    except ByteTokenError as error:
        return str(error)
