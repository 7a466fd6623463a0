"""A folder with a tiny model and its manifest, and what tests look at in the folder it is built into."""

import hashlib
import json
from pathlib import Path

from command_line import call, child
from tiny_model import manifest_text, write_tiny

WORK = ".pipeline"


class Project:
    """A manifest `m.yaml` over `tiny.gguf`, built into `out`."""

    def __init__(self, root, *, write=True):
        self.root = Path(root)
        self.gguf = self.root / "tiny.gguf"
        self.manifest = self.root / "m.yaml"
        self.out = self.root / "out"
        if write:
            self.root.mkdir(parents=True, exist_ok=True)
            write_tiny(self.gguf)
            self.write_manifest()

    def write_manifest(self, **parts):
        self.manifest.write_text(manifest_text(**parts), encoding="utf-8")
        return self.manifest

    def run(self, *arguments):
        return call("run", self.manifest, *arguments)

    def status(self, *arguments):
        return call("status", self.manifest, *arguments)

    def clean(self, *arguments):
        return call("clean", self.manifest, *arguments)

    def child(self, *arguments, **options):
        return child("run", self.manifest, *arguments, **options)

    def events(self, *arguments):
        """Run with --json, and give each step's event by its name."""
        outcome = self.run("--json", *arguments)
        return {event["step"]: event for event in outcome.objects if event["event"] == "step"}

    def states(self, *arguments):
        """Run with --json, and give each step's state."""
        return {step: event["state"] for step, event in self.events(*arguments).items()}

    def reasons(self, *arguments):
        """Run with --json, and give the reasons of the steps that were not fresh."""
        events = self.events(*arguments)
        return {step: event["reasons"] for step, event in events.items() if event["state"] != "fresh"}

    def names(self):
        """List the files in the output folder, without the tool's own."""
        return names(self.out)

    def contents(self):
        return contents(self.out)

    def stamps(self):
        """Tell mtime and inode of each file."""
        return {name: stamp(self.out / name) for name in self.names()}

    def record(self):
        return json.loads((self.out / "build.json").read_bytes())

    def recorded(self):
        """Give what the record says of each artifact, by name."""
        steps = self.record()["steps"]
        return {artifact["name"]: artifact for step in steps for artifact in step["artifacts"]}

    def known(self):
        return json.loads((self.out / WORK / "files.json").read_bytes())["files"]

    def edit_record(self, change):
        """Let `change` alter the record's document, and write it back."""
        path = self.out / "build.json"
        document = json.loads(path.read_bytes())
        change(document)
        path.write_text(json.dumps(document), encoding="utf-8")

    def edit_known(self, change):
        """Let `change` alter the list of known files, and write it back."""
        path = self.out / WORK / "files.json"
        document = json.loads(path.read_bytes())
        change(document["files"])
        path.write_text(json.dumps(document), encoding="utf-8")


def names(folder):
    """List the files below a folder, without the tool's own; links and pipes count."""
    found = [path.relative_to(folder) for path in Path(folder).rglob("*") if not path.is_dir()]
    return sorted(path.as_posix() for path in found if path.parts[0] != WORK)


def contents(folder):
    """Give the SHA-256 of each file below a folder, without the tool's own."""
    return {name: sha256(Path(folder, name).read_bytes()) for name in names(folder)}


def stamp(path):
    status = path.stat()
    return status.st_mtime_ns, status.st_ino


def sha256(data):
    return hashlib.sha256(data).hexdigest()
