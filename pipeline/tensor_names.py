"""The names of tensors that this tool knows, as llama.cpp's converter writes them."""

EMBEDDING = "token_embd.weight"
OUTPUT = "output.weight"
"""Missing where the output projection is tied to the embedding."""
