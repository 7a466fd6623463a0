"""Running `dump --json`, and what must hold for its rows."""

from command_line import call


def dump(path, *arguments, code=0):
    """Run `dump --json` and give its objects."""
    outcome = call("dump", path, *arguments, "--json")
    assert outcome.code == code, outcome
    assert "Traceback" not in outcome.err
    return outcome.objects


def assert_covers(rows, size):
    """Require that the rows' ranges are the file, each byte once, in order."""
    at = 0
    for row in rows:
        assert row["offset"] == at, row
        assert row["size"] >= 0
        at += row["size"]
    assert at == size
