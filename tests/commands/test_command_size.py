"""`pipeline size`: the parts of every artifact add up to it, and a budget holds or is named with its excess."""

import pytest
from command_line import call
from format_files import small_files

from formats.catalog import BY_NAME
from formats.layout.walk import walk
from pipeline.sizes import shares


@pytest.mark.parametrize("name", BY_NAME)
def test_the_parts_are_the_whole_file(name, tmp_path):
    data = small_files(tmp_path)[name]
    found = shares(walk(BY_NAME[name].layout, data))
    assert sum(share.size for share in found) == len(data)
    assert len({share.part for share in found}) == len(found)
    cut = data[: len(data) * 2 // 3]
    assert sum(share.size for share in shares(walk(BY_NAME[name].layout, cut))) == len(cut)


def test_the_parts_of_every_artifact(built):
    paths = [path for path in built.out.rglob("*") if path.is_file() and ".pipeline" not in path.parts]
    for path in [*paths, built.gguf]:
        *parts, total = call("size", path, "--json").done().objects
        assert sum(part["size"] for part in parts) == total["total"] == path.stat().st_size
        assert sum(part["share"] for part in parts) == pytest.approx(1, abs=1e-4)


def test_the_parts_of_an_image(built):
    parts = {
        part["part"]: part["size"]
        for part in call("size", built.out / "q25_tokenizer.img", "--json").objects[:-1]
    }
    assert (parts["header"], parts["directory"], parts["sections.byte_token_map"]) == (256, 192, 1024)
    assert parts["sections.token_index"] == 272 * 8
    assert parts["padding"] < 6 * 64


def test_a_folder_by_file(built):
    *parts, total = call("size", built.out, "--json").done().objects
    sizes = {part["part"]: part["size"] for part in parts}
    assert sizes == {name: (built.out / name).stat().st_size for name in built.names()}
    assert [part["size"] for part in parts] == sorted(sizes.values(), reverse=True)
    assert total == {"total": sum(sizes.values()), "budget": None}


def test_a_budget_that_holds(built):
    size = (built.out / "vocab.bin").stat().st_size
    lines = call("size", built.out / "vocab.bin", "--budget", "1MiB").done().lines
    assert lines[-1] == f"budget 1,048,576 bytes: {(1 << 20) - size:,} left"
    call("size", built.out / "vocab.bin", "--budget", str(size)).done()


def test_a_budget_that_does_not_hold(built):
    size = (built.out / "vocab.bin").stat().st_size
    outcome = call("size", built.out / "vocab.bin", "--budget", "0x40")
    line = outcome.refused(1)
    assert line.startswith(
        f"pipeline: vocab.bin: expected at most 64 bytes, found {size:,}, {size - 64:,} too many; "
        "most go to entries[].token_id, length "
    )
    assert outcome.lines[0] == f"vocab.bin: {size:,} bytes"
    assert "too many" in call("size", built.out, "--budget", "1KiB").refused(1)


@pytest.mark.parametrize("budget", ["6MB", "-1", "", "6.5MiB", "x" * 500, "\x1b[31m", "1e3"])
def test_budgets_that_are_no_sizes(built, budget):
    outcome = call("size", built.out / "vocab.bin", f"--budget={budget}")
    assert "--budget: expected a size like 64, 0x40, 64KiB or 6MiB" in outcome.refused(2)


def test_what_is_not_there(built):
    assert "there is no such file or folder" in call("size", built.root / "nothing").refused(2)


def test_a_file_of_no_known_format_is_one_part(built):
    assert call("size", built.manifest).done().lines[1].split() == [
        "bytes",
        f"{built.manifest.stat().st_size:,}",
        "100.0",
        "%",
    ]
