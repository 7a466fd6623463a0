"""Models of engines that do not encode as the model's own tokenizer does, to compare them with it.

Each reads the file that the engine reads, and gives the ids that the engine gives:

- `greedy`: the RK3588 engine, which takes the longest entry of vocab.bin; with its published variants
- `rank_bpe`: byte-level BPE by rank over the whole text, without a pre-tokenizer
- `tokenizer_bin`: the small C engine of tokenizer.bin; `approximate_split` is how it cuts text,
  `string_table` how it finds strings

Texts are bytes, as they are to the engines, and any bytes will do.
"""
