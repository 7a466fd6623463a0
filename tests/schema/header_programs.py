"""C programs that print a file's fields through an exported header, as `path value` lines."""

import construct

from formats.layout import Counted, Record, fixed_size
from formats.layout.numbers import number_kind
from pipeline.schema.c_header import c_header, struct_name

PRELUDE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *data;

__attribute__((unused)) static void print_bytes(const char *path, const char *field, const void *bytes, size_t size)
{
    printf("%s%s ", path, field);
    for (size_t at = 0; at < size && at < 32; at++)
        printf("%02x", ((const unsigned char *)bytes)[at]);
    printf("\\n");
}
"""
MAIN = """\
int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t size, at = 0;
    char path[64];

    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return 1;
    size = (size_t)ftell(file);
    rewind(file);
    data = malloc(size);
    if (data == NULL || fread(data, 1, size, file) != size)
        return 1;
%s
    (void)at;
    (void)path;
    free(data);
    return fclose(file);
}
"""

TABLE = """\
    for (size_t row = 0; row < size / sizeof(struct {struct}); row++) {{
        snprintf(path, sizeof(path), "{name}[%zu].", row);
        print_{struct}(path, data + row * sizeof(struct {struct}));
    }}"""
IMAGE = """\
    struct q25tokrt_header header;
    memcpy(&header, data, sizeof(header));
    print_q25tokrt_header("header.", data);
    for (unsigned number = 0; number < header.section_count; number++) {
        struct q25tokrt_directory_entry entry;
        at = header.header_bytes + number * sizeof(entry);
        memcpy(&entry, data + at, sizeof(entry));
        snprintf(path, sizeof(path), "directory[%u].", number);
        print_q25tokrt_directory_entry(path, data + at);
        for (unsigned row = 0; row < entry.count; row++) {
            const unsigned char *bytes = data + entry.offset + row * (size_t)entry.record_bytes;
            if (entry.kind == Q25TOKRT_KIND_TOKEN_INDEX) {
                snprintf(path, sizeof(path), "sections.token_index[%u].", row);
                print_q25tokrt_token_index_record(path, bytes);
            } else if (entry.kind == Q25TOKRT_KIND_MERGE_TABLE) {
                snprintf(path, sizeof(path), "sections.merge_table[%u].", row);
                print_q25tokrt_merge_record(path, bytes);
            } else if (entry.kind == Q25TOKRT_KIND_BYTE_TOKEN_MAP) {
                snprintf(path, sizeof(path), "sections.byte_token_map[%u].", row);
                print_q25tokrt_byte_token(path, bytes);
            } else if (entry.kind == Q25TOKRT_KIND_MERGE_PAIR_INDEX) {
                snprintf(path, sizeof(path), "sections.merge_pair_index[%u].", row);
                print_q25tokrt_pair_slot(path, bytes);
            }
        }
    }"""
VOCAB = """\
    struct vocab_bin_head head;
    memcpy(&head, data, sizeof(head));
    print_vocab_bin_head("", data);
    at = sizeof(head);
    for (unsigned row = 0; row < head.n_entries; row++) {
        struct vocab_bin_vocab_entry_head entry;
        memcpy(&entry, data + at, sizeof(entry));
        snprintf(path, sizeof(path), "entries[%u].", row);
        print_vocab_bin_vocab_entry_head(path, data + at);
        print_bytes(path, "text", data + at + sizeof(entry), entry.length);
        at += sizeof(entry) + entry.length;
    }"""
BODIES = {
    "token_index": TABLE.format(struct="token_index_record", name="token_index"),
    "merge_table_u32": TABLE.format(struct="merge_table_u32_merge_record", name="merge_table"),
    "token_types": TABLE.format(struct="token_types_token_type_record", name="token_types"),
    "q25tokrt": IMAGE,
    "vocab_bin": VOCAB,
    "gguf": '    print_gguf_head("", data);',
}
"""What a program does with a file of each format."""


def program(known):
    """Write the program of a format."""
    layout = known.layout
    printers = [printer(layout, record.head()) for record in (layout, *known.records) if record.head().fields]
    return "\n".join([c_header(layout), PRELUDE, *printers, MAIN % BODIES[known.name]])


def printer(layout, head):
    """Write the function that prints a struct's fields."""
    original = next(record for record in (layout, *_records(layout)) if record.name == head.name)
    name = struct_name(layout, original)
    lines = [
        f"__attribute__((unused)) static void print_{name}(const char *path, const void *bytes)",
        "{",
        f"    struct {name} v;",
        "    memcpy(&v, bytes, sizeof(v));",
        "    (void)path;",
    ]
    for field in head.fields:
        subcon = field.subcon
        if isinstance(subcon, Record):
            continue
        if isinstance(subcon, construct.Bytes):
            lines.append(f'    print_bytes(path, "{field.name}", v.{field.name}, sizeof(v.{field.name}));')
        elif isinstance(subcon, Counted):
            lines.append(f"    for (unsigned i = 0; i < {subcon.count}; i++)")
            lines.append(
                f'        printf("%s{field.name}[%u] %llu\\n", path, i, (unsigned long long)v.{field.name}[i]);'
            )
        else:
            kind = ("%lld", "long long") if number_kind(subcon) == "i" else ("%llu", "unsigned long long")
            lines.append(f'    printf("%s{field.name} {kind[0]}\\n", path, ({kind[1]})v.{field.name});')
    assert fixed_size(head) is not None
    return "\n".join([*lines, "}", ""])


def _records(layout):
    from formats.layout.describe import nested_records

    return nested_records(layout)
