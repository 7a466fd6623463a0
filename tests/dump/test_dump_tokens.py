"""Tokens by id and by text, in every file that has some."""

import pytest
from command_line import call
from dump_rows import dump
from format_files import real_file
from real_models import RealTables

from formats import byte_level

FILES = {
    "vocab.bin": "vocab_bin",
    "tokenizer.bin": "tokenizer_bin_documented",
    "q25_tokenizer.img": "q25tokrt",
    "token_index.bin": "token_index",
    "token_bytes.bin": "token_bytes",
    "token_types.bin": "token_types",
    "x.gguf": "gguf",
}
SPELLED = {"vocab.bin", "tokenizer.bin", "x.gguf"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("tokens")
    for name, known in FILES.items():
        (root / name).write_bytes(real_file(known))
    return root


def facts(path, wanted):
    return [row for row in dump(path, wanted) if "token" in row]


@pytest.mark.parametrize(
    ("token", "stored", "glyphs"),
    [
        (220, "c4a0", "Ġ"),
        (198, "c48a", "Ċ"),
        (255, "ad", "Ń"),
        (221, "7f", "ġ"),
        (23268, "c4a06170706c65", "Ġapple"),
    ],
)
def test_tokens_of_vocab_bin(folder, token, stored, glyphs):
    (found,) = facts(folder / "vocab.bin", str(token))
    assert (found["token"], found["bytes"], found["glyphs"][0]) == (token, stored, glyphs)
    assert found["type"] == "1 normal (token_types.bin beside it)"
    assert token in found["same_bytes"]


def test_tokens_that_share_their_bytes(folder):
    # 33 pairs of vocab.bin do: the glyph that is kept for a control byte is a real letter as well.
    (letter,) = facts(folder / "vocab.bin", "30657")
    assert letter["same_bytes"] == [189, 30657]
    assert letter["glyphs"] == ["ā", "Äģ"]
    assert [found["token"] for found in facts(folder / "vocab.bin", "text:ā")] == [189, 30657]
    assert facts(folder / "q25_tokenizer.img", "30657")[0]["same_bytes"] == [30657]


@pytest.mark.parametrize(
    "name", ["vocab.bin", "tokenizer.bin", "q25_tokenizer.img", "token_index.bin", "x.gguf"]
)
def test_a_text_is_found_however_it_is_spelled(folder, name):
    for text in ("text: apple", "text:Ġapple"):
        (found,) = facts(folder / name, text)
        assert found["token"] == 23268
        assert found["glyphs"] == ["Ġapple"]
        assert found["type"].startswith("1 normal")
    (found,) = facts(folder / name, "text:<|im_end|>")
    assert (found["token"], found["glyphs"]) == (151645, ["<|im_end|>"])
    assert found["type"].startswith("3 control")


def test_a_text_in_place_of_a_path_is_pointed_out(folder):
    line = call("dump", folder / "vocab.bin", "hello").refused(2)
    assert line.endswith("has n_entries, entries, not 'hello'; for the token of that text: 'text:hello'")
    assert call("dump", folder / "vocab.bin", "entires").refused(2).endswith("not 'entires'")
    assert "'text:{'" in call("dump", folder / "vocab.bin", "{").refused(2)


@pytest.mark.parametrize("name", ["vocab.bin", "tokenizer.bin", "q25_tokenizer.img", "x.gguf"])
def test_glyphs_are_the_models_own_texts(folder, name):
    vocabulary = RealTables.of("qwen2.5").vocabulary
    for token in range(0, 151_665, 15_000):
        (found,) = facts(folder / name, str(token))
        assert vocabulary.texts[token].decode() in found["glyphs"]
        if name not in SPELLED and token < 151_643:
            assert byte_level.encode(bytes.fromhex(found["bytes"])) == found["glyphs"][0]


def test_files_without_texts_of_their_own(folder):
    assert facts(folder / "token_types.bin", "151645")[0]["type"] == "3 control"
    assert "'<|im_end|>'" in call("dump", folder / "token_types.bin", "token_types[151644:151647]").out


def test_the_text_form_says_the_same(folder):
    lines = call("dump", folder / "vocab.bin", "221").done().lines
    assert lines[-5:] == [
        "token       221",
        "bytes       7F '\\x7f'",
        "glyphs      ġ",
        "type        1 normal (token_types.bin beside it)",
        "same bytes  no other token",
    ]


def test_without_anything_that_tells_the_type(folder, tmp_path):
    (tmp_path / "vocab.bin").write_bytes(real_file("vocab_bin"))
    assert facts(tmp_path / "vocab.bin", "198")[0]["type"] is None
