"""Opening a Q25TOKRT image: header and directory only, as firmware does it.

`open_image` proves the header and the directory; what the sections hold is proved by
`formats.q25tokrt.verify`.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from formats.errors import shown
from formats.layout import Place
from formats.q25tokrt.compact_records import MAX_COMPACT_MERGES
from formats.q25tokrt.layout import (
    DIRECTORY_ENTRY,
    HEADER,
    KNOWN_FLAGS,
    N_BYTES,
    NONE,
    OPTIONAL,
    PROFILE_SHIFT,
    RECORD_BYTES,
    SECTIONS,
    Flag,
    Kind,
    Profile,
    section_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import construct

REBUILD = "build the image again"


@dataclass(frozen=True)
class Section:
    """One entry of the directory, with its payload.

    Attributes:
        kind: what it holds.
        count, crc32: as in the directory.
        data: the payload, a view of the image.
        place: where the payload lies.
        entry: where the directory's entry lies.

    """

    kind: Kind
    count: int
    crc32: int
    data: memoryview
    place: Place
    entry: Place


@dataclass(frozen=True)
class Image:
    """An opened image: every part is a view of one buffer.

    Attributes:
        data: the whole image.
        header: the header's fields by attribute.
        sections: the known sections by kind.
        file: the image's name for messages.

    """

    data: memoryview
    header: construct.Container
    sections: Mapping[Kind, Section]
    file: str

    @property
    def flags(self) -> Flag:
        """The header's flags, without the profile."""
        return _flags(self.header)

    @property
    def profile(self) -> Profile:
        """What the image is made for."""
        return _profile(self.header)

    @property
    def pre_name(self) -> str:
        """The pre-tokenizer's name, empty where the model names none."""
        return bytes(self.header.pre_name).rstrip(b"\0").decode("ascii")

    @property
    def end_ids(self) -> tuple[int, ...]:
        """Every id that ends a turn or a text."""
        return tuple(self.header.end_ids[: self.header.n_end_ids])

    @property
    def source_sha256(self) -> str:
        """SHA-256 of the source blob, in hex."""
        return bytes(self.header.source_sha256).hex()


def open_image(data: Any, file: str = "") -> Image:
    """Open an image: check header and directory, and nothing else.

    Args:
        data: the image's bytes; not copied.
        file: its name for messages.

    Raises:
        FormatError: anything in header or directory that is not exactly right.

    """
    view = memoryview(data).cast("B")
    header = HEADER.read(view, 0, file, "header")
    place = Place(file, "header")
    _check_size(header, len(view), HEADER.member(place, "total_bytes"))
    directory_end = HEADER.size + header.section_count * DIRECTORY_ENTRY.size
    crc = zlib.crc32(view[HEADER.size : directory_end], zlib.crc32(view[: HEADER.offset_of("crc32")]))
    if crc != header.crc32:
        raise HEADER.member(place, "crc32").error(
            f"0x{crc:08X}, the sum of header and directory as they are",
            f"0x{header.crc32:08X}",
            f"one of them was changed; {REBUILD}",
        )
    if _profile(header) is not Profile.STANDARD:
        _check_made_ids(header, place)
    _check_ids(header, place)
    return Image(view, header, _read_directory(view, header, file), file)


def _check_made_ids(header: construct.Container, place: Place) -> None:
    """Check what the other profiles are built on: merge r makes token 256 + r."""
    profile = _profile(header)
    if Flag.RANK_IS_OUT_ID not in _flags(header):
        expected = f"bit 0 set, which profile {profile.name.lower()} needs"
        raise HEADER.member(place, "flags").error(expected, f"0x{header.flags:X}", REBUILD)
    least = header.n_merges + N_BYTES
    if header.n_base < least:
        raise HEADER.member(place, "n_base").error(
            f"at least {least}, a token for each byte and merge", str(header.n_base), REBUILD
        )
    if profile is Profile.COMPACT:
        for name, most in (("n_merges", MAX_COMPACT_MERGES), ("max_probe", 1)):
            if header[name] > most:
                expected = f"at most {most} in profile compact"
                raise HEADER.member(place, name).error(expected, str(header[name]), REBUILD)


def _flags(header: construct.Container) -> Flag:
    return Flag(header.flags & KNOWN_FLAGS)


def _profile(header: construct.Container) -> Profile:
    return Profile(header.flags >> PROFILE_SHIFT)


def _check_size(header: construct.Container, size: int, place: Place) -> None:
    total = header.total_bytes
    least = HEADER.size + header.section_count * DIRECTORY_ENTRY.size
    if total != size:
        raise place.error(f"{size}, the size of the file", str(total), REBUILD)
    if total < least:
        raise place.error(f"at least {least}, header and directory", str(total), REBUILD)
    if total % header.section_align:
        raise place.error(f"a multiple of section_align {header.section_align}", str(total), REBUILD)


def _check_ids(header: construct.Container, place: Place) -> None:
    """Check counts, ids and the name against the number of tokens."""
    n_tokens = header.n_tokens
    for name, most in (
        ("first_pad_id", n_tokens),
        ("n_base", n_tokens),
        ("n_added", n_tokens - header.n_base),
    ):
        if header[name] > most:
            raise HEADER.member(place, name).error(f"at most {most}", str(header[name]))
    for name in ("bos_id", "eos_id", "pad_id"):
        if header[name] != NONE and header[name] >= n_tokens:
            raise HEADER.member(place, name).error(f"below {n_tokens}, or 0xFFFFFFFF", str(header[name]))
    end_ids = HEADER.member(place, "end_ids")
    for index, value in enumerate(header.end_ids):
        used = index < header.n_end_ids
        if value >= n_tokens if used else value != NONE:
            expected = f"a token id below {n_tokens}" if used else "0xFFFFFFFF (unused)"
            raise end_ids.index(index, index * 4).error(expected, str(value))
    padded = bytes(header.pre_name)
    text = padded.rstrip(b"\0")
    if len(text) == len(padded) or not all(0x21 <= byte < 0x7F for byte in text):
        raise HEADER.member(place, "pre_name").error(
            "at most 31 printable ASCII characters, then NULs", shown(padded)
        )


def _read_directory(view: memoryview, header: construct.Container, file: str) -> dict[Kind, Section]:
    """Read the directory and check that its sections tile the image."""
    wanted = SECTIONS[_profile(header)]
    sections: dict[Kind, Section] = {}
    end = HEADER.size + header.section_count * DIRECTORY_ENTRY.size
    for number, entry in enumerate(directory_entries(view, header, file)):
        place = Place(file, f"directory[{number}]", HEADER.size + number * DIRECTORY_ENTRY.size)
        start = _aligned(end, header.section_align)
        if entry.offset != start:
            raise DIRECTORY_ENTRY.member(place, "offset").error(
                f"0x{start:X} ({start}), the first aligned offset behind what comes before",
                f"0x{entry.offset:X} ({entry.offset})",
            )
        end = entry.offset + entry.length
        if end > len(view):
            raise DIRECTORY_ENTRY.member(place, "length").error(
                f"at most {len(view) - entry.offset}, to the end of the image", str(entry.length)
            )
        known = _known_kind(entry, place, wanted, sections)
        if known is not None:
            payload = Place(file, f"sections.{section_name(known)}", entry.offset)
            data = view[entry.offset : end]
            sections[known] = Section(known, entry.count, entry.crc32, data, payload, place)
    missing = next((kind for kind in wanted if kind not in sections), None)
    if missing is not None:
        raise Place(file, "directory", HEADER.size).error(f"a section {section_name(missing)}", "none")
    if _aligned(end, header.section_align) != len(view):
        raise HEADER.member(Place(file, "header"), "total_bytes").error(
            f"{_aligned(end, header.section_align)}, the aligned end of the last section", str(len(view))
        )
    return sections


def directory_entries(
    view: memoryview, header: construct.Container, file: str
) -> Iterator[construct.Container]:
    """Read the entries of the directory behind a header that was read."""
    for number in range(header.section_count):
        at = HEADER.size + number * DIRECTORY_ENTRY.size
        yield DIRECTORY_ENTRY.read(view, at, file, f"directory[{number}]")


def _known_kind(
    entry: construct.Container, place: Place, wanted: tuple[Kind, ...], seen: Mapping[Kind, Section]
) -> Kind | None:
    """Check an entry by itself; None for a kind that this reader may skip."""
    kind_place = DIRECTORY_ENTRY.member(place, "kind")
    if entry.kind not in wanted:
        if not entry.flags & OPTIONAL:
            hint = "use a newer reader"
            raise kind_place.error("a known kind, or one marked optional", str(entry.kind), hint)
        return None
    kind = Kind(entry.kind)
    if kind in seen:
        raise kind_place.error("each kind once", f"{section_name(kind)} again")
    size = RECORD_BYTES[kind]
    if entry.record_bytes != size:
        raise DIRECTORY_ENTRY.member(place, "record_bytes").error(str(size), str(entry.record_bytes))
    if size and entry.length != size * entry.count:
        raise DIRECTORY_ENTRY.member(place, "length").error(
            f"{size * entry.count} ({entry.count} records of {size} bytes)", str(entry.length)
        )
    return kind


def _aligned(offset: int, align: int) -> int:
    return -(-offset // align) * align
