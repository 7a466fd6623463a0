"""Paths into a file: what they choose, and what is said of those that lead nowhere."""

import pytest
from command_line import call
from dump_rows import dump

IMAGE = "q25_tokenizer.img"


def paths(rows):
    return [row["path"] for row in rows]


@pytest.mark.parametrize(
    ("file", "path", "found"),
    [
        (IMAGE, "header.major", ["header.major"]),
        (IMAGE, "image.header.major", ["header.major"]),
        (IMAGE, "header.end_ids[1:3]", ["header.end_ids[1]", "header.end_ids[2]"]),
        (
            IMAGE,
            "sections.token_index[220:222].byte_length",
            ["sections.token_index[220].byte_length", "sections.token_index[221].byte_length"],
        ),
        (IMAGE, "sections.merge_table[5].out_id", ["sections.merge_table[5].out_id"]),
        (IMAGE, "sections.merge_table.5.out_id", ["sections.merge_table[5].out_id"]),
        (IMAGE, "sections.merge_table[6:6]", []),
        (IMAGE, "sections.token_bytes[3:5]", ["sections.token_bytes[3:5]"]),
        ("vocab.bin", "n_entries", ["n_entries"]),
        ("vocab.bin", "entries[:1]", ["entries[0].token_id", "entries[0].length", "entries[0].text"]),
        (
            "merge_table_u32.bin",
            "5",
            [f"merge_table[5].{x}" for x in ("left_id", "right_id", "out_id", "rank")],
        ),
        ("merges.txt", "2", ["lines[2]"]),
        ("../tiny.gguf", "key_values['general.name'].value.text", ["key_values[1].value.text"]),
        ("../tiny.gguf", 'tensors["token_embd.weight"].type', ["tensors[0].type"]),
    ],
)
def test_what_a_path_chooses(built, file, path, found):
    assert paths(dump(built.out / file, path)) == found


def test_values_of_fields(built):
    (row,) = dump(built.out / IMAGE, "header.pre_name")
    assert (row["offset"], row["size"], row["value"], row["words"]) == (
        64,
        32,
        "qwen2" + "\0" * 27,
        "'qwen2'",
    )
    (row,) = dump(built.out / IMAGE, "directory[4].kind")
    assert (row["value"], row["words"], row["type"]) == (5, "5 merge_pair_index", "u32")
    (row,) = dump(built.out / IMAGE, "header.bos_id")
    assert (row["value"], row["words"]) == (0xFFFFFFFF, "4294967295 none")
    (row,) = dump(built.out / IMAGE, "header.flags")
    assert row["words"] == "3 rank_is_out_id, nfc, profile standard"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("header.magik", "header has magic, major, minor,"),
        ("token_index", "q25_tokenizer.img has header, directory, sections, not 'token_index'"),
        ("sections.token_index[272]", "expected a row below 272, found 272"),
        ("sections.token_index[" + "9" * 5000 + "]", "expected a row below 272"),
        ("sections.token_index[9:3]", "expected rows inside 0:272"),
        ("sections.token_index[0:273]", "expected rows inside 0:272"),
        (
            "sections.token_index[0:3].size",
            "sections.token_index[0] has byte_offset, byte_length, token_type, not 'size'",
        ),
        ("sections.token_index[0:3][1]", "expected a field's name behind rows, found '[1]'"),
        ("sections.token_index.byte_length", "sections.token_index has the rows 0:272"),
        ("sections.token_bytes[9:100000]", "expected bytes inside 0:"),
        ("header[0]", "header has magic"),
        ("header.major.x", "header.major is u16 without parts"),
        ("header..x", "expected a name, [row], [from:to] or ['key'] at character 7"),
        ("\x1b[31m", "path '\\x1b[31m': expected a name"),
        ("directory['x']", "there is no 'x' in directory"),
        ("99999", "expected a token id below 272, found 99999"),
        ("text:nothing like it", "no token is 'nothing like it'"),
    ],
)
def test_paths_that_lead_nowhere(built, path, words):
    outcome = call("dump", built.out / IMAGE, path)
    assert words in outcome.refused(2)
    assert outcome.out == ""


@pytest.mark.parametrize(
    ("name", "arguments", "code", "words"),
    [
        ("nothing.bin", [], 2, "there is no such file or folder"),
        ("", [], 3, "expected a file, found a folder"),
        ("m.yaml", [], 2, "nothing tells its format; name one with --format: token_index, "),
        ("m.yaml", ["--format", "vocab"], 2, "there is no format 'vocab'; did you mean vocab_bin?"),
        ("out/token_bytes.bin", ["5"], 2, "a number is a token or a row, and the file has neither"),
    ],
)
def test_files_that_are_none(built, name, arguments, code, words):
    assert words in call("dump", built.root / name, *arguments).refused(code)


def test_a_named_format_goes_before_the_recognised_one(built):
    rows = dump(built.out / "vocab.bin", "--format", "token_bytes")
    assert paths(rows) == ["token_bytes"]


def test_a_damaged_file_is_shown_up_to_the_fault(built):
    path = built.out / "vocab.bin"
    path.write_bytes(path.read_bytes()[:1001])
    outcome = call("dump", path, "--all")
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert "before the end" in outcome.err
    assert "unread" in outcome.lines[-1]
    assert "!! expected" in outcome.lines[-1]


def test_values_that_break_their_rule_are_marked(built):
    path = built.out / "token_types.bin"
    data = bytearray(path.read_bytes())
    data[8] = 99
    path.write_bytes(data)
    outcome = call("dump", path, "--all")
    assert outcome.code == 1
    assert sum("!! expected one of 1 normal" in line for line in outcome.lines) == 1
    assert "token_types[2].token_type at offset 0x8 (8): expected one of 1 normal" in outcome.err
