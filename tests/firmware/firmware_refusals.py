"""Images that full verification refuses, in C and in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from firmware_driver import OK, STATUS, Requests

from formats.errors import FormatError
from formats.q25tokrt.verify import verify_image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firmware_driver import Driver

    Refused = tuple[str, bytes, int, int]
    """Name of the status, the image, kind of the section and row that are named."""


def assert_refused(driver: Driver, fine: bytes, cases: Sequence[Refused]) -> None:
    """Require that one image passes, and that each of the others is refused for what is wrong with it."""
    requests = Requests()
    for image in (fine, *(image for _, image, _, _ in cases)):
        requests.verify(image)
    passed, *answers = driver.run(requests)
    assert passed[:4] == (OK, 0, 0, 0)
    for (name, image, section, row), found in zip(cases, answers, strict=True):
        assert found[:3] == (STATUS[name], section, row), name
        with pytest.raises(FormatError):
            verify_image(image)
