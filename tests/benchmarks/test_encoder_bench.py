"""What `benchmarks/encoders.py` does before and after it measures: choosing text, reading figures, making the page."""

import copy
import gettext
import gzip
import hashlib
import io
import json
import re
import struct
import sys
from array import array
from pathlib import Path
from unicodedata import normalize

import pytest
from command_line import ROOT
from hypothesis import given
from hypothesis import strategies as st
from required_tools import miss, need, run
from small_vocabulary import CONTROL, grown

from formats.q25tokrt.layout import Profile
from formats.q25tokrt.verify import verify_image
from pipeline.bpe.encoder import Encoder
from pipeline.bpe.image_tables import ImageTables

BENCHMARKS = ROOT / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from encoder_bench import (  # noqa: E402
    corpus,
    instructions,
    page,
    peers,
    processes,
    profiles_page,
    speed,
    tables,
    target,
    workplace,
    worst,
)

PAGES = {"encoders.md": page.page, "profiles.md": profiles_page.page}


# ---- Texts ---------------------------------------------------------------------------------------------


@given(st.text("aé中\U0001f600\n", max_size=60), st.integers(4, 20))
def test_a_text_is_cut_into_documents(text, most):
    data = text.encode()
    parts = list(corpus.cut(data, most))
    assert b"".join(parts) == data
    for part, following in zip(parts, [*parts, b""][1:], strict=True):
        assert 0 < len(part) <= most
        part.decode()
        # It ends with a line, or holds none that ends, or is the last.
        assert part.endswith(b"\n") or b"\n" not in part or following == b""


def test_documents_are_taken_up_to_a_size():
    documents = [b"aa", b"bbb", b"c", b"dddd"]
    assert [list(corpus.taken(documents, most)) for most in (0, 2, 4, 5, 6, 100)] == [
        documents[:1], documents[:1], documents[:1], documents[:2], documents[:3], documents,
    ]  # fmt: skip
    assert list(corpus.taken([], 5)) == []


def test_groups_take_turns():
    assert list(corpus.in_turn([iter([b"a", b"b", b"c"]), [], [b"1", b""]])) == [b"a", b"1", b"b", b"", b"c"]


def test_documents_are_written_as_they_are_read(tmp_path):
    documents = ["a\0b", "", "é" * 300]
    path = tmp_path / "x.docs"
    path.write_bytes(corpus.packed(text.encode() for text in documents))
    assert peers.read_documents(str(path)) == documents


def catalog(entries, order):
    """Write a `.mo` file of (original, translation), in the order given."""
    count = len(entries)
    rows, texts, at = [b"", b""], b"", 28 + 16 * count
    for side in (0, 1):
        for entry in entries:
            rows[side] += struct.pack(f"{order}2I", len(entry[side]), at + len(texts))
            texts += entry[side] + b"\0"
    head = struct.pack(f"{order}7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, 0)
    return head + rows[0] + rows[1] + texts


@pytest.mark.parametrize("order", ["<", ">"])
def test_messages_of_a_catalog(order):
    """Plurals one by one, and not the header; as Python's own reader finds them."""
    header = b"Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n != 1;\n"
    entries = [(b"", header), (b"file\0files", "fișier\0fișiere".encode()), (b"open", b"deschide\nacum")]
    data = catalog(entries, order)
    found = [text.decode() for text in corpus.messages(data)]
    assert found == ["fișier", "fișiere", "deschide\nacum"]
    known = gettext.GNUTranslations(io.BytesIO(data))
    assert [
        known.ngettext("file", "files", 1),
        known.ngettext("file", "files", 2),
        known.gettext("open"),
    ] == found


def test_files_come_in_an_order_of_their_own(tmp_path):
    """By name, whatever order the system lists them in; unpacked; links to others left out."""
    names = [f"{number}.txt" for number in range(20)]
    for folder, order in (("one", names), ("other", names[::-1])):
        (tmp_path / folder).mkdir()
        for name in order:
            (tmp_path / folder / name).write_text(name)
        (tmp_path / folder / "link.txt").symlink_to("1.txt")
        (tmp_path / folder / "packed.txt.gz").write_bytes(gzip.compress(b"packed", mtime=0))
        (tmp_path / folder / "tests").mkdir()
        (tmp_path / folder / "tests" / "1.txt").write_text("a test")
    assert b"a test" in [*corpus.contents(tmp_path / "one", "**/*.txt")]
    assert b"a test" not in [*corpus.contents(tmp_path / "one", "**/*.txt", ("test", "tests"))]
    one, other = ([*corpus.contents(tmp_path / name, "*.txt*")] for name in ("one", "other"))
    assert one == other
    assert sorted(one) == sorted([*(name.encode() for name in names), b"packed"])
    assert one != sorted(one)


@pytest.fixture
def packages(tmp_path):
    """Give packages with a little text in the files that the benchmark takes."""

    def put(package, path, text):
        file = tmp_path / package / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text, mtime=0) if path.endswith(".gz") else text)

    for package, path in (
        ("debian-policy", "usr/share/doc/debian-policy/policy.txt.gz"),
        ("debian-reference-en", "usr/share/debian-reference/debian-reference.en.txt.gz"),
        ("developers-reference", "usr/share/developers-reference/developers-reference.txt.gz"),
        ("manpages", "usr/share/man/man7/signal.7.gz"),
        ("debian-reference-zh-cn", "usr/share/debian-reference/debian-reference.zh-cn.txt.gz"),
        ("manpages-zh", "usr/share/man/zh_CN/man1/ls.1.gz"),
        ("linux-libc-dev", "usr/include/linux/fs.h"),
    ):
        put(package, path, f"text of {package}\n".encode() * 2_000)
    put("manpages-zh", "usr/share/man/zh_CN/man1/old.1.gz", "不".encode("gbk") * 100)
    for language in corpus.SCRIPTS:
        for package in ("vlc-l10n", "libgtk-3-common"):
            messages = [
                (b"%d" % number, f"{package} {language} {number} é".encode()) for number in range(400)
            ]
            put(package, f"usr/share/locale/{language}/LC_MESSAGES/x.mo", catalog(messages, "<"))
    return tmp_path


def test_the_texts(packages):
    most = 100_000
    texts = corpus.corpora(packages, most)
    assert [one.name for one in texts] == ["English", "code", "Chinese", "mixed"]
    for one in texts:
        assert 0 < one.size <= most
        assert all(0 < len(document) <= corpus.DOCUMENT_BYTES for document in one.documents)
        assert b"\xb2" not in b"".join(one.documents)  # the page that is not UTF-8
    english, code, chinese, mixed = (b"".join(one.documents) for one in texts)
    assert b"text of debian-policy" in english
    assert b"text of linux-libc-dev" in code
    assert b"import " in code
    assert b"zh" in chinese
    assert [language for language in corpus.SCRIPTS if f"vlc-l10n {language} 1 é".encode() not in mixed] == []
    assert corpus.corpora(packages, most) == texts
    assert [one.sha256 for one in corpus.corpora(packages, most)] == [one.sha256 for one in texts]
    assert corpus.corpora(packages, most // 2)[0].documents == texts[0].sample(most // 2)


def test_at_least_ten_scripts():
    assert len(set(corpus.SCRIPTS.values())) == len(corpus.SCRIPTS) >= 10


# ---- Programs -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    program = tmp_path_factory.mktemp("harness") / "harness"
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
    sources = (workplace.HERE / "harness.c", workplace.READER / "q25_nl_tokenizer.c")
    run(need("gcc"), *workplace.HOST, *warnings, f"-I{workplace.READER}", *sources, "-o", program)
    return program


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Give an image, documents, and their ids."""
    folder = tmp_path_factory.mktemp("files")
    vocabulary = grown("a|b", "ab|c", added=[("<s>", CONTROL)])
    image = vocabulary.image()
    (folder / "x.img").write_bytes(image)
    documents = ["abc ab", "", "<s>\0é", "e\u0301 " + "a" * 500]
    (folder / "x.docs").write_bytes(corpus.packed(text.encode() for text in documents))
    encoder = Encoder(ImageTables(verify_image(image)))
    return folder / "x.img", folder / "x.docs", [encoder.encode(text) for text in documents]


def put_image(place, image):
    place.image(Profile.STANDARD).parent.mkdir()
    place.image(Profile.STANDARD).symlink_to(image)


def test_the_ids_of_the_c_process(harness, files, tmp_path):
    image, documents, ids = files
    place = workplace.Workplace(tmp_path, [])
    (tmp_path / "harness").symlink_to(harness)
    put_image(place, image)
    assert speed.digests_of(place, Profile.STANDARD, documents) == [peers.digest(one) for one in ids]
    assert peers.digest([1, 2]) == hashlib.sha256(array("I", [1, 2]).tobytes()).hexdigest()


def test_the_other_tasks_of_the_c_process(harness, files):
    image, documents, _ = files
    first, peak = run(harness, "first", image).split()
    assert int(first) == ord("H")
    assert int(peak) > 100
    times = run(harness, "time", image, documents, 3).split()
    assert len(times) == 3
    assert all(int(time) > 0 for time in times)
    assert run(harness, "encode", image, documents, 2) == ""
    assert int(run(harness, "open", image, 100)) > 0
    scratch, piece = map(int, run(harness, "scratch", image, documents).split())
    assert piece == 501  # the blank before it belongs to it
    assert 9 * 501 <= scratch <= 29 * 504 + 512
    assert run(harness, "encode", image, documents, 0) == ""


def test_what_the_c_process_refuses(harness, files, tmp_path):
    import subprocess

    image, documents, _ = files
    (tmp_path / "bad.img").write_bytes(image.read_bytes()[:-64])
    for words in (["x"], ["time", image], ["nothing", image, documents], ["first", tmp_path / "bad.img"]):
        done = subprocess.run([harness, *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("harness: ")


@pytest.mark.parametrize("name", ["counter.c", "marks.c"])
def test_what_counts_is_built_without_a_warning(name, tmp_path):
    if name == "marks.c" and not Path("/usr/include/valgrind/callgrind.h").exists():
        miss("no valgrind/callgrind.h on this machine: install valgrind")
    flags = ("-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-DPLUGIN_VERSION=1")
    run(need("gcc"), *flags, workplace.HERE / name, "-o", tmp_path / "x.so")


def test_instructions_are_counted_under_qemu(tmp_path, files):
    """A pass costs the same each time: twice as many passes, twice as many instructions."""
    image, documents, _ = files
    compiler = need("aarch64-linux-gnu-gcc")
    need("qemu-aarch64")
    sources = (workplace.HERE / "harness.c", workplace.READER / "q25_nl_tokenizer.c")
    flags = (*workplace.HOST, "-static", f"-I{workplace.READER}")
    run(compiler, *flags, *sources, "-o", tmp_path / "harness-a53")
    place = workplace.Workplace(tmp_path, [])
    put_image(place, image)
    plugin = instructions.build_plugin(place)
    once, twice = (
        instructions.on_a53(place, plugin, Profile.STANDARD, "encode", documents, turns) for turns in (1, 2)
    )
    assert 5_000 < once < 5_000_000
    assert twice == 2 * once


# ---- Figures --------------------------------------------------------------------------------------------


def test_figures_are_read_from_what_tools_print():
    listing = (
        "x  :\nsection  size  addr\n.text  100 0\n.text.hot  20 0\n.rodata 7 0\n.rodata.a 1 0\nTotal 128\n"
    )
    assert target.section_bytes(listing, ".text") == 120
    assert target.section_bytes(listing, ".rodata") == 8
    assert target.largest_frame("a.c:1:2:f\t96\tstatic\na.c:9:2:g\t560\tstatic\n") == 560
    with pytest.raises(SystemExit, match="no fixed size"):
        target.largest_frame("a.c:1:2:f\t96\tdynamic\n")
    assert instructions.totals("events: Ir\nfn=(1)\n1 2\ntotals: 3937235\n") == 3937235


def test_the_bound_of_scratch_is_that_of_the_header():
    factor, constant = re.fullmatch(r"(\d+) n \+ (\d+)", target.scratch_bound()).groups()
    assert int(factor) >= 9
    assert int(constant) > 0


def test_calls_of_every_length():
    sample = [b"a" * 5000, b"b" * 10]
    found = {name: parts(sample) for name, parts in target.CALLS.items()}
    assert {b"".join(parts) for parts in found.values()} == {b"".join(sample)}
    assert [len(parts) for parts in found.values()] == [1, 2, 4]


def test_every_tool_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit) as caught:
        workplace.require_tools()
    for package in ("gcc", "valgrind", "qemu-user", "gcc-aarch64-linux-gnu"):
        assert f" {package}" in str(caught.value)


def test_a_program_that_fails_ends_the_run():
    with pytest.raises(SystemExit, match=r"exit code 3\nno such thing"):
        workplace.run("sh", "-c", "echo no such thing >&2; exit 3")


# ---- The page -------------------------------------------------------------------------------------------

NAMES = ("English", "code", "Chinese", "mixed")


def figures():
    """Make up a run's figures."""

    def each(value):
        return dict.fromkeys(NAMES, value)

    encoders, readers = processes.ENCODERS, processes.READERS
    start = {"milliseconds": 1.5, "processor_milliseconds": 1.0, "mib": 3.0}
    return {
        "machine": {"cpu": "A CPU", "arch": "x86_64", "cores": 2, "load": 0.25, "system": "Debian"},
        "versions": {
            "python": "3.11.2", "gcc": "gcc 12", "valgrind": "valgrind-3.19", "aarch64-linux-gnu-gcc": "gcc 12",
            "qemu-aarch64": "qemu 7.2", **dict.fromkeys((processes.REFERENCE, *processes.PEERS), "1.0"),
        },
        "packages": {"manpages": "6.03-2"},
        "corpora": [
            {"name": name, "origin": f"{name} text", "documents": 1000, "bytes": 2_000_000, "sha256": "ab" * 32}
            for name in NAMES
        ],
        "runs": 5, "start_runs": 11, "sample_bytes": 262_144, "worst_bytes": 1 << 20, "a53_flags": "-O2",
        "wrong": {encoder: each(0) for encoder in encoders if encoder != processes.REFERENCE},
        "speed": {encoder: each(2.0) for encoder in encoders} | {reader: each(20.0) for reader in readers},
        "first": dict.fromkeys((*encoders, speed.ONLY_PYTHON), start),
        "sizes": {
            name: {"text_linked": 12_000, "text_all": 14_000, "tables": 80_000, "frame": 600}
            for name in target.builds()
        },
        "scratch_bound": "29 n + 512",
        "scratch": {reader: {name: {"needed": 5000, "piece": 500} for name in NAMES} for reader in readers},
        "a53": {
            reader: {call: each(240.0 if reader == processes.C_READER else 130.0) for call in target.CALLS}
            for reader in readers
        },
        "worst": {
            reader: {name: {"instructions": 350.0, "scratch": 0.125} for name in worst.texts(4)}
            for reader in readers
        },
        "packing": {reader: {"bytes": 5_000_000, "seconds": 4.5, "mib": 400.0} for reader in readers},
        "opening": {
            reader: {"microseconds": 1.0, "instructions": 2000.0, "a53_instructions": 1900.0} for reader in readers
        },
        "instructions": {encoder: each(1234.5) for encoder in encoders},
    }  # fmt: skip


def outcomes(text):
    section = text.split("## Aims\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [line.split(" | ")[-1].removesuffix(" |") for line in rows[2:]]


def test_aims_that_are_met_to_the_last_digit():
    assert outcomes(page.page(figures())) == ["met"] * 6


def test_aims_that_are_missed():
    missed = copy.deepcopy(figures())
    missed["speed"][processes.C_READER]["mixed"] = 19.9
    calls = missed["a53"][processes.C_READER]
    calls["in one call"]["mixed"] = 240.1
    calls["in one call"]["code"] = 999
    missed["opening"][processes.C_READER]["microseconds"] = 1.01
    missed["sizes"][page.STANDARD] = {
        "text_linked": 12_001, "text_all": 14_000, "tables": 80_001, "frame": 601,
    }  # fmt: skip
    assert outcomes(page.page(missed)) == ["missed: mixed", "missed: in one call", *["missed"] * 4]


def test_aims_of_the_other_profiles():
    met = figures()
    fast, compact = (
        next(reader for reader, one in processes.READERS.items() if one == profile)
        for profile in (Profile.FAST, Profile.COMPACT)
    )
    met["packing"][compact]["bytes"] = 1_350_000
    assert outcomes(profiles_page.page(met)) == ["met"] * 8
    missed = copy.deepcopy(figures())
    missed["a53"][fast]["by document"]["mixed"] = 130.1
    missed["worst"][fast]["random letters"] = {"instructions": 350.1, "scratch": 0.126}
    missed["speed"][fast]["Chinese"] = 2.5
    missed["speed"][compact]["code"] = 9.9
    missed["packing"][fast] |= {"seconds": 7.6, "mib": 400.1}
    assert outcomes(profiles_page.page(missed)) == [
        "missed",
        "missed: code",
        "missed: by document",
        "missed: random letters",
        "missed",
        "missed: Chinese",
        "missed: fast",
        "missed: fast",
    ]


def test_worst_cases_are_the_same_every_time_and_of_their_size():
    made = worst.texts(3000)
    assert made == worst.texts(3000)
    assert {name: len(text) for name, text in made.items()} == dict.fromkeys(made, 3000)
    assert len(made["random Han"].decode()) == 1000
    assert {name for name, text in made.items() if normalize("NFC", text.decode()) != text.decode()} == {
        worst.NOT_NFC
    }


def test_a_reader_of_one_profile_leaves_out_the_others():
    builds = target.builds()
    assert builds[target.ALL] == []
    assert {profile.name.lower() for profile in Profile} == {*builds} - {target.ALL}
    source = (workplace.READER / "q25_nl_tokenizer.c").read_text()
    for defines in builds.values():
        for define in defines:
            assert define.removeprefix("-D") in source
    assert builds["fast"] != builds["standard"]


def test_what_a_process_takes():
    seconds, mib = processes.usage([sys.executable, "-c", "b'x' * 50_000_000; sum(range(10**6))"])
    assert 0 < seconds < 60
    assert mib > 40
    with pytest.raises(SystemExit, match="exit code 3"):
        processes.usage([sys.executable, "-c", "raise SystemExit(3)"])


def test_ratios_are_to_the_reference():
    found = figures()
    found["speed"][processes.REFERENCE] = dict(zip(NAMES, (1.0, 2.0, 4.0, 8.0), strict=True))
    assert tables.ratios(found)[processes.C_READER] == dict(zip(NAMES, (20.0, 10.0, 5.0, 2.5), strict=True))
    assert set(tables.ratios(found)[processes.REFERENCE].values()) == {1.0}


def test_figures_survive_the_file_that_keeps_them():
    kept = json.loads(json.dumps(figures()))
    for write in PAGES.values():
        assert write(kept) == write(figures())


def skeleton(text):
    """Give headings, and the first row and column of each table."""
    kept = []
    for line in text.splitlines():
        if line.startswith("#"):
            kept.append(line)
        elif line.startswith("| "):
            cells = line.strip("| ").split(" | ")
            is_head = not kept or not kept[-1].startswith("|")
            kept.append(f"| {' | '.join(cells) if is_head else cells[0]}")
        elif kept and kept[-1].startswith("|"):
            kept.append("")
    return [line for line in kept if line]


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_has_the_form_that_the_script_gives_it(name):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert tables.NOTICE in text
    assert skeleton(text) == skeleton(PAGES[name](figures()))
    assert all(re.search(r"\d", line) for line in text.splitlines() if line.startswith("| C reader"))


@pytest.mark.parametrize("name", PAGES)
def test_the_readme_names_the_page(name):
    assert f"docs/{name}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_peer_is_pinned_and_loaded():
    pinned = (workplace.HERE / "requirements.txt").read_text().splitlines()
    names = [line.partition("==")[0] for line in pinned if not line.startswith("#")]
    assert sorted(names) == sorted((processes.REFERENCE, *processes.PEERS))
    assert set(peers.LOADERS) == {*names, processes.ENGINE_C}
    declared = (ROOT / "pyproject.toml").read_text()
    (reference,) = [line for line in pinned if line.startswith("tokenizers==")]
    assert f'"{reference}"' in declared
    assert not [name for name in processes.PEERS if f'"{name}' in declared]
