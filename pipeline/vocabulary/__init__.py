"""The vocabulary of a byte-level BPE model: read from a GGUF, checked, and held in columns."""
