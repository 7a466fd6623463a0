/* libFuzzer target: hostile images, with hostile text, ids and capacities.
 *
 * Input: 16 bytes that choose what is done, a text of at most 255 bytes, the image. Checksums and sizes are
 * repaired if the choice says so, or nothing would get past them. Whatever comes out of the functions, they
 * must stay inside their buffers, which AddressSanitizer watches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "q25_nl_tokenizer.h"

#define CHOICES 16

static uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t length)
{
    size_t at;
    int bit;
    crc = ~crc;
    for (at = 0; at < length; at++) {
        crc ^= bytes[at];
        for (bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
        }
    }
    return ~crc;
}

/* Makes the frame hold: magic, version, sizes; the checksums of sections that lie inside; the header's. */
static void repair(uint8_t *image, size_t size, uint32_t what)
{
    q25_nl_header *header = (q25_nl_header *)(void *)image;
    q25_nl_section *section = (q25_nl_section *)(void *)(header + 1);
    uint32_t number;
    if (size < sizeof *header) {
        return;
    }
    memcpy(header->magic, "Q25TOKRT", 8);
    header->major = 1;
    header->header_bytes = sizeof *header;
    header->total_bytes = (uint32_t)size;
    if ((what & 2) != 0) {
        memcpy(header->pre_name, "qwen2\0", 6);
        header->class_tables = 0x100000;
        header->nfc_tables = 0x090000;
    }
    if (header->section_count > 32 || size < sizeof *header + header->section_count * sizeof *section) {
        return;
    }
    for (number = 0; number < header->section_count && (what & 4) != 0; number++) {
        if (section[number].offset <= size && section[number].length <= size - section[number].offset) {
            section[number].crc32 = crc32_of(0, image + section[number].offset, section[number].length);
        }
    }
    header->crc32 = crc32_of(crc32_of(0, image, sizeof *header - 4), (const uint8_t *)section,
                             header->section_count * sizeof *section);
}

static void *room(size_t bytes)
{
    void *made = malloc(bytes + (bytes == 0));
    if (made == NULL) {
        abort();
    }
    return made;
}

static void encode_and_back(const q25_nl_bundle_view *bundle, const q25_nl_encode_view *encode,
                            const uint8_t *choices, const uint8_t *given, size_t length)
{
    size_t scratch_bytes = (size_t)(choices[2] | choices[3] << 8) % 10000;
    size_t capacity = choices[4] % 200, text_capacity = choices[5] * 4u, n_bytes, at;
    uint8_t *text = (uint8_t *)room(length), *scratch = (uint8_t *)room(scratch_bytes);
    uint32_t *ids = (uint32_t *)room(4 * capacity), some[4];
    uint8_t *out = (uint8_t *)room(text_capacity);
    q25_nl_encode_statistics done;
    q25_nl_detokenize_statistics back;
    q25_nl_text_stream stream = {{0, 0, 0, 0}, 0};
    q25_nl_status status;
    if (length != 0) {
        memcpy(text, given, length);
    }
    status = q25_nl_tokenizer_bundle_encode_bpe_bounded(bundle, encode, text, length, choices[6] & 7u, scratch,
                                                        scratch_bytes, ids, capacity, &done);
    if (status == Q25_NL_OK && done.n_ids > capacity) {
        abort();
    }
    if (status == Q25_NL_OK) {
        q25_nl_tokenizer_bundle_detokenize(bundle, ids, done.n_ids, choices[7] & 3u, out, text_capacity, &back);
        for (at = 0; at < done.n_ids; at++) {
            q25_nl_tokenizer_stream_id(bundle, &stream, ids[at], choices[7] & 1u, out, text_capacity, &n_bytes);
        }
    }
    memcpy(some, choices + 8, 8);
    some[2] = choices[8];
    some[3] = bundle->n_tokens - 1u - choices[9];
    q25_nl_tokenizer_bundle_detokenize(bundle, some, 4, choices[7] & 3u, out, text_capacity, &back);
    for (at = 0; at < 4; at++) {
        q25_nl_tokenizer_stream_id(bundle, &stream, some[at], 0, out, text_capacity, &n_bytes);
    }
    q25_nl_tokenizer_stream_finish(&stream, out, text_capacity, &n_bytes);
    free(text);
    free(scratch);
    free(ids);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *text = data + CHOICES;
    size_t length;
    uint8_t *image;
    q25_nl_bundle_view bundle;
    q25_nl_encode_view encode;
    q25_nl_image_info info;
    q25_nl_fault fault;
    q25_nl_status opened, verified;
    if (size < CHOICES || size - CHOICES < data[1]) {
        return 0;
    }
    length = data[1];
    size -= CHOICES + length;
    image = (uint8_t *)room(size);
    if (size != 0) {
        memcpy(image, text + length, size);
    }
    if ((data[0] & 1) != 0) {
        repair(image, size, data[0]);
    }
    opened = q25_nl_tokenizer_runtime_image_open(image, size, &bundle, &encode, &info);
    verified = q25_nl_tokenizer_runtime_image_verify(image, size, &fault);
    if (opened != Q25_NL_OK && verified != opened) {
        abort();
    }
    if (opened == Q25_NL_OK) {
        encode_and_back(&bundle, &encode, data, text, length);
    }
    free(image);
    return 0;
}
