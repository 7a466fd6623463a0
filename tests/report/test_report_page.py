"""The page: well-formed, reachable, self-contained, and with the figures of the files."""

import itertools
import json

import pytest
from command_line import call
from report_pages import Page, number
from tiny_model import N_TOKENS

from formats.q25tokrt.image import open_image
from pipeline.report.map_view import map_view
from pipeline.report.maps import MapPart, ScaledMap

IMAGE = "q25_tokenizer.img"


@pytest.fixture(scope="module")
def root(built_once, tmp_path_factory):
    """Give the folder of the tiny model's build, and the page beside it."""
    folder = built_once / "out"
    assert call("report", folder, "-o", folder.with_name("page.html")).done().out.count("\n") == 1
    return folder


@pytest.fixture(scope="module")
def page(root):
    return Page(root.with_name("page.html").read_text(encoding="utf-8"))


def test_it_is_a_whole_page(page):
    html = page.root.one("html")
    assert html.attributes["lang"] == "en"
    assert [part.tag for part in html.inner if part != "\n"] == ["head", "body"]
    assert page.root.one("title").text == page.root.one("h1").text == "Build of tiny.gguf"
    assert page.headings() == ["Memory maps", "Tensors", "Vocabulary", "Provenance"]
    assert [link.text for link in page.root.one("nav").all("a")] == page.headings()
    assert page.root.one("meta", name="viewport").attributes["content"].startswith("width=device-width")


def test_nothing_is_loaded_and_nothing_runs(page, root):
    (policy,) = page.root.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy.attributes["content"].startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert not {"script", "link", "img", "iframe", "object", "form"} & {part.tag for part in page.root.all()}
    assert all(
        part.attributes["href"].startswith("#") for part in page.root.all() if "href" in part.attributes
    )
    style = page.root.one("style").text
    assert "url(" not in style
    assert "@import" not in style
    assert str(root) not in page.text


def test_every_link_leads_somewhere_and_every_place_is_one(page):
    ids = [part.attributes["id"] for part in page.root.all() if "id" in part.attributes]
    assert len(ids) == len(set(ids))
    targets = {part.attributes["href"][1:] for part in page.root.all() if "href" in part.attributes}
    named = {
        part.attributes["aria-labelledby"] for part in page.root.all() if "aria-labelledby" in part.attributes
    }
    assert targets | named <= set(ids)
    assert page.root.one("main").attributes["id"] == "content"
    first = next(page.root.one("body").all("a"))
    assert (first.attributes["href"], first.attributes["class"]) == ("#content", "skip")


def test_the_keyboard_reaches_what_the_pointer_does(page):
    assert all(part.attributes["href"] for part in page.root.all("a"))
    for box in page.root.all("div", class_="scroll"):
        assert (box.attributes["tabindex"], box.attributes["role"]) == ("0", "region")
        assert box.attributes["aria-label"] == box.one("caption").text
    for segment in page.root.all("a", class_="seg"):
        assert segment.attributes["aria-label"] == segment.one("span", class_="tip").text
    assert all(next(part.all()).tag == "summary" for part in page.root.all("details"))
    for row in page.root.all("tbody"):
        assert all(next(cells.all()).attributes["scope"] == "row" for cells in row.all("tr"))


def test_both_themes_and_print_are_served(page):
    style = page.root.one("style").text
    for words in ("prefers-color-scheme: dark", "color-scheme: light dark", "@media print", ":focus-visible"):
        assert words in style
    # Every colour that one theme names the other names too.
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    names = {
        line.split(":")[0].strip()
        for line in light.replace("{", ";").split(";")
        if "--" in line.split(":")[0]
    }
    assert names
    assert all(f"{name}:" in dark.partition("* {")[0] for name in names)


def test_the_map_of_the_image_is_to_scale(page, root):
    data = (root / IMAGE).read_bytes()
    strip = next(page.root.all("div", class_="strip"))
    segments = list(strip.all("a", class_="seg"))
    shares = [float(segment.attributes["style"].removeprefix("flex-grow:")) for segment in segments]
    assert sum(shares) == pytest.approx(100, abs=0.01)
    rows = page.table(f"Parts of {IMAGE}")
    assert len(rows) == len(segments)
    end = 0
    for row, segment, share in zip(rows, segments, shares, strict=True):
        name, first, last, size = row[0], number(row[1]), number(row[2]), number(row[3])
        assert first == end
        assert last - first + 1 == size
        assert share == pytest.approx(100 * size / len(data), abs=0.001)
        assert segment.attributes["aria-label"].startswith(
            f"{name}: 0x{first:X} to 0x{last:X}, {size:,} bytes, "
        )
        end = last + 1
    assert end == len(data)


def test_narrow_parts_are_drawn_again():
    sizes = [
        ("header", 64),
        ("directory", 32),
        ("body", 100_000),
        ("end", 8),
        ("padding", 24),
        ("tail", 50_000),
    ]
    ends = list(itertools.accumulate(size for _, size in sizes))
    parts = tuple(MapPart(name, end - size, size) for (name, size), end in zip(sizes, ends, strict=True))
    text = map_view(3, ScaledMap("x.bin", "A file.", 0x1000, ends[-1], parts), {})
    drawn = Page(f'<!DOCTYPE html>\n<html lang="en">\n{text}</html>').root
    fine = [
        [part.attributes["aria-label"].split(":")[0] for part in box.all("a")]
        for box in drawn.all(class_="fine")
    ]
    assert fine == [["header", "directory"], ["end", "padding"]]
    for box in drawn.all(class_="fine"):
        shares = [float(part.attributes["style"].split(":")[1]) for part in box.all("a")]
        assert sum(shares) == pytest.approx(100, abs=0.01)
    assert f"0x1000 to 0x105F, magnified {ends[-1] / 96:,.0f} times" in drawn.text
    # One narrow part by itself is not drawn again.
    (last,) = (row for row in drawn.one("tbody").all("tr") if row.one("th").text == "tail")
    assert last.attributes["id"] == "m3p5"


def test_the_sections_are_those_of_the_image(page, root):
    described = json.loads((root / "q25_tokenizer.json").read_bytes())
    rows = {row[0]: row for row in page.table(f"Parts of {IMAGE}")}
    for section in described["sections"]:
        name, first, _, size, _, crc, sha256 = rows[f"sections.{section['name']}"]
        assert (number(first), number(size), int(crc, 0)) == (
            section["offset"],
            section["length"],
            int(section["crc32"], 0),
        )
        assert sha256.startswith(section["sha256"]), name
    assert rows["sections.token_bytes"][-1].endswith(" as token_bytes.bin")
    assert len(open_image((root / IMAGE).read_bytes()).sections) == len(described["sections"])


def test_the_other_packed_files_have_maps(page, root):
    titles = [heading.text for heading in page.root.all("h3")]
    assert {IMAGE, "vocab.bin", "tokenizer.bin"} <= set(titles)
    for name in (IMAGE, "vocab.bin", "tokenizer.bin"):
        rows = page.table(f"Parts of {name}")
        assert sum(number(row[3]) for row in rows) == (root / name).stat().st_size
    parts = {
        row["part"]: row["size"]
        for row in call("size", root / "tokenizer.bin", "--json").objects
        if "part" in row
    }
    shown = {row[0]: number(row[3]) for row in page.table("Parts of tokenizer.bin")}
    assert shown["header"] == parts["header"]
    assert shown["vocab"] == sum(size for name, size in parts.items() if name.startswith("vocab[]"))


def test_the_tensors_by_type_and_size(page, root):
    document = json.loads((root / "model.json").read_bytes())
    rows = page.table("Tensors by type")
    assert {row[0]: (number(row[1]), number(row[3])) for row in rows} == {
        kind: (entry["tensors"], entry["bytes"]) for kind, entry in document["counts"]["types"].items()
    }
    assert [number(row[3]) for row in rows] == sorted((number(row[3]) for row in rows), reverse=True)
    assert sum(number(row[2]) for row in rows) == document["counts"]["parameters"]
    tensors = page.table("Tensors by size")
    assert {row[0]: (row[1], row[2], number(row[3])) for row in tensors} == {
        tensor["name"]: (tensor["type"], " × ".join(map(str, tensor["ne"])), tensor["size"])
        for tensor in document["tensors"]
    }
    assert [number(row[3]) for row in tensors] == sorted((number(row[3]) for row in tensors), reverse=True)


def test_the_vocabulary_counts(page, root):
    facts = json.loads((root / "tokenizer_facts.json").read_bytes())
    counts, shown = facts["counts"], page.figures()
    for name in ("tokens", "base", "added", "padded"):
        assert number(shown[name]) == counts[name]
    assert number(shown["longest token"]) == facts["max_token_bytes"]
    types = {row[0]: number(row[1]) for row in page.table("All tokens by type")}
    assert types == {name: count for name, count in counts["types"].items() if count}
    tokens = [json.loads(line) for line in (root / "tokens.jsonl").read_text(encoding="utf-8").splitlines()]
    lengths = {row[0]: number(row[1]) for row in page.table("Base tokens by length in bytes")}
    found = [len(token["bytes"]) // 2 for token in tokens if token["type"] == 1]
    assert lengths == {str(length): found.count(length) for length in sorted(set(found))}
    scripts = {row[0]: number(row[1]) for row in page.table("Base tokens by script")}
    assert sum(scripts.values()) == counts["base"]
    # 256 single bytes, and "cd", "ab", "abc", " a", "hi", " hi".
    assert scripts["Latin"] == 52 + 6
    assert (scripts["part of a character"], scripts["numbers"]) == (128, 10)
    assert len(tokens) == N_TOKENS


def test_the_way_from_the_blob_to_each_section(page, root):
    record = json.loads((root / "build.json").read_bytes())
    blob = record["source"]["gguf"]["sha256"]
    assert page.table("What the model was read from") == [
        ["GGUF", f"{record['source']['gguf']['size']:,}", f"sha256:{blob}"]
    ]
    assert page.figures()["blob sha256"] == blob[:12]
    for step in record["steps"]:
        (box,) = (
            box for box in page.root.all("details") if box.all("strong") and _title(box) == step["step"]
        )
        read = {item.text.split(" ")[0]: item for item in box.all("li")}
        for name, digest in step["inputs"].items():
            assert read[name].text == f"{name} {digest}"
        if "model" in step["inputs"]:
            assert read["model"].one("a").attributes["href"] == "#blob"
        rows = [row for row in page.table(f"Files of the step {step['step']}") if not row[0].startswith("↳")]
        assert [(row[0], number(row[1]), row[2]) for row in rows] == [
            (artifact["name"], artifact["size"], artifact["sha256"]) for artifact in step["artifacts"]
        ]
    sections = [row for row in page.table("Files of the step runtime_image") if row[0].startswith("↳")]
    described = json.loads((root / "q25_tokenizer.json").read_bytes())["sections"]
    assert [(row[0], row[2], row[3]) for row in sections] == [
        (
            f"↳ sections.{section['name']}",
            section["sha256"],
            f"section at 0x{section['offset']:X}, CRC-32 0x{int(section['crc32'], 0):08X}",
        )
        for section in described
    ]


def _title(box):
    found = list(box.all("strong"))
    return found[0].text if found else ""


def test_a_whole_build_is_said_to_be_one(page):
    assert page.root.one("p", class_="good").text == "Every file is as the build record has it."
    assert not list(page.root.all(class_="faults"))
