"""The text artifacts: lines of UTF-8, and JSON.

JSON is ASCII, one form for one value. Ids are token ids; offsets and sizes are bytes; digests are
SHA-256 in hex.
"""

from __future__ import annotations

from formats.layout import Field, FileLayout, Key, Lines

_DIGEST = "64 hex digits"


def _text(
    name: str, file_name: str, meaning: str, lines: str, *keys: Key, is_document: bool = False
) -> FileLayout:
    layout = Lines(keys, is_document=is_document)
    return FileLayout(name, meaning, Field("lines", layout, lines, form="text"), file_name=file_name)


TOKENS = _text(
    "tokens",
    "tokens.jsonl",
    "The tokens as text, for people and scripts.",
    "a JSON object for each token, in id order",
    Key("id", "number", "the token's id, equal to the line's number from 0", "token id"),
    Key("token", "string", "the text as in the GGUF: byte-level for normal tokens"),
    Key(
        "type",
        "number",
        "what the token is: 1 normal, 2 unknown, 3 control, 4 user_defined, 5 unused, 6 byte",
    ),
    Key("bytes", "string", "the token's bytes in hex"),
)

MERGES = _text(
    "merges",
    "merges.txt",
    "The merges as in the GGUF.",
    "a merge: left and right part, byte-level, parted by a space; the rank is the line's number from 0",
)

CHAT_TEMPLATE = _text(
    "chat_template",
    "chat_template.txt",
    "The model's chat template, byte for byte.",
    "a line of the template",
)

LAYER = _text(
    "ollama_layer", "layers/*", "A text layer of the Ollama model, byte for byte.", "a line of the layer"
)

FACTS = _text(
    "tokenizer_facts",
    "tokenizer_facts.json",
    "What is known of a tokenizer beside its tokens and merges.",
    "a line of the document",
    Key("tokenizer_model", "string", "the kind of tokenizer: gpt2 is byte-level BPE"),
    Key("pre_tokenizer", "object", "the rule that cuts text into pieces"),
    Key("pre_tokenizer.name", "string or null", "its name"),
    Key("pre_tokenizer.named_by", "string or null", "who named it: model or manifest"),
    Key("pre_tokenizer.served", "bool", "whether this tool encodes by it"),
    Key("pre_tokenizer.nfc", "bool", "whether text is normalised to NFC first"),
    Key("pre_tokenizer.class_tables", "number", "Unicode of the character classes, as in an image's header"),
    Key("pre_tokenizer.nfc_tables", "number", "Unicode of the NFC tables, as in an image's header"),
    Key("counts", "object", "how many tokens, of which kinds; rows of the embedding; merges"),
    Key("first_pad_id", "number", "ids from here on are padding", "token id"),
    Key("max_token_bytes", "number", "length of the longest token", "bytes"),
    Key("special_ids", "object", "ids by role (bos, eos, eot, eom, unk, pad), or null", "token id"),
    Key("add_bos", "bool or null", "whether a text starts with bos"),
    Key("add_eos", "bool or null", "whether a text ends with eos"),
    Key("end_ids", "list of objects", "every id that ends a turn or a text, and what names it"),
    Key("added_tokens", "list of objects", "id, text and type of each added token"),
    Key(
        "duplicates",
        "list of pairs",
        "ids whose text an earlier token has: the earlier, the later",
        "token id",
    ),
    Key("unreachable", "list of numbers", "normal tokens of several bytes that no merge makes", "token id"),
    Key("chat_templates", "object", "the file of each template, by its key"),
    is_document=True,
)

MODEL = _text(
    "model",
    "model.json",
    "Key/values, tensors and counts of a GGUF.",
    "a line of the document",
    Key("gguf_version", "number", "version of the format"),
    Key("file_size", "number", "size of the GGUF", "bytes"),
    Key("alignment", "number", "of the data section and every tensor", "bytes"),
    Key("data_offset", "number", "where the data section starts", "bytes"),
    Key("counts", "object", "key/values, tensors, parameters; tensors and bytes of each type"),
    Key("warnings", "list of strings", "oddities that are no errors"),
    Key("key_values", "object", "type and value of each key; long arrays by count and SHA-256"),
    Key("tensors", "list of objects", "the directory, in the file's order"),
    is_document=True,
)

IMAGE_MANIFEST = _text(
    "q25tokrt_manifest",
    "q25_tokenizer.json",
    "Header and sections of the image, with a digest of each section.",
    "a line of the document",
    Key("version", "string", "major and minor version of the layout"),
    Key("total_bytes", "number", "size of the image", "bytes"),
    Key("section_align", "number", "every section starts on a multiple of it", "bytes"),
    Key("flags", "list of strings", "the flags that are set"),
    Key("profile", "string", "the profile"),
    Key("n_tokens", "number", "rows of the token index, padding included", "tokens"),
    Key("n_base", "number", "tokens of type normal", "tokens"),
    Key("n_added", "number", "entries of the special-token index", "tokens"),
    Key("n_merges", "number", "rows of the merge table"),
    Key("first_pad_id", "number", "ids from here on are padding", "token id"),
    Key("max_token_bytes", "number", "length of the longest token", "bytes"),
    Key("max_probe", "number", "slots that a look-up in the merge-pair index visits"),
    Key("hash_seed", "string", "multiplier of the merge-pair index's hash, in hex"),
    Key("pre_name", "string", "the pre-tokenizer's name"),
    Key("class_tables", "string or null", "Unicode version of the character classes"),
    Key("nfc_tables", "string or null", "Unicode version of the NFC tables"),
    Key("bos_id", "number or null", "id that starts a text", "token id"),
    Key("eos_id", "number or null", "id that ends a text", "token id"),
    Key("pad_id", "number or null", "id that fills a batch", "token id"),
    Key("end_ids", "list of numbers", "every id that ends a turn or a text", "token id"),
    Key("source_sha256", "string", f"of the GGUF blob, {_DIGEST}"),
    Key(
        "sections", "list of objects", "kind, name, offset, length, count, CRC-32 and SHA-256 of each section"
    ),
    is_document=True,
)

TENSOR_MANIFEST = _text(
    "tensor_payload_manifest",
    "tensor_payload_export_manifest.json",
    "Which file holds which tensor.",
    "a line of the document",
    Key("source", "string", f"SHA-256 of the GGUF blob, {_DIGEST}"),
    Key("alignment", "number", "of every tensor in the GGUF", "bytes"),
    Key("data_offset", "number", "where the GGUF's data section starts", "bytes"),
    Key("mode", "string", "how the payloads are stored"),
    Key("include", "list of strings", "patterns of the tensors that were asked for"),
    Key("exclude", "list of strings", "patterns of the tensors that were left out"),
    Key("tied", "object", "the tensor that stands for one that is not there"),
    Key("total_bytes", "number", "size of all payloads", "bytes"),
    Key("tensors", "list of objects", "name, file, type, shape, offset, size and SHA-256 of each"),
    is_document=True,
)

FIRMWARE_PART = _text(
    "firmware_part",
    "firmware/*",
    "A part of a firmware's build: C, assembly, linker, CMake, U-Boot, the memory map.",
    "a line of the part",
)

C_HEADER = _text(
    "c_header", "model_table.h", "Structs of the model table, and its values' declarations.", "a line of C"
)

C_SOURCE = _text("c_source", "model_table.c", "The model table's values as constants.", "a line of C")

PARITY = _text(
    "parity",
    "parity.json",
    "How each tokenizer differs from the reference over a corpus, and why.",
    "a line of the document",
    Key("parity_version", "number", "version of this document"),
    Key("model", "object", "what the reference was set up from"),
    Key("model.gguf_sha256", "string", f"of the GGUF blob, {_DIGEST}"),
    Key("corpus", "object", "the texts"),
    Key("corpus.name", "string", "name of the file or folder, or built-in"),
    Key("corpus.unit", "string", "what a sample is: lines or blocks, or as suits each text"),
    Key("corpus.samples", "number", "how many there are"),
    Key("corpus.bytes", "number", "size of all samples", "bytes"),
    Key("corpus.groups", "list of objects", "name, samples and bytes of each file"),
    Key("reference", "object", "the tokenizer that the others are held against"),
    Key("reference.library", "string", "its library"),
    Key("reference.version", "string", "the library's version"),
    Key("reference.pre_tokenizer", "string", "name of the rule that cuts text into pieces"),
    Key("reference.nfc", "bool", "whether text is normalised to NFC first"),
    Key("reference.tokens", "number", "its ids for the whole corpus", "tokens"),
    Key("reference.tokens_per_byte", "number", "the same for each byte of the corpus"),
    Key("reference.returned", "number", "samples that its ids stand for, as they are or in NFC"),
    Key(
        "reference.decodes_otherwise",
        "list of objects",
        "added tokens that the library itself decodes to another text: id, text, decoded",
    ),
    Key("classes", "object", "what each class of difference claims"),
    Key("listed_differences", "number", "differences listed of each tokenizer and class at the most"),
    Key(
        "parties",
        "list of objects",
        "each tokenizer: samples, equal and returned ones, tokens, differences by class; the same by group",
    ),
    Key(
        "differences",
        "list of objects",
        "tokenizer, sample, place in it, classes, and the ids and pieces of both sides",
    ),
    is_document=True,
)

CHAT_FRAMES = _text(
    "chat_frames",
    "chat_frames.json",
    "What a chat template writes around texts, in tokens.",
    "a line of the document",
    Key("template", "string", "where the template came from"),
    Key("template_sha256", "string", f"of the template, {_DIGEST}"),
    Key("thinking_switch", "string or null", "the template's variable that turns thoughts on and off"),
    Key(
        "thoughts_in_earlier_answers",
        "string",
        "what becomes of the thoughts of answers that are not the last",
    ),
    Key("frames", "object", "text, head, ids and tail of each frame, by its name"),
    Key("end_ids", "list of objects", "every id that ends an answer, and what names it"),
    Key("stop_texts", "list of strings", "texts that end an answer and are no token"),
    is_document=True,
)

BUILD_RECORD = _text(
    "build_record",
    "build.json",
    "Every artifact of a build, and what it was made from.",
    "a line of the document",
    Key("record_version", "number", "version of this document"),
    Key("tool", "object", "name and version of the tool"),
    Key("source", "object", "the model, down to the blob's SHA-256"),
    Key("steps", "list of objects", "inputs, parameters and artifacts of each step"),
    is_document=True,
)
