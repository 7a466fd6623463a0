"""Artifacts in memory, and the leaves of their tables."""

from pathlib import Path

from formats.catalog import BY_NAME
from formats.layout.tree import Group, Items, Leaf, Table
from formats.layout.walk import walk
from pipeline.artifact_files import ArtifactFile
from pipeline.diff.compare import compare_files


def artifact(name, data):
    """Take bytes for a file of a format."""
    view = memoryview(data)
    return ArtifactFile(Path("no folder") / name, BY_NAME[name], view, walk(BY_NAME[name].layout, view, name))


def compare(name, old, new, limit=0):
    return compare_files(artifact(name, old), artifact(name, new), limit)


def tables(part, found=None):
    """List the tables of a file by their paths."""
    found = {} if found is None else found
    if isinstance(part, Table) and part.count:
        found[part.path] = part
    elif isinstance(part, Group):
        for inner in part.parts:
            tables(inner, found)
    elif isinstance(part, Items):
        for inner in part.items:
            tables(inner, found)
    return found


def leaves(row):
    """List the leaves of a row that decide no size."""
    if isinstance(row, Leaf):
        return [row]
    return [
        part
        for part in row.parts
        if isinstance(part, Leaf) and not part.path.endswith(".length") and part.size
    ]
