/* libFuzzer target: hostile text and capacities on a good image, the file that Q25_FUZZ_IMAGE names.
 *
 * Input: 8 bytes that choose flags and capacities, then the text. Besides staying inside its buffers, the
 * encoder must give the same ids whatever scratch it has, say exactly what it needs, and give the same ids
 * again for what its ids decode to. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "q25_nl_tokenizer.h"

#define CHOICES 8

static q25_nl_bundle_view bundle;
static q25_nl_encode_view encode;

static void *room(size_t bytes)
{
    void *made = malloc(bytes + (bytes == 0));
    if (made == NULL) {
        abort();
    }
    return made;
}

static void insist(int holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("Q25_FUZZ_IMAGE");
    FILE *file = name != NULL ? fopen(name, "rb") : NULL;
    uint8_t *image = (uint8_t *)room(1 << 23);
    size_t size;
    (void)argc;
    (void)argv;
    insist(file != NULL);
    size = fread(image, 1, 1 << 23, file);
    fclose(file);
    insist(q25_nl_tokenizer_runtime_image_open(image, size, &bundle, &encode, NULL) == Q25_NL_OK);
    return 0;
}

typedef struct result {
    uint32_t *ids;
    q25_nl_encode_statistics done;
    q25_nl_status status;
} result;

static result encoded(const uint8_t *given, size_t length, uint32_t flags, size_t scratch_bytes, size_t capacity)
{
    result made;
    uint8_t *text = (uint8_t *)room(length), *scratch = (uint8_t *)room(scratch_bytes);
    if (length != 0) {
        memcpy(text, given, length);
    }
    made.ids = (uint32_t *)room(4 * capacity);
    made.status = q25_nl_tokenizer_bundle_encode_bpe_bounded(&bundle, &encode, text, length, flags, scratch,
                                                             scratch_bytes, made.ids, capacity, &made.done);
    free(text);
    free(scratch);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t flags;
    size_t scratch, capacity;
    result full, some;
    if (size < CHOICES) {
        return 0;
    }
    flags = data[0] % 3u + (data[0] >= 128 ? Q25_NL_REPLACE_INVALID : 0u);
    scratch = data[1] * 16u + data[2];
    capacity = data[3];
    data += CHOICES;
    size -= CHOICES;
    full = encoded(data, size, flags, Q25_NL_SCRATCH_BYTES(size), 3 * size);
    some = encoded(data, size, flags, scratch, capacity);
    insist(full.status == Q25_NL_OK
           || (full.status == Q25_NL_INVALID_UTF8 && (flags & Q25_NL_REPLACE_INVALID) == 0));
    if (full.status != Q25_NL_OK) {
        insist(some.status == full.status && some.done.error_offset == full.done.error_offset);
    } else if (scratch < full.done.scratch_needed) {
        insist(some.status == Q25_NL_SCRATCH_TOO_SMALL
               && some.done.scratch_needed >= full.done.scratch_needed
               && some.done.scratch_needed <= Q25_NL_SCRATCH_BYTES(size));
    } else if (encode.trie != NULL && some.status == Q25_NL_SCRATCH_TOO_SMALL) {
        /* Where the output may be too small for a piece, the piece is merged, which takes other scratch. */
        insist(capacity < 3 * size && some.done.scratch_needed > scratch
               && some.done.scratch_needed <= Q25_NL_SCRATCH_BYTES(size));
    } else {
        size_t kept = capacity < full.done.n_ids ? capacity : full.done.n_ids;
        insist(some.status == (capacity < full.done.n_ids ? Q25_NL_OUTPUT_TOO_SMALL : Q25_NL_OK));
        insist(some.done.n_ids == full.done.n_ids && memcmp(some.ids, full.ids, 4 * kept) == 0);
    }
    if (full.status == Q25_NL_OK) {
        size_t bytes = full.done.n_bytes;
        uint8_t *text = (uint8_t *)room(bytes);
        q25_nl_detokenize_statistics back;
        insist(q25_nl_tokenizer_bundle_detokenize(&bundle, full.ids, full.done.n_ids, 0, text, bytes, &back)
               == Q25_NL_OK);
        insist(back.n_bytes == bytes);
        if ((flags & 3) == Q25_NL_SPECIALS_NONE) {
            result again = encoded(text, bytes, flags, Q25_NL_SCRATCH_BYTES(bytes), bytes);
            insist(again.status == Q25_NL_OK && again.done.n_ids == full.done.n_ids);
            insist(memcmp(again.ids, full.ids, 4 * full.done.n_ids) == 0);
            free(again.ids);
        }
        free(text);
    }
    free(full.ids);
    free(some.ids);
    return 0;
}
