"""The manifest: strict YAML, every mistake with its line and column.

A step declares its keys with `Parameter` and the kinds; `load_manifest` reads a file by such
declarations. The JSON Schema (`schema`) and the reference in words (`describe`) come from the same.
"""

from pipeline.manifest.containers import ListOf, MapOf
from pipeline.manifest.integers import Integer, Size
from pipeline.manifest.kinds import Choice, Digest, FilePath, Flag, Kind, RelativePath, Text
from pipeline.manifest.load import Manifest, load_manifest, parse_manifest
from pipeline.manifest.model import ModelChoice
from pipeline.manifest.parameters import REQUIRED, Parameter, StepDeclaration, as_json
from pipeline.manifest.place import ManifestError, Place, Problem
from pipeline.manifest.steps import StepRequest

__all__ = [
    "REQUIRED",
    "Choice",
    "Digest",
    "FilePath",
    "Flag",
    "Integer",
    "Kind",
    "ListOf",
    "Manifest",
    "ManifestError",
    "MapOf",
    "ModelChoice",
    "Parameter",
    "Place",
    "Problem",
    "RelativePath",
    "Size",
    "StepDeclaration",
    "StepRequest",
    "Text",
    "as_json",
    "load_manifest",
    "parse_manifest",
]
