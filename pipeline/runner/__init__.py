"""Running a manifest: what has to be made, in which order, and how it gets its final name."""
