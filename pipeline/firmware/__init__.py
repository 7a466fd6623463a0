"""What a firmware's own build takes from a run: C sources, assembly, linker, build system, boot loader."""
