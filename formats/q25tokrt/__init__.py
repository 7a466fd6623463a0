"""Q25TOKRT: the tokenizer as one memory image that firmware opens where it lies.

`layout` declares the bytes; `pair_index`, `special_index`, `byte_map` and `token_trie` arrange the sections that are
the image's own, `perfect_index` and `compact_tables` those of profile compact; `packer` makes an image, `image` opens
one, `verify` proves every byte of it.
"""
