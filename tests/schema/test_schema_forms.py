"""Text, JSON and Markdown of the declared layouts, and what holds for every declaration."""

import json

import pytest
from tiny_model import STEPS

from formats.catalog import BY_NAME, FORMATS
from formats.gguf.layout import GGUF
from formats.layout import Field, fixed_size
from formats.layout.describe import field_rows
from formats.q25tokrt.layout import IMAGE
from pipeline.schema.json_form import describe_format
from pipeline.schema.names import all_fields, enumerations
from pipeline.schema.tables import markdown_page, text_tables
from pipeline.steps import DECLARATIONS
from pipeline.steps.runtime_image import IMAGE as IMAGE_NAME

by_format = pytest.mark.parametrize("name", BY_NAME)


@by_format
def test_every_field_is_in_every_form(name):
    known = BY_NAME[name]
    text, page, plain = text_tables(known), markdown_page([known]), describe_format(known)
    assert [record["name"] for record in plain["records"]] == [name, *(r.name for r in known.records)]
    for record, described in zip((known.layout, *known.records), plain["records"], strict=True):
        assert described["size"] == fixed_size(record)
        assert [field["name"] for field in described["fields"]] == [field.name for field in record.fields]
        for row in field_rows(record):
            assert f"`{row.name}`" in page
            assert row.meaning in text
    json.dumps(plain, allow_nan=False)


def test_offsets_add_up_until_a_field_varies():
    for known in FORMATS:
        for record in (known.layout, *known.records):
            at = 0
            for row in field_rows(record):
                assert row.offset == at
                at = None if at is None or row.size is None else at + row.size


def test_every_field_has_a_meaning_and_known_words():
    for known in FORMATS:
        for field in all_fields(known.layout):
            assert isinstance(field, Field)
            assert field.docs
            assert not field.docs.endswith(".")
            assert field.form in ("", "hex", "text")


def test_no_enumeration_has_the_name_of_a_record():
    # Exported parsers keep both in one namespace.
    for known in FORMATS:
        names = {record.name for record in known.records} | {known.name}
        assert not names & {found.name for found in enumerations(known.layout)}


def test_every_artifact_has_a_format():
    artifacts = [artifact for step in DECLARATIONS.values() for artifact in step.writes]
    assert {artifact.layout for artifact in artifacts} == {
        known.artifact for known in FORMATS if known.artifact
    }
    names = {artifact.name for artifact in artifacts}
    for known in FORMATS:
        if known.artifact:
            assert known.layout.file_name.replace("/*.bin", "/*") in names
    assert IMAGE.file_name == IMAGE_NAME


CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def test_the_keys_of_a_text_are_those_that_are_written(built):
    (built.root / "chatml").write_text(CHATML, encoding="utf-8")
    built.write_manifest(steps=[*STEPS, "parity", {"chat_frames": {"template": "chatml"}}])
    built.run().done()
    for known in FORMATS:
        path = built.out / known.layout.file_name
        if not known.keys:
            continue
        lines = path.read_text(encoding="ascii").splitlines()
        document = json.loads(lines[0] if known.name == "tokens" else "".join(lines))
        paths = [key.path for key in known.keys]
        assert [path for path in paths if "." not in path] == list(document), known.name
        inner = {path.partition(".")[0] for path in paths if "." in path}
        for name in inner:
            assert [path for path in paths if path.startswith(f"{name}.")] == [
                f"{name}.{key}" for key in document[name]
            ]


def test_what_places_parts_is_described():
    _, directory, sections = describe_format(BY_NAME["q25tokrt"])["records"][0]["fields"]
    assert directory["count"] == "header.section_count"
    assert sections["cases"]["token_index"] == "token_index_record[count]"
    assert sections["cases"]["token_bytes"] == "bytes[length]"
    assert "alignment: header.section_align" in sections["place"]
    tensors = describe_format(BY_NAME["gguf"])["records"][0]["fields"][-1]
    assert "from the first aligned byte behind tensors" in tensors["place"]
    assert GGUF.signature == b"GGUF"
