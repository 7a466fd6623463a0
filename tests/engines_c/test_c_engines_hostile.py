"""Broken files: refused with the place and the words of the Python readers, whatever is broken; nothing crashes."""

from __future__ import annotations

import random
import struct

import pytest
from engine_files import (
    ALPHABETS,
    SMALL_VOCAB,
    framed,
    refusal,
    small_tokenizer,
    tokenizer_file,
    vocab_file,
)
from engines_driver import (
    DOCUMENTED,
    GREEDY,
    GREEDY_STATUS,
    LAYOUTS,
    LOADER,
    NONE,
    TOKBIN_STATUS,
    VARIANTS,
    Requests,
    name_of,
)

ENGINES = [(GREEDY, ""), (DOCUMENTED, "documented"), (LOADER, "loader")]
TEXTS = ["abc ab's <|im_end|> aaaa\n\n\n..... <think> é12", "", " a", b"\xff\xc3\xa9\x00\xe4"]
OWN_WORDS = ("text", "byte_unicode_map", "byte_glyphs")
"""Fields whose contents the C library does not quote."""


def small_file(engine, layout):
    return SMALL_VOCAB if engine == GREEDY else small_tokenizer(layout)


def use(requests, engine):
    """Encode and decode with what is open, if anything is."""
    for text in TEXTS:
        for option in VARIANTS.values() if engine == GREEDY else (NONE, 3):
            requests.encode(engine, text, option)
    requests.decode(engine, [*range(12), 26, 0xFFFFFFFE])
    return 2 + len(TEXTS) * (len(VARIANTS) if engine == GREEDY else 2)


def assert_same_refusal(engine, opened, expected):
    """Compare what the library said with the Python reader's refusal."""
    if expected is None:
        assert opened.status == 0, opened
        return
    assert opened.status != 0, expected
    place, _, _ = expected.partition(": expected")
    if place.rpartition(" at ")[0].rpartition(".")[2] in OWN_WORDS and "bytes before the end" not in expected:
        assert opened.message.startswith(f"{place}: expected "), (opened, expected)
    else:
        assert opened.message == expected


def broken_files(engine, layout):
    """Give a file for every way to be refused."""
    if engine == GREEDY:
        yield "NO_COUNT", b"\3\0\0"
        yield "TOO_MANY_ENTRIES", vocab_file(count=151_937)
        yield "BAD_COUNT", vocab_file(b"ab", b"cd", count=3)
        yield "CUT_ENTRY", vocab_file(b"a" * 9, b"b")[:-6]
        yield "BAD_LENGTH", vocab_file(b"a", b"bcd")[:-1]
        yield "BAD_ID", vocab_file(b"a", b"b", b"c", ids=(0, 2, 1))
        yield "BYTES_LEFT", vocab_file(b"a") + b"\0"
        return
    texts, merges, special = [b"a", b"b", b"ab", b"<s>"], [(0, 1)], [(3, b"<s>")]
    alphabet = bytearray(ALPHABETS[layout])
    alphabet[77] ^= 1
    made = lambda *parts, **changes: tokenizer_file(layout, *parts, **changes)  # noqa: E731
    sound = made(texts, merges, special)
    words = 16 if layout == "loader" else 12
    for short in range(0, words, 3):
        yield "CUT_HEADER", sound[:short]
    yield "BAD_COUNT", made(texts, merges, special, counts=(600, 1, 1))
    yield "BAD_COUNT", made(texts, merges, special, counts=(4, 1, 2**32 - 1))
    yield "CUT_STRING", sound[: words + 18]
    yield "BAD_LENGTH", sound[: words + 22]
    yield "BAD_LENGTH", made(texts, merges, special, counts=(4, 1, 10))
    yield "CUT_LIST", made(texts, merges, special, counts=(4, 2**32 - 1, 1))
    yield "CUT_LIST", sound[: words + 30]
    yield "CUT_LIST", sound[:-1]
    yield "NUL", made([b"a", b"b\0", b"\xff"])
    yield "NOT_UTF8", made([b"a", b"b\xc3", b"\x80"])
    yield "BAD_ID", made(texts, [(0, 1), (1, 4)], special)
    yield "BAD_ID", made(texts, [(0, 9), (2**32 - 1, 1)], special)
    yield "BAD_ID", made(texts, merges, [(4, b"<s>")])
    yield "BAD_ORDER", made(texts, merges, [(3, b"<s>"), (3, b"<s>")])
    yield "BAD_ORDER", made(texts, merges, [(3, b"<s>"), (0, b"a")])
    yield "BAD_TEXT", made(texts, merges, [(3, b"<s")])
    yield "BAD_TEXT", made(texts, merges, [(3, b"<t>")])
    yield "BAD_ALPHABET", made(texts, merges, special, alphabet=bytes(alphabet))
    yield "BYTES_LEFT", sound + b"\0"
    if layout == "loader":
        yield "BAD_LONGEST", made(texts, longest=4)
        yield "BAD_LONGEST", made([], longest=1)


@pytest.mark.parametrize("kind", ["gcc", "sanitized", "aarch64"])
@pytest.mark.parametrize(("engine", "layout"), ENGINES)
def test_every_refusal(driver, kind, engine, layout):
    names, files = zip(*broken_files(engine, layout), strict=True)
    requests = Requests()
    for file in files:
        requests.open(engine, file)
    answers = driver(kind).run(requests)
    assert [name_of(engine, answer.status) for answer in answers] == list(names)
    for file, answer in zip(files, answers, strict=True):
        assert_same_refusal(engine, answer, refusal(engine, layout, file))
        assert 0 <= answer.offset <= len(file)
    known = GREEDY_STATUS if engine == GREEDY else TOKBIN_STATUS
    first = known["NO_COUNT" if engine == GREEDY else "CUT_HEADER"]
    slow = {"CROWDED_BUCKET", "TOO_LONG_MERGES"}  # of files whose layout is sound
    expected = {name for name, status in known.items() if status >= first} - slow
    assert set(names) == expected - ({"BAD_LONGEST"} if layout == "documented" else set())


UTF8 = [
    b"\xc3\xa9", b"\xe4\xb8\xad", b"\xf0\x9f\x98\x80", b"\xf4\x8f\xbf\xbf", b"\xed\x9f\xbf", b"\xee\x80\x80",
    b"\xdf\xbf", b"\xe0\xa0\x80", b"\xf0\x90\x80\x80", b"\x7f", b"a\xc2\x80b",
]  # fmt: skip
NOT_UTF8 = [
    b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc3", b"\xc3a", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xe4\xb8",
    b"\xe4\xb8a", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf0\x9f\x98", b"\xff",
    b"\xfe", b"ab\xc3\xa9\xa9",
]  # fmt: skip


def test_what_is_utf8(driver):
    requests = Requests()
    for text in UTF8 + NOT_UTF8:
        requests.open(DOCUMENTED, tokenizer_file("documented", [b"a", text, b"b"]))
    found = [name_of(DOCUMENTED, answer.status) for answer in driver("sanitized").run(requests)]
    assert found == ["OK"] * len(UTF8) + ["NOT_UTF8"] * len(NOT_UTF8)
    for text in UTF8:
        assert text.decode()
    for text in NOT_UTF8:
        assert refusal(DOCUMENTED, "documented", tokenizer_file("documented", [b"a", text, b"b"]))


@pytest.mark.parametrize("kind", ["sanitized", "sanitized by gcc"])
@pytest.mark.parametrize(("engine", "layout"), ENGINES)
def test_a_small_file_cut_anywhere(driver, kind, engine, layout):
    file = small_file(engine, layout)
    requests = Requests()
    requests.open(engine, file)
    for length in range(len(file)):
        requests.reopen(engine, length)
    sound, *answers = driver(kind).run(requests)
    assert sound.status == 0
    for length, answer in enumerate(answers):
        assert_same_refusal(engine, answer, refusal(engine, layout, file[:length]))
        assert answer.status != 0


def section_starts(layout, file):
    """Give the offsets at which a real tokenizer.bin's parts begin."""
    _, n_merges, n_special = struct.unpack_from("<3I", file)
    words = 16 if layout == "loader" else 12
    end = len(file) - len(ALPHABETS[layout])
    special = file.rindex(struct.pack("<I", 151_643) + framed(b"<|endoftext|>"))
    assert file[:end].endswith(b"</think>")
    assert n_special == 26
    return [words, special - 8 * n_merges, special, end, words + (special - 8 * n_merges) // 2]


def test_a_real_tokenizer_cut_at_its_parts(driver, layout, tokenizer_file):
    engine = LAYOUTS[layout]
    starts = section_starts(layout, tokenizer_file)
    cuts = sorted(
        {0, *(start + more for start in starts for more in (-5, -1, 0, 1, 7)), len(tokenizer_file) - 1}
    )
    requests = Requests()
    requests.open(engine, tokenizer_file)
    for cut in cuts:
        requests.reopen(engine, cut)
    sound, *answers = driver("sanitized").run(requests)
    assert sound.status == 0
    for cut, answer in zip(cuts, answers, strict=True):
        assert_same_refusal(engine, answer, refusal(engine, layout, tokenizer_file[:cut]))
        assert answer.status != 0


def test_a_real_vocabulary_cut_at_entries(driver, vocab_file):
    chance = random.Random(181)
    cuts = [
        0,
        3,
        4,
        5,
        9,
        10,
        11,
        len(vocab_file) - 1,
        *(chance.randrange(len(vocab_file)) for _ in range(20)),
    ]
    requests = Requests()
    requests.open(GREEDY, vocab_file)
    for cut in cuts:
        requests.reopen(GREEDY, cut)
    sound, *answers = driver("sanitized").run(requests)
    assert sound.status == 0
    for cut, answer in zip(cuts, answers, strict=True):
        assert_same_refusal(GREEDY, answer, refusal(GREEDY, "", vocab_file[:cut]))
        assert answer.status != 0


WORDS = [0, 1, 2, 3, 7, 8, 255, 256, 65_535, 151_936, 2**31 - 1, 2**31, 2**32 - 4, 2**32 - 1]


def mutant(chance, file):
    """Change a file at random: bytes, words, parts left out, repeated or moved, the end cut or more behind it."""
    made = bytearray(file)
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        at = chance.randrange(len(made)) if made else 0
        kind = chance.randrange(9)
        size = chance.choice([1, 2, 4, 8, chance.randint(1, 60)])
        if kind < 3 and made:
            made[at] = chance.choice(
                [0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256), made[at] ^ 1 << chance.randrange(8)]
            )
        elif kind < 5:
            made[at : at + 4] = struct.pack("<I", chance.choice([*WORDS, chance.randrange(len(file))]))
        elif kind == 5:
            del made[at : at + size]
        elif kind == 6:
            made[at:at] = made[at : at + size]
        elif kind == 7:
            made[at:at] = chance.randbytes(size)
        else:
            del made[chance.randrange(len(made) + 1) :]
    return bytes(made)


@pytest.mark.parametrize("count", [1_500, pytest.param(40_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("engine", "layout"), ENGINES)
def test_random_changes_of_a_small_file(driver, engine, layout, count):
    """Refused or not as the Python reader says; what is not refused encodes and decodes without a crash."""
    chance = random.Random(182)
    file = small_file(engine, layout)
    mutants = [mutant(chance, file) for _ in range(count)]
    requests = Requests()
    for made in mutants:
        requests.open(engine, made)
        step = use(requests, engine)
    answers = driver("sanitized").run(requests)
    sound = 0
    for made, answer in zip(mutants, answers[::step], strict=True):
        assert_same_refusal(engine, answer, refusal(engine, layout, made))
        sound += answer.status == 0
    assert sound > count // 50, "some changes are harmless"
    assert sound < count // 2


@pytest.mark.parametrize("count", [5, pytest.param(400, marks=pytest.mark.long)])
@pytest.mark.parametrize(("engine", "layout"), ENGINES)
def test_random_bytes_of_a_real_file(driver, vocab_file, engine, layout, count):
    from real_models import RealTables

    chance = random.Random(183)
    file = vocab_file if engine == GREEDY else RealTables.of("qwen3").tokenizer_bin(layout)
    changes = [
        {chance.randrange(len(file)): chance.randrange(256) for _ in range(chance.choice([1, 1, 3, 20]))}
        for _ in range(count)
    ]
    requests = Requests()
    requests.open(engine, file)
    for change in changes:
        requests.reopen(engine, len(file), change)
        step = use(requests, engine)
    sound, *answers = driver("sanitized").run(requests)
    assert sound.status == 0
    for change, answer in zip(changes, answers[::step], strict=True):
        made = bytearray(file)
        for offset, value in change.items():
            made[offset] = value
        assert_same_refusal(engine, answer, refusal(engine, layout, bytes(made)))


def fnv1a(data):
    value = 2_166_136_261
    for byte in data:
        value = (value ^ byte) * 16_777_619 % 2**32
    return value


def crowded(strings, n_buckets, count):
    """Give the first strings that one bucket of a table would hold."""
    found = [text for text in strings if fnv1a(text) & (n_buckets - 1) == 5]
    return found[:count]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_table_made_to_be_slow(driver, layout):
    """More than 64 strings in a bucket are refused; equal ones count once, and so do sound ones."""
    engine = LAYOUTS[layout]
    names = crowded((b"%06d" % number for number in range(60_000)), 256, 200)
    files = [names[:64], names[:65], names[:64] + [names[0]] * 100, names]
    files = [[*texts, *[b"x"] * (200 - len(texts))] for texts in files]  # all of 256 buckets
    requests = Requests()
    for texts in files:
        requests.open(engine, tokenizer_file(layout, texts))
    answers = driver("sanitized").run(requests)
    names = [name_of(engine, answer.status) for answer in answers]
    assert names == ["OK", "CROWDED_BUCKET", "OK", "CROWDED_BUCKET"]
    assert answers[1].message.startswith("vocab[64].text at offset ")
    assert answers[1].message.endswith(": expected at most 64 strings with like hashes, found more")


def test_a_merge_table_made_to_be_slow(driver):
    texts = [b"a" * length for length in range(1, 401)]
    pairs = [struct.pack("<2I", left, right) for left in range(200) for right in range(199)]
    merges = [struct.unpack("<2I", pair) for pair in crowded(pairs, 128, 128)]
    assert len(merges) == 128
    for count, name in ((64, "OK"), (65, "CROWDED_BUCKET")):
        some = merges[:count] + merges[:1] * (128 - count)
        opened = driver().opened(DOCUMENTED, tokenizer_file("documented", texts, some))
        assert name_of(DOCUMENTED, opened.status) == name
    assert opened.message.startswith("merges[64] at offset ")


def test_merges_made_to_be_slow(driver):
    """Their joined texts may be 16 times as long as the file; merges that make no token's length cost nothing."""
    texts = [b"a" * length for length in range(1, 1_001)]
    pairs = [(left, right) for left in range(380, 500) for right in range(380, 500)]
    file = tokenizer_file("documented", texts, pairs)
    fits = 16 * len(file)
    assert sum(left + right + 2 for left, right in pairs) > fits
    opened = driver().opened(DOCUMENTED, file)
    assert name_of(DOCUMENTED, opened.status) == "TOO_LONG_MERGES"
    assert opened.message.endswith(
        f"expected merges whose texts joined take at most {fits} bytes, found more"
    )
    assert driver().opened(DOCUMENTED, tokenizer_file("documented", texts, pairs[:5_000])).status == 0
    assert driver().opened(DOCUMENTED, tokenizer_file("documented", texts, [(600, 600)] * 20_000)).status == 0


@pytest.mark.parametrize("engine", [GREEDY, DOCUMENTED])
def test_words_for_every_status(driver, engine):
    """Each has its own, they fit on a line whatever the numbers are, and none is cut."""
    known = GREEDY_STATUS if engine == GREEDY else TOKBIN_STATUS
    requests = Requests()
    for status in known.values():
        requests.words(engine, status)
    found = driver("sanitized").run(requests)
    for name, words in zip(known, found, strict=True):
        assert words, name
        assert words.isprintable(), name
        assert len(words) < 239, (name, words)
    alike = {"CUT_HEADER", "CUT_LIST"}
    different = [words for name, words in zip(known, found, strict=True) if name not in alike]
    assert len(set(different)) == len(different)
