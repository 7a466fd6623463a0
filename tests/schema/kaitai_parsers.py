"""Kaitai's compiler, and the Python parsers that it makes of the exported descriptions.

The compiler is an npm package: `npm install --prefix build/node kaitai-struct-compiler@0.11.0`, or
`PIPELINE_NODE_MODULES` names the folder that holds it.
"""

import importlib.util
import json
import os
from functools import cache
from pathlib import Path

import yaml
from required_tools import miss, need, run

from formats.catalog import FORMATS
from pipeline.schema.kaitai import kaitai

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("compile_ksy.js")
PACKAGE = "kaitai-struct-compiler"


def compile_all(languages, folder, formats=FORMATS):
    """Compile the descriptions of formats to languages, each into a folder of its name inside `folder`."""
    node = need("node")
    stated = os.environ.get("PIPELINE_NODE_MODULES")
    modules = Path(stated) if stated else ROOT / "build" / "node" / "node_modules"
    if not (modules / PACKAGE).is_dir():
        miss(f"no {PACKAGE} in {modules}: npm install --prefix build/node {PACKAGE}@0.11.0")
    files = []
    for known in formats:
        path = folder / f"{known.name}.json"
        path.write_text(json.dumps(yaml.safe_load(kaitai(known.layout))), encoding="utf-8")
        files.append(path)
    run(node, SCRIPT, ",".join(languages), folder, *files, env={**os.environ, "NODE_PATH": str(modules)})


@cache
def parsers(folder):
    """Compile every description to Python; give the parser class of each format."""
    compile_all(["python"], folder)
    return {known.name: _parser(folder / "python" / f"{known.name}.py") for known in FORMATS}


def _parser(path):
    """Load a compiled module under a name of its own: `gguf` is a package's too."""
    from kaitaistruct import KaitaiStruct

    spec = importlib.util.spec_from_file_location(f"kaitai_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (parser,) = [
        found
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, KaitaiStruct) and found.__module__ == module.__name__
    ]
    return parser
