"""Exact byte-level BPE in plain Python: text to token ids and back.

The ids are those of HuggingFace `tokenizers` for every text. What each module does:

- `encoder`: text or UTF-8 bytes to ids: special tokens, NFC, the split rule, merges by rank
- `text_encoder`: what that one and the C reader's have in common
- `decoder`: ids to bytes, whole or one token at a time
- `tables`: what both need to know of a vocabulary, as a protocol
- `specials`, `nfc`, `pretokenizer`, `merging`: the four stages of encoding
- `offsets`: where in the given text a token of the normalised text came from
- `unicode_tables`: the pinned Unicode data, from `class_data` and `nfc_data`
- `derive_tables`, `ask_classes`, `ask_nfc`: how those two were made (need the `tokenizers` package)

Only the standard library is imported, and the Unicode data is unpacked at its first use.
"""
