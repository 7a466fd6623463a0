"""What it takes to make an image of each profile."""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING

from encoder_bench.processes import READERS, usage

if TYPE_CHECKING:
    from encoder_bench.workplace import Workplace


def packing(place: Workplace, runs: int) -> dict[str, dict[str, float]]:
    """Build each image from the model anew: reader -> bytes, seconds of the processor, peak of memory in MiB.

    Medians of the runs, in which the profiles take turns.
    """
    spent: dict[str, list[tuple[float, float]]] = {reader: [] for reader in READERS}
    for _ in range(runs):
        for reader, profile in READERS.items():
            command = (sys.executable, "-m", "pipeline", "run", "--force", place.manifest(profile))
            spent[reader].append(usage(command))
    return {
        reader: {
            "bytes": place.image(profile).stat().st_size,
            "seconds": statistics.median(seconds for seconds, _ in spent[reader]),
            "mib": max(mib for _, mib in spent[reader]),
        }
        for reader, profile in READERS.items()
    }
