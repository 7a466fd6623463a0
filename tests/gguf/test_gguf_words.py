"""Names of keys and value types, against the `gguf` package."""

import gguf
import numpy as np

from formats.gguf import keys
from formats.gguf.layout import SCALARS
from formats.gguf.value_types import INTEGERS, ValueType
from formats.layout.dtypes import dtype_of

NOT_IN_THE_PACKAGE = {keys.EOS_IDS}


def names_in(group):
    for name, value in vars(group).items():
        if isinstance(value, type):
            yield from names_in(value)
        elif isinstance(value, str) and not name.startswith("_"):
            yield value


def test_value_types_are_the_package_s():
    package = {kind.name: kind.value for kind in gguf.GGUFValueType}
    assert {kind.name: kind.value for kind in ValueType} == package


def test_sizes_of_scalars_are_the_package_s():
    package = gguf.GGUFReader.gguf_scalar_to_np
    assert set(SCALARS) == {ValueType(kind) for kind in package}
    for kind, number in package.items():
        ours = dtype_of(SCALARS[ValueType(kind)])
        expected = np.uint8 if kind is gguf.GGUFValueType.BOOL else number
        assert ours == np.dtype(expected).newbyteorder("<")
    assert {kind for kind in ValueType if "INT" in kind.name} == INTEGERS


def test_keys_are_the_package_s():
    package = set(names_in(gguf.Keys))
    ours = {value for name, value in vars(keys).items() if name.isupper()}
    prefix = keys.CHAT_TEMPLATE_PREFIX
    assert prefix + "{name}" in package
    assert ours - package - {prefix} == NOT_IN_THE_PACKAGE
