"""The official vocabularies: every table has the known size and digest, whichever writer made the GGUF."""

import hashlib
import json

import gguf
import numpy as np
import pytest
from real_models import FAMILIES, GOLDEN, RealTables, golden, sample_vocabulary

from formats import token_types_bin
from formats.gguf.reader import GgufFile
from formats.q25tokrt.image import open_image
from formats.q25tokrt.layout import Kind
from formats.q25tokrt.verify import verify_image
from pipeline.sources.sample.families import BOS, EOS, PAD
from pipeline.vocab_coverage import count_containing, coverage_lines
from pipeline.vocabulary.vocabulary import read_vocabulary

VOCAB_BIN_COUNTS = {"qwen3": (151_669, 57_286, 94_357, 26), "qwen2.5": (151_665, 57_286, 94_357, 22)}
SECTIONS = ("byte_token_map", "merge_pair_index", "special_token_index")


@pytest.fixture(scope="module", params=FAMILIES)
def from_package(request, tmp_path_factory):
    """Write a family's vocabulary with the package `gguf`, which shares no code with this project."""
    made = sample_vocabulary(request.param)
    path = tmp_path_factory.mktemp("gguf") / f"{request.param}.gguf"
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(made.tokens)
    writer.add_token_types(made.types)
    writer.add_token_merges(made.merges)
    writer.add_bos_token_id(BOS)
    writer.add_eos_token_id(EOS)
    writer.add_pad_token_id(PAD)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with GgufFile.open(path) as opened:
        yield request.param, RealTables(read_vocabulary(opened))


def family_of(tables):
    return {26: "qwen3", 22: "qwen2.5"}[len(tables.vocabulary.added_ids)]


def figures(data):
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def assert_golden(tables, family):
    known = golden(family)
    index, token_bytes, merges = tables.ps_bundle()
    assert figures(index) == known["token_index"]
    assert figures(token_bytes) == known["token_bytes"]
    assert figures(merges) == known["merge_table_u32"]
    assert figures(tables.vocab_bin().data) == {
        key: known["vocab_bin"][key] for key in ("size", "sha256")
    }  # fmt: skip
    for layout in ("documented", "loader"):
        stated = known[f"tokenizer_bin_{layout}"]
        assert figures(tables.tokenizer_bin(layout)) == {key: stated[key] for key in ("size", "sha256")}
    for name in SECTIONS:
        stated = known["q25tokrt_sections"][name]
        assert figures(tables.section(Kind[name.upper()])) == {key: stated[key] for key in ("size", "sha256")}


def test_every_table_has_its_digest(real):
    assert_golden(real, family_of(real))


def test_every_table_has_its_digest_from_a_file_of_the_package(from_package):
    family, tables = from_package
    assert family_of(tables) == family
    assert_golden(tables, family)


def test_counts(real):
    known, vocabulary = golden(family_of(real)), real.vocabulary
    assert len(vocabulary) == known["tokens"]
    assert vocabulary.n_base == known["base"]
    assert len(vocabulary.added_ids) == known["added"]
    assert vocabulary.first_pad_id == known["base"] + known["added"]
    assert len(vocabulary.merges) == known["merges"]
    assert vocabulary.embedding_rows is None
    assert vocabulary.tokens.lengths.max() == known["max_token_bytes"]
    assert vocabulary.duplicates() == []
    assert vocabulary.unreachable_ids().tolist() == []


def test_added_tokens_and_their_types(real):
    found = [
        {"id": token, "content": real.vocabulary.texts[token].decode(), "special": bool(kind == 3)}
        for token, kind in zip(
            real.vocabulary.added_ids.tolist(),
            real.vocabulary.types[real.vocabulary.added_ids].tolist(),
            strict=True,
        )
    ]
    assert found == golden(family_of(real))["special"]


def test_vocab_bin_prints_the_published_counts(real):
    made = real.vocab_bin()
    assert (len(made.entries), made.converted, made.kept, made.special) == VOCAB_BIN_COUNTS[family_of(real)]


def test_words_that_the_published_check_counts(real):
    entries = real.vocab_bin().entries
    counts = {text: count_containing(entries, text.encode()) for text in ("回答", "你好", "Ġgood", "Ċ")}
    assert counts == {"回答": 2, "你好": 1, "Ġgood": 6, "Ċ": 2179}
    assert coverage_lines(entries) == [
        "space Ġ: yes, newline Ċ: yes, common Chinese characters: 57 of 57",
        "entries that contain 回答 2, 你好 1, Ġgood 6, Ċ 2179",
    ]


def test_entries_of_vocab_bin_that_are_known(qwen3_tables):
    probes = json.loads((GOLDEN / "probes.json").read_text(encoding="utf-8"))
    entries = list(qwen3_tables.vocab_bin().entries)
    assert [entries[token] for token in (220, 198, 255, 221)] == [b"\xc4\xa0", b"\xc4\x8a", b"\xad", b"\x7f"]
    assert [entries[token] for token in (23_268, 22_377, 20)] == ["Ġapple".encode(), b"apple", b"5"]
    found = {}
    for token, entry in enumerate(entries):
        found.setdefault(entry, []).append(token)
    aliases = {entry.hex().upper(): ids for entry, ids in found.items() if len(ids) > 1}
    assert {len(ids) for ids in aliases.values()} == {2}
    assert len(aliases) == probes["aliases"]["pairs"]
    assert {name: aliases[name] for name in probes["aliases"]["examples"]} == probes["aliases"]["examples"]


def test_the_image_of_a_real_vocabulary(real):
    known = golden(family_of(real))
    image = verify_image(real.image())
    header = image.header
    assert header.max_probe == known["q25tokrt_sections"]["max_probe"]
    assert f"0x{header.hash_seed:016x}" == known["q25tokrt_sections"]["hash_seed"]
    assert (
        image.sections[Kind.MERGE_PAIR_INDEX].count == known["q25tokrt_sections"]["merge_pair_index"]["slots"]
    )
    counts = ("tokens", "base", "added", "merges")
    assert [header[f"n_{name}"] for name in counts] == [known[name] for name in counts]
    assert header.max_token_bytes == known["max_token_bytes"]
    assert header.first_pad_id == known["base"] + known["added"]
    index, token_bytes, merges = real.ps_bundle()
    assert bytes(image.sections[Kind.TOKEN_INDEX].data) == index
    assert bytes(image.sections[Kind.TOKEN_BYTES].data) == token_bytes
    assert bytes(image.sections[Kind.MERGE_TABLE].data) == merges
    assert open_image(real.image(4096)).header.section_align == 4096


def test_token_types_read_back(real):
    data = token_types_bin.build(real.vocabulary.types)
    assert len(data) == 4 * 151_936
    assert np.array_equal(token_types_bin.read(data)["token_type"], real.vocabulary.types)
