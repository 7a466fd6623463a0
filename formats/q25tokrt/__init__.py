"""Q25TOKRT: the tokenizer as one memory image that firmware opens where it lies.

`layout` declares the bytes; `pair_index`, `special_index` and `byte_map` arrange the sections that are the
image's own, `token_trie` and `pair_bitmap` those of profile fast, `perfect_index` and `compact_tables` those of
profile compact; `packer` makes an image, `image` opens one, `verify` proves every byte of it.
"""
