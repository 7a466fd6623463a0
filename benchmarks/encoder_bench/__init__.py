"""The parts of `benchmarks/encoders.py`, in the order in which it uses them.

- `corpus`: real text from Debian packages and the standard library, cut into documents
- `workplace`: the folder of a run: corpora, the vocabulary in each peer's form, the peers, C programs
- `peers.py`: encodes with one of the peers, in a process of its own; a script, not a module
- `harness.c`, `marks.c`, `counter.c`: the C reader's process; counting under callgrind; counting under QEMU
- `processes`: which command is which encoder, and running it
- `speed`, `instructions`, `target`: what is measured
- `page`: the page that is made of it
"""
