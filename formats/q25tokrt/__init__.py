"""Q25TOKRT: the tokenizer as one memory image that firmware opens where it lies.

`layout` declares the bytes; `pair_index`, `special_index` and `byte_map` arrange the sections that are
the image's own; `packer` makes an image, `image` opens one, `verify` proves every byte of it.
"""
