r"""The Unicode data in the form in which the C reader looks it up.

Both sets are looked up in two steps: a code point's high bits give its block, the block and its low bits
the value. Equal blocks are stored once, and above a limit everything is plain. What the values mean
is told at each table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.bpe import hangul, unicode_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OTHER, LETTER, NUMBER, WHITE, LINE_END, BLANK, QUOTE, STMD, RV, E, L, MIXED = range(12)
"""Classes of characters. Code points beyond ASCII are one of the first four, but for U+017F, which is of the
class STMD like s, t, m and d; a lead byte that begins characters of more than one class is MIXED."""

CLASS_BLOCK_BITS = 7
NFC_BLOCK_BITS = 5

_LONG_S = "\u017f"
_CODE_POINTS = 0x110000
_LENGTH_SHIFT = 5
_SETTLED = 1 << 4


class CClasses(NamedTuple):
    """The character classes.

    Fields:
        limit: code points from here on are OTHER.
        lead: shape (256,): for the first byte of a UTF-8 character, its length << 5 | its class, or
            MIXED where the byte alone does not tell. Other bytes: length 1, OTHER. Bit 4 is set for the
            first bytes of characters of 2 or 3 bytes that may have any continuation bytes behind
            them, if NFC leaves all those characters alone and changes nothing across the place before.
        blocks: for each block of 128 code points below the limit, which of the distinct blocks it is.
        bits: distinct blocks of 32 bytes: 2 bits of class for each code point, the lowest first.
    """

    limit: int
    lead: list[int]
    blocks: list[int]
    bits: list[int]


class CNfc(NamedTuple):
    """The composition data.

    A code point has a kind: 0 for a starter that neither comes apart nor joins what is before it; then
    the mark records; from `first_decomposed` those that come apart and do not come back; from
    `first_composite` the composites.

    Fields:
        limit: code points from here on have kind 0.
        blocks: for each block of 32 code points below the limit, which of the distinct blocks it is.
        kinds: distinct blocks of 32 kinds.
        first_decomposed, first_composite: see above.
        mark_order: for each mark record, 0 for a starter, else the place of its combining class
            among those in use, from 1. Record 0 is of no character, record 1 of the Hangul vowels and
            trailing consonants.
        mark_pairs: where a record's pairs begin; one more entry than records.
        pair_first, pair_composite: the low 16 bits of the first character of a pair, ascending within a
            record, and of their composite. All three characters of a pair are of one plane.
        decomposed_at: where the parts of a character begin, by kind - first_decomposed; one entry more.
        decomposed: the parts as UTF-16, classes in order.
    """

    limit: int
    blocks: list[int]
    kinds: list[int]
    first_decomposed: int
    first_composite: int
    mark_order: list[int]
    mark_pairs: list[int]
    pair_first: list[int]
    pair_composite: list[int]
    decomposed_at: list[int]
    decomposed: list[int]


def class_tables() -> CClasses:
    """Work out the tables of the character classes."""
    tables = unicode_tables.class_tables()
    classes = bytearray(_CODE_POINTS)
    for number, ranges in ((LETTER, tables.letters), (NUMBER, tables.numbers), (WHITE, tables.white_space)):
        for first, last in ranges:
            classes[first : last + 1] = bytes([number]) * (last + 1 - first)
    limit = len(classes.rstrip(b"\0"))
    blocks, distinct = _blocks(list(classes[:limit]), CLASS_BLOCK_BITS)
    folded = {char: letter for char, letter in tables.contraction_letters.items() if not char.isascii()}
    if folded != {_LONG_S: "s"}:
        raise AssertionError(f"contraction letters beyond ASCII: {folded!a}")
    classes[ord(_LONG_S)] = STMD
    bits = [
        sum(number << 2 * place for place, number in enumerate(distinct[at : at + 4]))
        for at in range(0, len(distinct), 4)
    ]
    lead = [_lead(byte, classes) | (_SETTLED if _is_settled(byte) else 0) for byte in range(256)]
    return CClasses(limit, lead, blocks, bits)


def _is_settled(byte: int) -> bool:
    """Whether bit 4 is set for a first byte: see `CClasses`."""
    if byte in range(0xC2, 0xE0):
        codes = range(byte - 0xC0 << 6, byte - 0xBF << 6)
    elif byte in range(0xE1, 0xF0) and byte != 0xED:
        codes = range(byte - 0xE0 << 12, byte - 0xDF << 12)
    else:
        return False
    tables = unicode_tables.nfc_tables()
    composites = set(tables.compositions.values())
    seconds = {pair[1] for pair in tables.compositions}
    jamo = {chr(code) for code in (*hangul.VOWELS, *hangul.TRAILING)}
    touched = (tables.decompositions.keys() - composites) | seconds | jamo | tables.combining_classes.keys()
    return touched.isdisjoint(map(chr, codes))


def _lead(byte: int, classes: bytearray) -> int:
    if byte < 0x80:
        exact = {"\n": LINE_END, "\r": LINE_END, " ": BLANK, "'": QUOTE}
        exact |= dict.fromkeys("stmd", STMD) | dict.fromkeys("rv", RV) | {"e": E, "l": L}
        return 1 << _LENGTH_SHIFT | exact.get(chr(byte).lower(), classes[byte])
    for length, leads, first, bits in (
        (2, range(0xC2, 0xE0), 0xC0, 6),
        (3, range(0xE0, 0xF0), 0xE0, 12),
        (4, range(0xF0, 0xF5), 0xF0, 18),
    ):
        if byte in leads:
            start = byte - first << bits
            codes = range(max(start, (0x80, 0x800, 0x10000)[length - 2]), start + (1 << bits))
            found = {classes[code] for code in codes if code < _CODE_POINTS and code >> 11 != 0xD800 >> 11}
            return length << _LENGTH_SHIFT | (found.pop() if len(found) == 1 else MIXED)
    return 1 << _LENGTH_SHIFT | OTHER


def nfc_tables() -> CNfc:
    """Work out the tables of the composition data."""
    tables = unicode_tables.nfc_tables()
    orders = {number: at for at, number in enumerate(sorted(set(tables.combining_classes.values())), 1)}
    pairs: dict[str, list[tuple[int, int]]] = {}
    for pair, composite in tables.compositions.items():
        one, two = pair[0], pair[1]
        if len({ord(char) >> 16 for char in (one, two, composite)}) != 1:
            raise AssertionError(f"{pair!a} and {composite!a} are of different planes")
        pairs.setdefault(two, []).append((ord(one) & 0xFFFF, ord(composite) & 0xFFFF))

    # A record for each combining class without pairs, and one for each second character.
    jamo = "jamo"
    record_of = {chr(code): jamo for code in (*hangul.VOWELS, *hangul.TRAILING)}
    record_of |= {
        mark: mark if mark in pairs else f"class {number}"
        for mark, number in tables.combining_classes.items()
    }
    record_of |= {second: second for second in pairs}
    order_of = {jamo: 0} | {
        record: orders[tables.combining_classes[mark]] if mark in tables.combining_classes else 0
        for mark, record in record_of.items()
    }
    records = ["", jamo, *sorted(order_of.keys() - {jamo}, key=lambda name: (order_of[name], name))]

    composites = set(tables.compositions.values())
    apart = [char for char in tables.decompositions if char not in composites]
    apart += sorted(composites)
    if record_of.keys() & set(apart):
        raise AssertionError("a character that joins what is before it also comes apart")

    kinds: dict[str, int] = {char: records.index(record) for char, record in record_of.items()}
    kinds |= {char: len(records) + at for at, char in enumerate(apart)}
    limit = ord(max(kinds)) + 1
    blocks, distinct = _blocks([kinds.get(chr(code), 0) for code in range(limit)], NFC_BLOCK_BITS)

    parts = [_utf16(tables.decompositions[char]) for char in apart]
    sorted_pairs = [sorted(pairs.get(record, [])) for record in records]
    return CNfc(
        limit=limit,
        blocks=blocks,
        kinds=distinct,
        first_decomposed=len(records),
        first_composite=len(records) + len(apart) - len(composites),
        mark_order=[order_of.get(record, 0) for record in records],
        mark_pairs=_starts(sorted_pairs),
        pair_first=[first for group in sorted_pairs for first, _ in group],
        pair_composite=[composite for group in sorted_pairs for _, composite in group],
        decomposed_at=_starts(parts),
        decomposed=[unit for units in parts for unit in units],
    )


def crc_table() -> list[int]:
    """Return the table of CRC-32 for four bytes at a time: shape (4 * 256,).

    Row r holds what a byte adds that is followed by r zero bytes.
    """
    row = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        row.append(value)
    table = list(row)
    for _ in range(3):
        table += [row[value & 0xFF] ^ value >> 8 for value in table[-256:]]
    return table


def _blocks(values: list[int], bits: int) -> tuple[list[int], list[int]]:
    """Cut values into blocks of 2^bits, zeros behind the last; give each one's number and the distinct ones."""
    size = 1 << bits
    values = values + [0] * (-len(values) % size)
    numbers: dict[tuple[int, ...], int] = {}
    blocks = [
        numbers.setdefault(tuple(values[at : at + size]), len(numbers)) for at in range(0, len(values), size)
    ]
    if len(numbers) > 256:
        raise AssertionError(f"{len(numbers)} distinct blocks do not fit a byte")
    return blocks, [value for block in numbers for value in block]


def _starts(groups: Iterable[Sequence[object]]) -> list[int]:
    starts = [0]
    for group in groups:
        starts.append(starts[-1] + len(group))
    return starts


def _utf16(text: str) -> list[int]:
    data = text.encode("utf-16-le")
    return [data[at] | data[at + 1] << 8 for at in range(0, len(data), 2)]
