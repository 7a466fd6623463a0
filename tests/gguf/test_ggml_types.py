"""The table of tensor types: as ggml's C code has it, and against the `gguf` package."""

import gguf
import pytest

from formats.ggml_types import REMOVED, GgmlType, known_type, type_label

# id, name, elements in a block, bytes of a block; measured from ggml's C code.
FACTS = """
0 F32 1/4, 1 F16 1/2, 2 Q4_0 32/18, 3 Q4_1 32/20, 6 Q5_0 32/22, 7 Q5_1 32/24, 8 Q8_0 32/34, 9 Q8_1 32/36,
10 Q2_K 256/84, 11 Q3_K 256/110, 12 Q4_K 256/144, 13 Q5_K 256/176, 14 Q6_K 256/210, 15 Q8_K 256/292,
16 IQ2_XXS 256/66, 17 IQ2_XS 256/74, 18 IQ3_XXS 256/98, 19 IQ1_S 256/50, 20 IQ4_NL 32/18, 21 IQ3_S 256/110,
22 IQ2_S 256/82, 23 IQ4_XS 256/136, 24 I8 1/1, 25 I16 1/2, 26 I32 1/4, 27 I64 1/8, 28 F64 1/8,
29 IQ1_M 256/56, 30 BF16 1/2, 34 TQ1_0 256/54, 35 TQ2_0 256/66, 39 MXFP4 32/17, 40 NVFP4 64/36,
41 Q1_0 128/18, 42 Q2_0 64/18
"""


def test_the_table_holds_the_measured_sizes():
    ours = [f"{t.value} {t.name} {t.block_elements}/{t.block_bytes}" for t in GgmlType]
    assert ours == [fact.strip() for fact in FACTS.replace("\n", " ").split(",")]


def test_the_package_agrees_but_for_two_corrections():
    package = {t.value: (t.name, *gguf.GGML_QUANT_SIZES[t]) for t in gguf.GGMLQuantizationType}
    ours = {t.value: (t.name, t.block_elements, t.block_bytes) for t in GgmlType}
    differing = {key for key in ours | package if ours.get(key) != package.get(key)}
    assert differing == {GgmlType.Q8_1, GgmlType.Q2_0}
    assert package[GgmlType.Q8_1] == ("Q8_1", 32, 40)
    assert ours[GgmlType.Q8_1] == ("Q8_1", 32, 36)
    assert GgmlType.Q2_0 not in package
    assert ours[GgmlType.Q2_0] == ("Q2_0", 64, 18)


def test_every_id_up_to_the_last_is_known_or_removed():
    assert sorted([*GgmlType, *REMOVED]) == list(range(43))


@pytest.mark.parametrize(
    ("type_id", "known", "label"),
    [
        (0, GgmlType.F32, "F32"),
        (14, GgmlType.Q6_K, "Q6_K"),
        (4, None, "removed type 4 (Q4_2)"),
        (38, None, "removed type 38 (IQ4_NL_8_8)"),
        (43, None, "unknown type 43"),
        (2**32 - 1, None, "unknown type 4294967295"),
    ],
)
def test_labels(type_id, known, label):
    assert known_type(type_id) is known
    assert type_label(type_id) == label
