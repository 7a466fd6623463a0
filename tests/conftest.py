"""What tests of all parts use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared():
    """Give the folder of real model files, which is not part of the project.

    It is `$PIPELINE_SHARED`, or `shared` beside the checkout. Where it is missing, tests that need
    it are skipped; with `PIPELINE_REQUIRE_SHARED=1` they fail.
    """
    stated = os.environ.get("PIPELINE_SHARED")
    folder = Path(stated) if stated else Path(__file__).resolve().parents[2] / "shared"
    if folder.is_dir():
        return folder
    reason = f"no folder {folder}: set PIPELINE_SHARED to where the real model files are"
    if os.environ.get("PIPELINE_REQUIRE_SHARED") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
