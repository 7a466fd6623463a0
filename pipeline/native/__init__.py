"""The C reader of `examples/q25_nl_tokenizer` on this machine, beside the encoder in Python.

It is what firmware runs: the same source files, built on demand with this machine's compiler.

- `compiler`: finds the compiler and builds the shared library
- `library`: keeps what was built in the user's cache, loads it, declares its functions
- `engine`: an encoder and a decoder over a verified image, as those of `pipeline.bpe`
- `host.c`: what a caller needs to know that does not read the header
"""
