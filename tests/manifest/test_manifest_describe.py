"""The reference in words has every key, its kind, its default and its meaning."""

from manifest_samples import STEPS

from pipeline.manifest.describe import describe


def test_every_key_is_described():
    text = describe(STEPS)
    for row in (
        (
            "| `version` | 1, the version that this tool reads | required "
            "| Version of the manifest's language. |"
        ),
        (
            "| `model` | a mapping with one of ollama, gguf or sample | required "
            "| The model that everything is built from. |"
        ),
        (
            "| `sample` | qwen2.5 or qwen3 |  "
            "| The sample: the real vocabulary of this family with a small synthetic body. |"
        ),
        '| `include` | a list of at least 1, each a glob | `["*"]` | Which tensors. |',
        '| `mode` | copy or index | `"copy"` | Copy them \\| list them. |',
        "| `align` | a power of two from 16 (0x10) to 1048576 (0x100000) | `64` | Alignment of sections. |",
        "| `pad` | true or false | `false` | Fill the last page. |",
        "| `corpus` | a path | required | Texts to compare on. |",
        "| `weights` | a mapping of text to a whole number from 0 to 9 | `{}` | Weight of each language. |",
    ):
        assert row in text.split("\n")


def test_every_step_has_its_heading():
    text = describe(STEPS)
    assert "\n### inspect\n\nWrite down what the model holds.\n\nNo parameters.\n" in text
    headings = [line.removeprefix("### ") for line in text.split("\n") if line.startswith("### ")]
    assert headings == list(STEPS)
    assert "at most 256 KiB" in text


def test_keys_inside_of_a_value_are_described_too():
    from pipeline.steps import DECLARATIONS

    text = describe(DECLARATIONS).split("\n")
    size = "a size in bytes from 1 to 18446744073709551615 (0xFFFFFFFFFFFFFFFF)"
    assert f"| `memory.NAME.size` | {size} | required | How many bytes. |" in text
    (row,) = [line for line in text if line.startswith("| `files` |")]
    assert "a mapping with path, as, width, order, depth, pad, fill, address, axi |" in row
    assert any(
        line.startswith("| `files.NAME.axi.max_burst` | a power of two from 1 to 256") for line in text
    )
    assert any(line.startswith('| `files.NAME.order` | little or big | `"little"` | Where') for line in text)
