"""Reading a vocabulary: what tokens become, and every refusal with key, index and offset."""

import numpy as np
import pytest
from refusals import refusal
from tiny_model import CONTROL, NORMAL, UNUSED, USER_DEFINED, tokens
from vocabulary_files import MERGES_KEY, TOKEN_TYPE, TOKENS, array, gguf_of, offset_of, string, vocabulary_of

from formats import ps_bundle, vocab_bin
from formats.byte_level import encode
from formats.ggml_types import GgmlType
from formats.gguf.value_types import ValueType
from formats.gguf.writer import TensorToWrite
from pipeline.vocabulary.vocabulary import read_vocabulary

UNKNOWN = 2
BYTES = [(encode(bytes([byte])), NORMAL) for byte in range(256)]


def rows_with(*more):
    """Single bytes, a, b and ab as in `a b`, then more tokens."""
    return [*BYTES, ("ab", NORMAL), *more]


def read(*more, **options):
    return vocabulary_of(rows=rows_with(*more), merges=["a b"], **options)


def test_a_tiny_model():
    vocabulary = vocabulary_of()
    assert len(vocabulary) == 272
    assert vocabulary.n_base == 262
    assert vocabulary.added_ids.tolist() == [262, 263, 264, 265]
    assert vocabulary.first_pad_id == 266
    assert vocabulary.embedding_rows is None
    assert vocabulary.tokens[259] == b" a"
    assert [vocabulary.texts[token].decode() for token in (256, 259, 262, 266)] == [
        "cd", "Ġa", "<|endoftext|>", "[PAD266]",
    ]  # fmt: skip
    assert list(vocabulary.merges.left) == [99, 97, 257, 32, 104, 32]
    assert list(vocabulary.merges.right) == [100, 98, 99, 97, 105, 260]
    assert list(vocabulary.merges.out) == [256, 257, 258, 259, 260, 261]


def test_tokens_become_the_bytes_they_stand_for():
    """By token type, never by looks: `đem` would be 11 65 6D if it were taken for byte-level text."""
    vocabulary = read(
        ("ÃŃ", NORMAL), ("å°", NORMAL), ("Ġđ", NORMAL),
        ("đem", USER_DEFINED), ("<|é|>", CONTROL), ("Ġ", UNKNOWN), ("\u2028\n\x00", USER_DEFINED),
    )  # fmt: skip
    assert [vocabulary.tokens[token].hex(" ").upper() for token in range(257, 264)] == [
        "C3 AD", "E5 B0", "20 11",
        "C4 91 65 6D", "3C 7C C3 A9 7C 3E", "C4 A0", "E2 80 A8 0A 00",
    ]  # fmt: skip
    assert [vocabulary.tokens[token] for token in range(256)] == [bytes([byte]) for byte in range(256)]


def test_bytes_of_two_tokens_join_to_one_character():
    vocabulary = read(("å°", NORMAL), ("±", NORMAL))
    index = ps_bundle.build_token_index(vocabulary.tokens, vocabulary.types)
    table = ps_bundle.token_strings(
        ps_bundle.read_token_index(index, len(vocabulary.tokens.joined())), vocabulary.tokens.joined()
    )
    assert (table[257] + table[258]).decode() == "就"
    entries = vocab_bin.build(vocabulary.tokens, vocabulary.types).entries
    assert entries[257] + entries[258] == "就".encode()


def test_an_empty_token_and_one_token_of_nothing_else():
    vocabulary = read(("", NORMAL), ("", USER_DEFINED), ("x", NORMAL))
    assert [vocabulary.tokens[token] for token in (257, 258, 259)] == [b"", b"", b"x"]


@pytest.mark.parametrize("size", [300, 65_535])
def test_a_token_of_many_blanks_is_read(size):
    assert read(("Ġ" * size, NORMAL)).tokens[257] == b" " * size


@pytest.mark.parametrize(("text", "kind"), [("Ġ" * 65_536, NORMAL), ("x" * 65_536, USER_DEFINED)])
def test_a_token_longer_than_any_table_can_state_is_refused(text, kind):
    line = refusal(read, (text, kind))
    assert line.startswith("t.gguf: key 'tokenizer.ggml.tokens'[257] at offset 0x")
    assert line.endswith(
        ": expected tokens of at most 65535 bytes, as the tables state lengths in 16 bits, found token 257 of "
        "65536 bytes; this vocabulary cannot be packed"
    )


def refused(changes=None, *, key, index=None, **more):
    """Read a changed model, and return what the refusal says behind file, key and offset."""
    gguf = gguf_of(changes, **more)
    line = refusal(read_vocabulary, gguf)
    start = f"t.gguf: key '{key}'"
    if index is None:
        assert line.startswith(f"{start} at offset 0x")
        return line.partition("): ")[2]
    start += f"[{index}] at {offset_of(gguf, key, index)}: "
    assert line.startswith(start)
    return line.removeprefix(start)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("回", "found U+56DE in '回'"),
        ("a b", "found U+0020 in 'a b'"),
        ("ab\n", r"found U+000A in 'ab\n'"),
        ("Ńń", "found U+0144 in 'Ńń'"),
        ("a\xad", r"found U+00AD in 'a\xad'"),
        ("\x7f", r"found U+007F in '\x7f'"),
        ("\xa0", r"found U+00A0 in '\xa0'"),
        ("😀", "found U+1F600 in '😀'"),
    ],
)
def test_a_normal_token_outside_the_byte_alphabet(text, words):
    for rows in (rows_with((text, NORMAL)), rows_with(("", NORMAL), (text, NORMAL), ("a", NORMAL))):
        index = next(at for at, row in enumerate(rows) if row == (text, NORMAL))
        found = refused(key=TOKENS, index=index, rows=rows, merges=["a b"])
        assert (
            found
            == f"expected characters of the byte alphabet, as normal tokens of byte-level BPE have, {words}"
        )


@pytest.mark.parametrize(
    "data",
    [b"\xc4", b"a\xc4", b"\xc4a", b"\xa0", b"a\x80", b"\xc4\xa0\xa0", b"\xe5a", b"\xff", b"\xf0\x9f\x98",
     b"\xc1\xa1", b"\xc0\xa1", b"\xc4\xc4\xa0", b"\xed\xa0\x80", b"\xe5\x9b"],
)  # fmt: skip
@pytest.mark.parametrize("kind", [NORMAL, CONTROL, USER_DEFINED, UNUSED])
def test_texts_that_are_not_utf8(data, kind):
    """Alone, between others, and where the rest of a character stands in the next token."""
    for after in ("a", b"\xa0", b"\x9e"):
        rows = rows_with((data, kind), (after, NORMAL))
        assert refused(key=TOKENS, index=257, rows=rows, merges=["a b"]) == (
            f"expected text in UTF-8, found bytes {data.hex(' ')}"
        )


@pytest.mark.parametrize(
    "kind", [ValueType.UINT32, ValueType.UINT64, ValueType.INT64, ValueType.INT8, ValueType.UINT8]
)
def test_types_of_any_integer_are_read(kind):
    vocabulary = vocabulary_of({TOKEN_TYPE: array([row[1] for row in tokens()], kind)})
    assert vocabulary.types.dtype == np.int32
    assert vocabulary.types.tolist() == [row[1] for row in tokens()]


@pytest.mark.parametrize("kind", [0, 6, 7, -1, 255])
def test_a_type_that_byte_level_bpe_has_not(kind):
    types = [row[1] for row in tokens()]
    types[100] = kind
    assert refused({TOKEN_TYPE: array(types, ValueType.INT32)}, key=TOKEN_TYPE, index=100) == (
        f"expected a type from 1 (normal) to 5 (unused), found {kind}"
    )


@pytest.mark.parametrize("count", [0, 1, 271, 273])
def test_types_for_another_number_of_tokens(count):
    found = refused({TOKEN_TYPE: array([1] * count, ValueType.INT32)}, key=TOKEN_TYPE)
    assert found == f"expected 272 types, one for each of tokenizer.ggml.tokens, found {count}"


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        (
            {TOKEN_TYPE: array([1.0] * 272, ValueType.FLOAT32)},
            TOKEN_TYPE,
            "expected an array of integers, found array of f32",
        ),
        ({TOKEN_TYPE: string("1")}, TOKEN_TYPE, "expected an array of integers, found string"),
        (
            {TOKENS: array([1, 2], ValueType.INT32)},
            TOKENS,
            "expected an array of strings, found array of i32",
        ),
        ({TOKENS: array([])}, TOKENS, "expected at least one string, for byte-level BPE, found none"),
        ({MERGES_KEY: array([])}, MERGES_KEY, "expected at least one string, for byte-level BPE, found none"),
        (
            {MERGES_KEY: array([3], ValueType.UINT8)},
            MERGES_KEY,
            "expected an array of strings, found array of u8",
        ),
        (
            {"tokenizer.ggml.model": (ValueType.UINT32, 2)},
            "tokenizer.ggml.model",
            "expected a string, found u32",
        ),
    ],
)
def test_a_key_of_the_wrong_type(changes, key, words):
    assert refused(changes, key=key).startswith(words)


@pytest.mark.parametrize("key", ["tokenizer.ggml.model", TOKENS, TOKEN_TYPE, MERGES_KEY])
def test_a_missing_key(key):
    line = refusal(read_vocabulary, gguf_of({key: None}))
    assert line.startswith(f"t.gguf: expected the key '{key}' with ")
    assert "found no such key" in line


@pytest.mark.parametrize("name", ["llama", "bert", "t5", "gemma4", "GPT2", "", "x\x1b[0m"])
def test_another_family_of_tokenizers(name):
    assert refused({"tokenizer.ggml.model": string(name)}, key="tokenizer.ggml.model") == (
        f"expected 'gpt2', found {name!r}; tokenizer model {name!r} is not byte-level BPE"
    )


def embedding(*ne):
    size = 2 * int(np.prod(ne)) if ne else 2
    return TensorToWrite("token_embd.weight", GgmlType.F16, ne, bytes(size))


@pytest.mark.parametrize(
    ("ne", "rows"), [((4, 272), 272), ((4, 300), 300), ((1, 272), 272), ((4, 272, 2), 272)]
)
def test_rows_of_the_embedding(ne, rows):
    assert vocabulary_of(tensors=[embedding(*ne)]).embedding_rows == rows


@pytest.mark.parametrize(("ne", "rows"), [((4, 271), 271), ((272,), 1), ((), 1), ((4, 0), 0)])
def test_fewer_rows_than_tokens(ne, rows):
    gguf = gguf_of(tensors=[embedding(*ne)])
    offset = gguf.tensors[0].entry_offset
    assert refusal(read_vocabulary, gguf) == (
        f"t.gguf: tensor 'token_embd.weight' at offset 0x{offset:X} ({offset}): "
        f"expected at least 272 rows, one for each token, found {rows} (ne {list(ne)})"
    )


def test_duplicates_are_kept_and_the_lowest_id_serves():
    vocabulary = vocabulary_of(
        rows=[("a", NORMAL), ("b", NORMAL), ("a", NORMAL), ("ab", NORMAL), ("ab", NORMAL), ("a", CONTROL)],
        merges=["a b"],
    )
    assert len(vocabulary) == 6
    assert vocabulary.duplicates() == [(0, 2), (3, 4), (0, 5)]
    assert (vocabulary.merges.left[0], vocabulary.merges.right[0], vocabulary.merges.out[0]) == (0, 1, 3)
    assert list(vocabulary.tokens) == [b"a", b"b", b"a", b"ab", b"ab", b"a"]


def test_merges_take_normal_tokens_even_behind_an_added_one_of_the_same_text():
    vocabulary = vocabulary_of(
        rows=[("a", CONTROL), ("a", NORMAL), ("b", NORMAL), ("ab", NORMAL)], merges=["a b"]
    )
    assert (vocabulary.merges.left[0], vocabulary.merges.out[0]) == (1, 3)


def test_tokens_that_no_merge_makes_are_counted():
    vocabulary = read(("xyz", NORMAL), ("ac", NORMAL), ("<x>", CONTROL), ("", NORMAL))
    assert vocabulary.unreachable_ids().tolist() == [257, 258, 260]


def test_a_merge_of_what_cannot_be_made_makes_nothing():
    """`bc` has no merge, so `abc` cannot come out although a merge makes it."""
    vocabulary = vocabulary_of(rows=rows_with(("bc", NORMAL), ("abc", NORMAL)), merges=["a b", "a bc"])
    assert vocabulary.unreachable_ids().tolist() == [257, 258]
    chain = vocabulary_of(rows=rows_with(("bc", NORMAL), ("abc", NORMAL)), merges=["a bc", "a b", "b c"])
    assert chain.unreachable_ids().tolist() == []


def test_a_long_chain_of_merges_is_followed_to_its_end():
    names = ["a" * size for size in range(1, 300)]
    merges = [f"{names[at]} a" for at in range(297, -1, -1)]
    vocabulary = vocabulary_of(rows=[(name, NORMAL) for name in names], merges=merges)
    assert vocabulary.unreachable_ids().tolist() == []


def test_unused_tokens_in_the_middle_are_neither_added_nor_padding():
    """Converters fill gaps between ids with `[PADn]` of type unused; no text may match those."""
    vocabulary = read(("<x>", CONTROL), ("[PAD258]", UNUSED), ("<y>", USER_DEFINED), ("[PAD260]", UNUSED))
    assert vocabulary.added_ids.tolist() == [257, 259]
    assert vocabulary.first_pad_id == 260
