"""Small vocabularies as the PS bundle's three tables and as images, for tests."""

from dataclasses import dataclass, field

from formats.byte_strings import ByteStrings
from formats.ps_bundle import build_merge_table, build_token_index
from formats.q25tokrt.layout import Profile
from formats.q25tokrt.packer import ImageFacts, pack_image
from pipeline.bpe.unicode_tables import CLASS_TABLES_VERSION, NFC_TABLES_VERSION

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED = 1, 2, 3, 4, 5


@dataclass
class SmallVocabulary:
    """Tokens as (bytes, type) in id order, merges as (left, right, out) in rank order."""

    tokens: list = field(default_factory=list)
    merges: list = field(default_factory=list)
    first_pad_id: int | None = None

    @property
    def strings(self):
        return ByteStrings.from_list(data for data, _ in self.tokens)

    @property
    def types(self):
        return [kind for _, kind in self.tokens]

    def tables(self):
        """Pack token_index.bin, token_bytes.bin and merge_table_u32.bin."""
        columns = zip(*self.merges, strict=True) if self.merges else ([], [], [])
        index = build_token_index(self.strings, self.types)
        return index, self.strings.joined(), build_merge_table(*map(list, columns))

    def image(self, align=64, profile=Profile.STANDARD, **facts):
        """Pack an image; `facts` are changes to `image_facts`."""
        pads = len(self.tokens) if self.first_pad_id is None else self.first_pad_id
        made = image_facts(**{"first_pad_id": pads, **facts})
        return pack_image(*self.tables(), made, align, profile=profile)

    def id_of(self, data):
        """Find the lowest id of a token."""
        return next(token for token, (known, _) in enumerate(self.tokens) if known == data)


def image_facts(**changes):
    """Make the facts of a small image."""
    known = {
        "source_sha256": bytes(range(32)),
        "first_pad_id": 0,
        "pre_name": "qwen2",
        "nfc": True,
        "sample": False,
        "class_tables": CLASS_TABLES_VERSION,
        "nfc_tables": NFC_TABLES_VERSION,
        "bos_id": None,
        "eos_id": None,
        "pad_id": None,
        "end_ids": (),
    }
    return ImageFacts(**{**known, **changes})


def grown(*merges, added=(), pads=0, byte_values=range(256)):
    """Start from single bytes, then add what each merge ("ab|c") makes, then added tokens, then pads.

    Added tokens are (text, type); pads are `[PAD<id>]` of type unused.
    """
    tokens = [(bytes([byte]), NORMAL) for byte in byte_values]
    ids = {data: token for token, (data, _) in enumerate(tokens)}
    rows = []
    for merge in merges:
        left, right = (part.encode() for part in merge.split("|"))
        out = ids.setdefault(left + right, len(tokens))
        if out == len(tokens):
            tokens.append((left + right, NORMAL))
        rows.append((ids[left], ids[right], out))
    tokens += [(text.encode(), kind) for text, kind in added]
    first_pad_id = len(tokens)
    tokens += [(b"[PAD%d]" % token, UNUSED) for token in range(first_pad_id, first_pad_id + pads)]
    return SmallVocabulary(tokens, rows, first_pad_id)


class PlainTables:
    """A vocabulary as dictionaries: what the encoder asks for, with no image in between."""

    def __init__(self, vocabulary, *, pre="qwen2", nfc=True):
        self._tokens = vocabulary.tokens
        self._merges = {
            (left, right): (rank, out) for rank, (left, right, out) in enumerate(vocabulary.merges)
        }
        self.n_tokens = len(vocabulary.tokens)
        pads = vocabulary.first_pad_id
        self.first_pad_id = self.n_tokens if pads is None else pads
        self.pre, self.nfc = pre, nfc
        self.class_tables, self.nfc_tables = CLASS_TABLES_VERSION, NFC_TABLES_VERSION
        self.added_tokens = [
            token
            for token, (_, kind) in enumerate(vocabulary.tokens[: self.first_pad_id])
            if kind in (UNKNOWN, CONTROL, USER_DEFINED)
        ]
        self._byte_tokens = {}
        for token, (data, kind) in enumerate(vocabulary.tokens):
            if len(data) == 1 and kind == NORMAL:
                self._byte_tokens.setdefault(data[0], token)

    def byte_token(self, byte):
        return self._byte_tokens.get(byte)

    def merge(self, left, right):
        return self._merges.get((left, right))

    def token_bytes(self, token):
        return self._tokens[token][0]

    def token_type(self, token):
        return self._tokens[token][1]
