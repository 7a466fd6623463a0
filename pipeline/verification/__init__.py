"""Proving artifacts: by the digests of the build record, and by what their layouts demand."""
