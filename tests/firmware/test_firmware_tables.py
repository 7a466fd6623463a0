"""The C library's Unicode tables are those of the Python encoder."""

from __future__ import annotations

import pytest

from pipeline.bpe import c_tables, emit_c, unicode_tables


def test_the_committed_file_is_what_the_data_gives():
    assert emit_c.TABLES_FILE.read_text(encoding="ascii") == emit_c.tables_text()
    assert emit_c.main(["--check"]) == 0


def test_check_finds_a_difference(tmp_path, monkeypatch, capsys):
    changed = tmp_path / "tables.inc"
    changed.write_text(emit_c.tables_text() + "\n", encoding="ascii")
    monkeypatch.setattr(emit_c, "TABLES_FILE", changed)
    assert emit_c.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "tables.inc is not what the Unicode data gives; run python -m pipeline.bpe.emit_c\n"
    )
    assert emit_c.main([]) == 0
    assert emit_c.main(["--check"]) == 0


def test_a_file_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(emit_c, "TABLES_FILE", tmp_path / "none" / "tables.inc")
    assert emit_c.main([]) == 4
    assert capsys.readouterr().err.endswith("tables.inc: No such file or directory\n")


def class_of(tables, code):
    """Look a class up as C does."""
    if code >= tables.limit:
        return c_tables.OTHER
    block, low = tables.blocks[code >> 7], code & 127
    return tables.bits[block * 32 + low // 4] >> 2 * (low % 4) & 3


def kind_of(tables, code):
    return tables.kinds[tables.blocks[code >> 5] * 32 + code % 32] if code < tables.limit else 0


def test_classes_of_every_code_point():
    tables, data = c_tables.class_tables(), unicode_tables.class_tables()
    expected = bytearray(0x110000)
    for number, ranges in enumerate((data.letters, data.numbers, data.white_space), 1):
        for first, last in ranges:
            expected[first : last + 1] = bytes([number]) * (last + 1 - first)
    for code in range(0x110000):
        if not 0xD800 <= code < 0xE000:
            assert class_of(tables, code) == expected[code]
            lead = tables.lead[chr(code).encode()[0]]
            assert lead >> 5 == len(chr(code).encode())
            exact = lead & 15
            assert exact in (expected[code], c_tables.MIXED) or exact > c_tables.WHITE


@pytest.mark.parametrize(
    ("chars", "expected"),
    [
        ("\r\n", c_tables.LINE_END), (" ", c_tables.BLANK), ("'", c_tables.QUOTE), ("sStTmMdD", c_tables.STMD),
        ("rRvV", c_tables.RV), ("eE", c_tables.E), ("lL", c_tables.L), ("abz", c_tables.LETTER),
        ("09", c_tables.NUMBER), ("\t\x0b", c_tables.WHITE), ("!\x7f\0", c_tables.OTHER), ("\u017f", c_tables.MIXED),
    ],
)  # fmt: skip
def test_classes_of_lead_bytes(chars, expected):
    lead = c_tables.class_tables().lead
    assert {lead[char.encode()[0]] & 15 for char in chars} == {expected}


def test_white_space_begins_with_few_bytes():
    """What the library takes for granted where it cuts text behind a line end."""
    spaces = [
        chr(code)
        for first, last in unicode_tables.class_tables().white_space
        for code in range(first, last + 1)
    ]
    leads = {char.encode()[0] for char in spaces if not char.isascii()}
    assert leads == {0xC2, 0xE1, 0xE2, 0xE3}
    assert max(ord(char) for char in spaces if char.isascii()) == 0x20


def test_decompositions_and_marks():
    tables, data = c_tables.nfc_tables(), unicode_tables.nfc_tables()
    composites = set(data.compositions.values())
    orders = sorted(set(data.combining_classes.values()))
    for char, parts in data.decompositions.items():
        kind = kind_of(tables, ord(char))
        at = kind - tables.first_decomposed
        units = tables.decomposed[tables.decomposed_at[at] : tables.decomposed_at[at + 1]]
        assert b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le") == parts
        assert (kind >= tables.first_composite) == (char in composites)
        assert len(parts.encode()) <= 3 * len(char.encode())  # the bound of scratch
        assert len(parts) <= 4
    for mark, number in data.combining_classes.items():
        assert tables.mark_order[kind_of(tables, ord(mark))] == orders.index(number) + 1
    for (first, second), composite in data.compositions.items():
        record = kind_of(tables, ord(second))
        group = slice(tables.mark_pairs[record], tables.mark_pairs[record + 1])
        assert tables.pair_first[group] == sorted(set(tables.pair_first[group]))
        place = tables.pair_first[group].index(ord(first) & 0xFFFF)
        assert tables.pair_composite[group][place] == ord(composite) & 0xFFFF
        assert len(composite.encode()) <= len((first + second).encode())
    known = (
        data.decompositions.keys() | data.combining_classes.keys() | {pair[1] for pair in data.compositions}
    )
    for code in range(0x110000):
        jamo = 0x1161 <= code < 0x1176 or 0x11A8 <= code < 0x11C3
        assert (kind_of(tables, code) != 0) == (chr(code) in known or jamo), hex(code)


def test_settled_lead_bytes():
    tables = c_tables.class_tables()
    for byte in range(256):
        settled = bool(tables.lead[byte] & 16)
        if settled:
            assert 0xC2 <= byte < 0xF0
            assert byte not in (0xE0, 0xED)
    assert all(tables.lead[byte] & 16 for byte in (0xC3, 0xD0, 0xE4, 0xE9, 0xEB))
    assert not any(tables.lead[byte] & 16 for byte in (0x41, 0xCC, 0xE1, 0xE3, 0xED, 0xEF, 0xF0))


def test_crc_table():
    import zlib

    table = c_tables.crc_table()
    for byte in (0, 1, 0x80, 0xFF):
        for row in range(4):
            # A byte and `row` zeros, without the inversions of zlib
            plain = zlib.crc32(bytes([byte]) + bytes(row)) ^ zlib.crc32(bytes(1 + row))
            assert table[256 * row + byte] == plain


def test_the_size_that_is_stated():
    assert 40_000 < emit_c.table_bytes() < 80_000
