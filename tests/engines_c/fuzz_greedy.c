/* libFuzzer target: a hostile vocab.bin, and what is done with it where it opens.
 *
 * Input: a byte that chooses flags, one for the output's room, one for the text's length, the text, the file.
 * Besides staying inside its buffers, the encoder must give ids of the vocabulary, as many as it says and at
 * most one for each byte, and the same ones whatever room it has; decoding must take them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rk3588_greedy.h"

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

static void use(const greedy_vocabulary *opened, uint32_t flags, size_t capacity, const uint8_t *text,
                size_t length)
{
    uint32_t *ids = (uint32_t *)malloc(4 * length + 4), *some = (uint32_t *)malloc(4 * capacity + 4);
    size_t n_ids, n_some, n_bytes, n_read, again, at;
    uint8_t *decoded;
    insist(ids != NULL && some != NULL);
    insist(greedy_encode(opened, text, length, flags, ids, length, &n_ids) == GREEDY_OK);
    insist(n_ids <= length);
    insist(greedy_encode(opened, text, length, flags, some, capacity, &n_some)
           == (n_ids > capacity ? GREEDY_OUTPUT_TOO_SMALL : GREEDY_OK));
    insist(n_some == n_ids && memcmp(some, ids, 4 * (n_ids < capacity ? n_ids : capacity)) == 0);
    for (at = 0; at < n_ids; at++) {
        insist(ids[at] < greedy_n_tokens(opened) || ids[at] == 0);
    }
    if (greedy_n_tokens(opened) != 0) {
        greedy_decode(opened, ids, n_ids, NULL, 0, &n_bytes, &n_read);
        insist(n_read == n_ids);
        decoded = (uint8_t *)malloc(n_bytes + 1);
        insist(decoded != NULL
               && greedy_decode(opened, ids, n_ids, decoded, n_bytes, &again, &n_read) == GREEDY_OK);
        insist(again == n_bytes);
        free(decoded);
    }
    free(ids);
    free(some);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char words[GREEDY_MESSAGE_BYTES];
    greedy_vocabulary *opened;
    greedy_fault fault;
    uint8_t *file, *text;
    size_t length;
    if (size < 3) {
        return 0;
    }
    length = data[2] < size - 3 ? data[2] : size - 3;
    text = copied(data + 3, length);
    file = copied(data + 3 + length, size - 3 - length);
    if (greedy_open(file, size - 3 - length, &opened, &fault) == GREEDY_OK) {
        use(opened, data[0] & 15u, data[1], text, length);
        greedy_close(opened);
    } else {
        insist(opened == NULL && fault.status != GREEDY_OK && fault.offset <= size - 3 - length);
        greedy_describe(&fault, words);
        insist(strlen(words) > 10);
    }
    free(text);
    free(file);
    return 0;
}
