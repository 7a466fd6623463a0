"""The C engine against the Python one: the same ids, pieces, bytes and refusals."""

import json
import random
import struct

import pytest
from bpe_texts import nasty_texts, real_texts
from real_models import GOLDEN
from small_vocabulary import CONTROL, UNUSED, USER_DEFINED, SmallVocabulary, grown, image_facts

from formats.q25tokrt.image import open_image
from formats.q25tokrt.packer import pack_image
from formats.q25tokrt.verify import verify_image
from pipeline.bpe.decoder import Decoder
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.image_tables import ImageTables
from pipeline.errors import ModelError, PipelineError, UsageError
from pipeline.native import engine as native
from pipeline.native.engine import NativeDecoder, NativeEncoder

pytestmark = pytest.mark.usefixtures("engine")

SETTINGS = [(specials, invalid) for specials in ("all", "user", "none") for invalid in ("error", "replace")]


def python_encoder(image, *settings):
    return Encoder(ImageTables(image), *settings)


def outcome(call, *arguments):
    """Give what a call returns, or the kind and the line of its refusal."""
    try:
        return call(*arguments)
    except PipelineError as error:
        return type(error), str(error)


def assert_same(one, other, texts):
    for text in texts:
        found, expected = outcome(one, text), outcome(other, text)
        assert found == expected, ascii(text)


def tricky_texts():
    vectors = (GOLDEN / "ggml-vocab-qwen2.gguf.inp").read_bytes().decode()
    return vectors.split("\n__ggml_vocab_test__\n")


def test_ids_of_the_reference(qwen3):
    """Recorded from the official tokenizer."""
    facts = json.loads((GOLDEN / "probes.json").read_text(encoding="utf-8"))
    probes = facts["probes"] + facts["more_probes"]
    assert len(probes) == 14
    encoder = NativeEncoder(qwen3)
    assert [encoder.encode(probe["text"]) for probe in probes] == [probe["reference"] for probe in probes]


@pytest.mark.parametrize("settings", SETTINGS, ids="-".join)
def test_ids_of_texts(qwen3, settings):
    one, other = NativeEncoder(qwen3, *settings), python_encoder(qwen3, *settings)
    texts = [*tricky_texts(), *real_texts().values(), *nasty_texts(2_000, seed=301, longest=48)]
    assert len(texts) > 2_050
    assert_same(one.encode, other.encode, texts)
    assert_same(one.encode, other.encode, [text.encode() for text in texts[:500]])


@pytest.mark.parametrize("settings", SETTINGS, ids="-".join)
def test_bytes_that_may_be_no_text(qwen3, settings):
    chance = random.Random(302)
    texts = [chance.randbytes(chance.randrange(40)) for _ in range(400)]
    texts += [text.encode()[:-1] for text in nasty_texts(400, seed=303)]
    texts += [b"<|im_start|>\xff<think>\xe1\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"a\xcc"]
    one, other = NativeEncoder(qwen3, *settings), python_encoder(qwen3, *settings)
    assert_same(one.encode, other.encode, texts)
    refused = [text for text in texts if isinstance(outcome(one.encode, text), tuple)]
    assert bool(refused) is (settings[1] == "error")


@pytest.mark.parametrize("settings", SETTINGS, ids="-".join)
def test_pieces(qwen3, settings):
    one, other = NativeEncoder(qwen3, *settings), python_encoder(qwen3, *settings)
    texts = [*tricky_texts(), *nasty_texts(500, seed=304)]
    texts += [b"a\xffe\xcc\x81<think>\xe1", "ab\ud83d", ""]
    assert_same(one.pieces, other.pieces, texts)


def test_nul_is_a_character(qwen3):
    for text in ("\0", "a\0b", "\0\0<|im_end|>\0", "x" * 100 + "\0"):
        assert NativeEncoder(qwen3).encode(text) == python_encoder(qwen3).encode(text) != []


def test_half_a_surrogate_pair(qwen3):
    assert_same(NativeEncoder(qwen3).encode, python_encoder(qwen3).encode, ["ab\ud83dc", "\udfff"])


def test_texts_that_need_more_than_the_first_try_has(qwen3):
    """A piece of 60 kB takes more scratch; each replaced byte makes three, and so may take more ids."""
    one = NativeEncoder(qwen3, "all", "replace")
    other = python_encoder(qwen3, "all", "replace")
    texts = [b"a" * 60_000, b"\xff" * 2_000, "\u0344".encode() * 20_000, b"\xff" * 40 + b"a" * 50_000, b"hi"]
    assert len(one._scratch) < 9 * 60_000
    assert_same(one.encode, other.encode, texts)
    assert len(one._scratch) > 9 * 60_000
    rare = verify_image(grown().image())
    assert NativeEncoder(rare, "all", "replace").encode(b"\xff" * 50) == [0xEF, 0xBF, 0xBD] * 50


def test_an_answer_does_not_change_with_the_next(qwen3):
    encoder = NativeEncoder(qwen3)
    before = encoder.encode("Hello world")
    encoder.encode("something else")
    assert before == [9707, 1879]


def without_bytes(**facts):
    return verify_image(SmallVocabulary([(b"a", 1), (b"b", 1), (b"ab", 1)], [(0, 1, 2)]).image(**facts))


def test_a_byte_without_a_token():
    """Of several faults the same is told first; the byte is one of the text after NFC."""
    image = without_bytes()
    texts = [
        "aab",
        "ab ab",
        "ab\xe9",
        "a" * 60 + "c",
        "ab\na\u0301b",
        "abe\u0301",
        "c\nd",
        b"c\nab\xff",
        b"\xffc",
    ]
    assert_same(NativeEncoder(image).encode, python_encoder(image).encode, texts)
    assert_same(NativeEncoder(image).pieces, python_encoder(image).pieces, texts)
    replace = "all", "replace"
    assert_same(NativeEncoder(image, *replace).encode, python_encoder(image, *replace).encode, texts)


@pytest.mark.parametrize(
    ("vocabulary", "facts"),
    [
        (grown(), {"pre_name": "llama-bpe"}),
        (grown(), {"pre_name": ""}),
        (grown(), {"class_tables": 0x110000}),
        (grown(), {"nfc_tables": 0}),
        (SmallVocabulary([(b"a", 1), (b"<\xff>", CONTROL)], []), {}),
    ],
)
def test_an_image_that_cannot_serve(vocabulary, facts):
    image = verify_image(vocabulary.image(**facts))
    found = outcome(NativeEncoder, image)
    assert found == outcome(python_encoder, image)
    assert issubclass(found[0], ModelError)
    assert NativeDecoder(image).decode([0]) == Decoder(ImageTables(image)).decode([0]) != b""


@pytest.mark.parametrize("settings", [("ALL", "error"), ("all", "ignore")])
def test_a_setting_that_there_is_not(settings):
    image = verify_image(grown().image())
    assert outcome(NativeEncoder, image, *settings) == outcome(python_encoder, image, *settings)


def test_two_specials_with_one_text_and_overlapping_ones():
    added = [("<a>", CONTROL), ("<a>", USER_DEFINED), ("<a><b>", USER_DEFINED), ("b><", CONTROL)]
    image = verify_image(grown("a|b", added=added, pads=2).image())
    texts = ["<a>", "<a><b>", "x<a><b><a>", "<a><b", "<b><a>", "[PAD260]"]
    for settings in SETTINGS:
        assert_same(NativeEncoder(image, *settings).pieces, python_encoder(image, *settings).pieces, texts)


def test_an_image_without_nfc():
    image = verify_image(grown("a|b").image(nfc=False))
    texts = ["e\u0301", "\u212b", "ab\u0344"]
    assert_same(NativeEncoder(image).pieces, python_encoder(image).pieces, texts)


def decoders(image, *, skip, stop):
    end_ids = image.end_ids if stop else ()
    return (
        NativeDecoder(image, skip_control=skip, stop_at_end=stop).decode,
        Decoder(ImageTables(image), skip_control=skip, end_ids=end_ids).decode,
    )


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("stop", [False, True])
def test_decoding(qwen3, skip, stop):
    chance = random.Random(305)
    n_tokens = qwen3.header.n_tokens
    ids = [[chance.randrange(n_tokens) for _ in range(chance.randrange(30))] for _ in range(300)]
    ids += [[chance.randrange(151_600, n_tokens + 20) for _ in range(6)] for _ in range(100)]
    (end, *_) = qwen3.end_ids
    ids += [[9707, end, n_tokens], [n_tokens, end], [], [-1], [0xFFFFFFFF], [end, -1], [2**32], [1, 2**80]]
    assert_same(*decoders(qwen3, skip=skip, stop=stop), ids)


def test_ids_from_an_iterator(qwen3):
    assert NativeDecoder(qwen3).decode(iter([9707, 1879])) == b"Hello world"


def test_there_and_back(qwen3):
    encoder, decoder = NativeEncoder(qwen3), NativeDecoder(qwen3)
    for text in real_texts().values():
        assert decoder.decode(encoder.encode(text)) == b"".join(piece.data for piece in encoder.pieces(text))


def test_more_tokens_than_c_encodes_with():
    """2^22 empty tokens behind the others: an image of 34 MB."""
    index, token_bytes, merges = grown("a|b").tables()
    new = 1 << 22
    index += struct.pack("<IHH", len(token_bytes), 0, UNUSED) * (new - 257)
    image = open_image(pack_image(index, token_bytes, merges, image_facts(first_pad_id=257)))
    kind, line = outcome(NativeEncoder(image).encode, "ab")
    assert kind is ModelError
    assert line == "the C reader expects an image of at most 4,194,303 tokens; use --engine python"
    assert NativeDecoder(image).decode([256, new - 1]) == b"ab"


@pytest.mark.long
def test_a_text_longer_than_c_takes(qwen3):
    kind, line = outcome(NativeEncoder(qwen3).encode, b"a" * (1 << 27))
    assert kind is UsageError
    assert line == "the C reader expects a text of at most 134,217,727 bytes; use --engine python"


def test_an_image_that_c_refuses(qwen3):
    """One that was changed behind the checks in Python: C has its own."""
    data = bytearray(qwen3.data)
    image = open_image(data)
    data[0] ^= 1
    assert outcome(native.NativeImage, image) == (
        ModelError,
        "the C reader refuses the image: BAD_MAGIC; build the image again",
    )


def test_sections_that_contradict_each_other():
    """Where an image was opened only: a token that lies beyond the bytes."""
    vocabulary = grown("a|b")
    index, token_bytes, merges = vocabulary.tables()
    packed = pack_image(index, token_bytes, merges, image_facts(first_pad_id=257))
    image = open_image(bytearray(packed))
    at = image.sections[1].place.offset + 8 * 97
    image.data[at : at + 4] = (1 << 30).to_bytes(4, "little")
    kind, line = outcome(NativeDecoder(image).decode, [97])
    assert kind is ModelError
    assert line == "the C reader refuses the image: IMAGE_DAMAGED; build the image again"
