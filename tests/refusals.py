"""How tests ask for the one line of a refusal."""

import pytest

from formats.errors import FormatError


def refusal(call, *args, error=FormatError, **kwargs):
    """Make a call that must be refused, and return the line."""
    with pytest.raises(error) as caught:
        call(*args, **kwargs)
    line = str(caught.value)
    assert "\n" not in line
    return line


def attempt(call, *args, error=FormatError):
    """Make a call that may be refused, and return (result, None) or (None, error)."""
    try:
        return call(*args), None
    except error as refused:
        return None, refused
