"""Write the generated pages: `python -m pipeline.documentation [--check] [FOLDER]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pipeline.documentation.pages import PAGES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main(argv: list[str] | None = None) -> int:
    """Write the pages, or with --check tell which ones differ."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.documentation", description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=DOCS)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a page differs")
    arguments = parser.parse_args(argv)
    stale = []
    for name, make in PAGES.items():
        path, page = arguments.folder / name, make()
        if path.is_file() and path.read_text(encoding="utf-8") == page:
            continue
        stale.append(name)
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page, encoding="utf-8", newline="\n")
    for name in stale:
        print(f"{'differs' if arguments.check else 'written'}: {name}")
    return int(arguments.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
