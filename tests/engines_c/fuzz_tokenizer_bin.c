/* libFuzzer target: a hostile tokenizer.bin, and what is done with it where it opens.
 *
 * Input: a byte that chooses layout and BOS, one for the output's room, one for the text's length, the text,
 * the file. Besides staying inside its buffers, the encoder must give ids of the vocabulary, as many as it
 * says and at most one for each byte, and the same ones whatever room it has; decoding must take them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tokenizer_bin.h"

static void insist(int holds)
{
    if (!holds) {
        abort();
    }
}

/* A copy of exactly this size. */
static uint8_t *copied(const uint8_t *bytes, size_t length)
{
    uint8_t *made = length == 0 ? NULL : (uint8_t *)malloc(length);
    insist(length == 0 || made != NULL);
    if (length != 0) {
        memcpy(made, bytes, length);
    }
    return made;
}

static void use(const tokbin *opened, uint32_t bos_id, size_t capacity, const uint8_t *text, size_t length)
{
    uint32_t *ids = (uint32_t *)malloc(4 * length + 4), *some = (uint32_t *)malloc(4 * capacity + 4);
    size_t n_ids, n_some, n_bytes, n_read, again, at;
    uint8_t *decoded;
    insist(ids != NULL && some != NULL);
    if (tokbin_encode(opened, text, length, bos_id, ids, length + 1, &n_ids) == TOKBIN_UNKNOWN_ID) {
        insist(bos_id >= tokbin_vocab_size(opened));
        bos_id = TOKBIN_NONE;
        insist(tokbin_encode(opened, text, length, bos_id, ids, length + 1, &n_ids) == TOKBIN_OK);
    }
    insist(n_ids <= length + (bos_id != TOKBIN_NONE));
    insist(tokbin_encode(opened, text, length, bos_id, some, capacity, &n_some)
           == (n_ids > capacity ? TOKBIN_OUTPUT_TOO_SMALL : TOKBIN_OK));
    insist(n_some == n_ids && memcmp(some, ids, 4 * (n_ids < capacity ? n_ids : capacity)) == 0);
    for (at = 0; at < n_ids; at++) {
        insist(ids[at] < tokbin_vocab_size(opened));
    }
    tokbin_decode(opened, ids, n_ids, NULL, 0, &n_bytes, &n_read);
    insist(n_read == n_ids);
    decoded = (uint8_t *)malloc(n_bytes + 1);
    insist(decoded != NULL
           && tokbin_decode(opened, ids, n_ids, decoded, n_bytes, &again, &n_read) == TOKBIN_OK);
    insist(again == n_bytes);
    free(decoded);
    free(ids);
    free(some);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char words[TOKBIN_MESSAGE_BYTES];
    tokbin *opened;
    tokbin_fault fault;
    uint8_t *file, *text;
    size_t length;
    if (size < 3) {
        return 0;
    }
    length = data[2] < size - 3 ? data[2] : size - 3;
    text = copied(data + 3, length);
    file = copied(data + 3 + length, size - 3 - length);
    if (tokbin_open(file, size - 3 - length, data[0] % 2 == 0 ? TOKBIN_DOCUMENTED : TOKBIN_LOADER, &opened,
                    &fault)
        == TOKBIN_OK) {
        use(opened, data[0] < 128 ? TOKBIN_NONE : data[0] - 128u, data[1], text, length);
        tokbin_find(opened, (const char *)text, length);
        tokbin_close(opened);
    } else {
        insist(opened == NULL && fault.status != TOKBIN_OK && fault.offset <= size - 3 - length);
        tokbin_describe(&fault, words);
        insist(strlen(words) > 10);
    }
    free(text);
    free(file);
    return 0;
}
