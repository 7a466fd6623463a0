"""Single files by their layout: which check a file gets, and what each finds."""

import numpy as np
import pytest
from refusals import refusal
from small_vocabulary import CONTROL, NORMAL, grown
from tiny_model import write_tiny

from formats import token_types_bin, tokenizer_bin, vocab_bin
from formats.byte_level import encode
from formats.byte_strings import ByteStrings
from pipeline.errors import CheckFailed
from pipeline.verification.folder import verify_file
from pipeline.verification.layouts import check_for, known_names

VOCABULARY = grown("a|b", "ab|c", added=[("<s>", CONTROL)], pads=2)
INDEX, BYTES, MERGES = VOCABULARY.tables()


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def only_fault(path):
    (line,) = verify_file(path).faults
    assert line.startswith(f"{path}"), line
    return line.removeprefix(f"{path}: ")


@pytest.mark.parametrize("name", ["image.bin", "a.gguf.part", "vocab.bin", "x"])
def test_an_image_is_known_by_its_first_bytes_under_any_name(tmp_path, name):
    path = write(tmp_path, name, VOCABULARY.image())
    assert verify_file(path).faults == ()
    write(tmp_path, name, VOCABULARY.image()[:-64])
    assert only_fault(path).startswith("header.total_bytes at offset 0x10 (16): ")


def test_a_model_is_known_by_its_first_bytes_or_its_suffix(tmp_path):
    assert verify_file(write_tiny(tmp_path / "model")).faults == ()
    assert only_fault(write(tmp_path, "model", b"GGUF\x03\0\0\0")).startswith("n_tensors at offset")
    assert only_fault(write(tmp_path, "model.gguf", b"")).startswith("expected")
    assert only_fault(write(tmp_path, "model.gguf", b"PK\x03\x04 zip")).startswith(
        "magic at offset 0x0 (0): "
    )


def test_a_folder_whose_name_would_break_the_line(tmp_path):
    folder = tmp_path / "a\nb\x1b[31m"
    folder.mkdir()
    for name, data in (("q25_tokenizer.img", b"Q25TOKRT"), ("m.gguf", b"GGUF"), ("tokens.jsonl", b"{")):
        (line,) = verify_file(write(folder, name, data)).faults
        assert line.isprintable()


def test_what_has_no_layout(tmp_path):
    path = write(tmp_path, "notes.txt", b"GGU")
    assert check_for(path, path.name) is None
    line = refusal(verify_file, path, error=CheckFailed)
    assert all(name in line for name in known_names())
    assert check_for(write(tmp_path, "vocab.bin", b""), "tensors/vocab.bin") is None


def test_an_image_that_lost_its_first_bytes(tmp_path):
    path = write(tmp_path, "q25_tokenizer.img", b"\0" + VOCABULARY.image()[1:])
    assert only_fault(path).startswith("header.magic at offset 0x0 (0): expected 'Q25TOKRT'")
    assert only_fault(write(tmp_path, "q25_tokenizer.img", b"")).startswith(
        "header.magic at offset 0x0 (0): "
    )


def test_a_token_index_alone_and_beside_its_bytes(tmp_path):
    path = write(tmp_path, "token_index.bin", INDEX)
    assert verify_file(path).faults == ()
    write(tmp_path, "token_index.bin", INDEX[:-1])
    assert "expected a whole record of 8 bytes" in only_fault(path)
    # Alone, nothing tells how many bytes there are; beside them the sum is held to them.
    write(tmp_path, "token_index.bin", INDEX[:-8])
    assert verify_file(path).faults == ()
    write(tmp_path, "token_bytes.bin", BYTES)
    assert only_fault(path) == (
        f"token_index at offset 0x0 (0): expected lengths that sum to the {len(BYTES)} token bytes, "
        f"found a sum of {len(BYTES) - 8}"
    )


def test_token_bytes_beside_their_index(tmp_path):
    path = write(tmp_path, "token_bytes.bin", BYTES)
    assert verify_file(path).faults == ()
    index = write(tmp_path, "token_index.bin", INDEX)
    assert verify_file(path).faults == ()
    write(tmp_path, "token_bytes.bin", BYTES[:-1])
    (line,) = verify_file(path).faults
    assert line.startswith(f"{index}: token_index at offset 0x0 (0): expected lengths that sum to the ")


def test_a_merge_table_alone_and_beside_the_tokens(tmp_path):
    wrong = MERGES[:8] + (97).to_bytes(4, "little") + MERGES[12:]
    path = write(tmp_path, "merge_table_u32.bin", wrong)
    assert verify_file(path).faults == ()
    strings = write(tmp_path, "token_bytes.bin", BYTES)
    assert verify_file(path).faults == ()  # without the index nothing tells where a token lies
    strings.unlink()
    write(tmp_path, "token_index.bin", INDEX)
    assert verify_file(path).faults == ()
    write(tmp_path, "token_bytes.bin", BYTES)
    assert only_fault(path) == (
        "merge_table[0].out_id at offset 0x8 (8): expected the token with bytes 61 62, found 97 with bytes 61"
    )
    write(tmp_path, "merge_table_u32.bin", MERGES)
    assert verify_file(path).faults == ()
    write(tmp_path, "merge_table_u32.bin", MERGES[:-1])
    assert "expected a whole record of 16 bytes" in only_fault(path)


def test_token_types(tmp_path):
    path = write(tmp_path, "token_types.bin", token_types_bin.build(VOCABULARY.types))
    assert verify_file(path).faults == ()
    write(tmp_path, "token_types.bin", bytes(4))
    assert only_fault(path).startswith(
        "token_types[0].token_type at offset 0x0 (0): expected one of 1 normal"
    )


def test_a_vocab_bin(tmp_path):
    data = vocab_bin.build(VOCABULARY.strings, VOCABULARY.types).data
    path = write(tmp_path, "vocab.bin", data)
    assert verify_file(path).faults == ()
    write(tmp_path, "vocab.bin", data[:-1])
    assert only_fault(path).startswith("entries[260].length at offset")


@pytest.mark.parametrize("layout", ["documented", "loader"])
def test_a_tokenizer_bin_of_either_layout(tmp_path, layout):
    """Nothing in the file tells which layout it has; a refusal is that of the reading that came further."""
    texts = ByteStrings.from_list(
        encode(data).encode() if kind == NORMAL else data for data, kind in VOCABULARY.tokens
    )
    data = tokenizer_bin.build(layout, texts, [97, 256], [98, 99], np.array([258]))
    path = write(tmp_path, "tokenizer.bin", data)
    assert verify_file(path).faults == ()
    end = len(data)
    write(tmp_path, "tokenizer.bin", data + b"\0")
    assert only_fault(path) == f"offset 0x{end:X} ({end}): expected the end, found 1 bytes more"
    write(tmp_path, "tokenizer.bin", data[:-1] + b"\0")
    name = {"documented": "byte_unicode_map", "loader": "byte_glyphs"}[layout]
    assert only_fault(path).startswith(f"{name} at offset 0x{end - 1:X} ({end - 1}): ")


LINE = b'{"id": 0, "token": "a", "type": 1, "bytes": "61"}\n'


EXPECTED = "expected a JSON object with the id {}, and token, type and bytes"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (LINE[:-1], "offset 0x0 (0): expected a line feed behind the last line, found none"),
        (LINE + LINE, f'line 2 at offset 0x32 (50): {EXPECTED.format(1)}, found \'{{"id": 0'),
        (LINE + b"\n", f"line 2 at offset 0x32 (50): {EXPECTED.format(1)}, found ''"),
        (b'{"id": 0}\n', f"line 1 at offset 0x0 (0): {EXPECTED.format(0)}, found '{{\"id\": 0}}'"),
        (b"5\n", f"line 1 at offset 0x0 (0): {EXPECTED.format(0)}, found '5'"),
        (
            b'"\x7f\xc2\x9b2J"\n',
            rf"""line 1 at offset 0x0 (0): {EXPECTED.format(0)}, found '"\x7f\x9b2J"'""",
        ),
        (b"\xff\n", f"line 1 at offset 0x0 (0): {EXPECTED.format(0)}, found '\\\\xff'"),
        (
            b"[" * 100_000 + b"\n",
            f"line 1 at offset 0x0 (0): {EXPECTED.format(0)}, found '[[[",
        ),
        (
            b'{"id": ' + b"9" * 5000 + b"}\n",
            f'line 1 at offset 0x0 (0): {EXPECTED.format(0)}, found \'{{"id": 999',
        ),
    ],
)
def test_lines_of_tokens(tmp_path, data, words):
    found = only_fault(write(tmp_path, "tokens.jsonl", data))
    assert found.startswith(words)
    assert found.isprintable()
    assert len(found) < 400


def test_lines_of_tokens_in_order(tmp_path):
    assert verify_file(write(tmp_path, "tokens.jsonl", LINE + LINE.replace(b"0", b"1", 1))).faults == ()
    found = only_fault(write(tmp_path, "tokens.jsonl", b""))
    assert found == "offset 0x0 (0): expected a line for each token, found an empty file"


JSON_NAMES = [
    "model.json", "tokenizer_facts.json", "q25_tokenizer.json", "tensor_payload_export_manifest.json",
]  # fmt: skip


@pytest.mark.parametrize("name", JSON_NAMES)
def test_json_documents_are_known_by_their_record_alone(tmp_path, name):
    """Nothing but its digest could prove such a file, so without a record nothing is claimed."""
    line = refusal(verify_file, write(tmp_path, name, b"{}"), error=CheckFailed)
    assert "nothing is known of such a file" in line
