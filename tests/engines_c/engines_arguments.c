/* Null pointers and arguments that mean nothing: each must be refused, and nothing written. */
#include <stdio.h>
#include <string.h>

#include "rk3588_greedy.h"
#include "tokenizer_bin.h"

static int failures;

#define INSIST(holds)                                                                                        \
    do {                                                                                                     \
        if (!(holds)) {                                                                                      \
            printf("line %d: %s\n", __LINE__, #holds);                                                       \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)

static void greedy(void)
{
    static const uint8_t file[11] = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 'a'};
    const uint8_t text[1] = {'a'};
    greedy_vocabulary *opened = NULL;
    greedy_fault fault;
    uint32_t ids[1] = {7};
    uint8_t out[1] = {7};
    size_t count = 7, other = 7;
    char words[GREEDY_MESSAGE_BYTES];
    INSIST(greedy_open(file, 11, NULL, &fault) == GREEDY_BAD_ARGUMENT && fault.status == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_open(NULL, 11, &opened, &fault) == GREEDY_BAD_ARGUMENT && opened == NULL);
    greedy_describe(&fault, words);
    INSIST(strcmp(words, "a null pointer, or flags that mean nothing") == 0);
    INSIST(greedy_open(NULL, 0, &opened, NULL) == GREEDY_NO_COUNT && opened == NULL);
    greedy_close(NULL);
    INSIST(greedy_open(file, 11, &opened, NULL) == GREEDY_OK && opened != NULL);
    INSIST(greedy_n_tokens(opened) == 1);
    INSIST(greedy_encode(NULL, text, 1, 0, ids, 1, &count) == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_encode(opened, NULL, 1, 0, ids, 1, &count) == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_encode(opened, text, 1, 0, NULL, 1, &count) == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_encode(opened, text, 1, 0, ids, 1, NULL) == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_encode(opened, text, 1, 16, ids, 1, &count) == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_decode(NULL, ids, 1, out, 1, &count, &other) == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_decode(opened, NULL, 1, out, 1, &count, &other) == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_decode(opened, ids, 1, NULL, 1, &count, &other) == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_decode(opened, ids, 1, out, 1, NULL, &other) == GREEDY_BAD_ARGUMENT);
    INSIST(greedy_decode(opened, ids, 1, out, 1, &count, NULL) == GREEDY_BAD_ARGUMENT);
    INSIST(count == 7 && other == 7 && ids[0] == 7 && out[0] == 7);
    INSIST(greedy_decode(opened, ids, 1, out, 1, &count, &other) == GREEDY_UNKNOWN_ID && other == 0);
    INSIST(greedy_encode(opened, NULL, 0, 0, NULL, 0, &count) == GREEDY_OK && count == 0);
    INSIST(greedy_decode(opened, NULL, 0, NULL, 0, &count, &other) == GREEDY_OK && count == 0);
    INSIST(greedy_encode(opened, text, 1, 15, ids, 1, &count) == GREEDY_OK && count == 1 && ids[0] == 0);
    greedy_close(opened);
}

static void tokenizer(void)
{
    uint8_t file[12 + 5 + 256];
    const uint8_t text[1] = {'a'};
    tokbin *opened = NULL;
    tokbin_fault fault;
    uint32_t ids[1] = {7}, byte;
    uint8_t out[1] = {7};
    size_t count = 7, other = 7, size = sizeof file;
    uint8_t place = 0;
    char words[TOKBIN_MESSAGE_BYTES];
    memset(file, 0, sizeof file);
    file[0] = 1;
    file[12] = 1;
    file[16] = 'a';
    for (byte = 0; byte < 512; byte++) { /* printable bytes first */
        int printable =
            (byte % 256 >= 0x21 && byte % 256 <= 0x7E) || (byte % 256 >= 0xA1 && byte % 256 != 0xAD);
        if (printable == (byte < 256)) {
            file[17 + byte % 256] = place++;
        }
    }
    INSIST(tokbin_open(file, size, TOKBIN_DOCUMENTED, NULL, &fault) == TOKBIN_BAD_ARGUMENT);
    INSIST(tokbin_open(NULL, size, TOKBIN_DOCUMENTED, &opened, &fault) == TOKBIN_BAD_ARGUMENT
           && opened == NULL);
    INSIST(tokbin_open(file, size, (tokbin_layout)2, &opened, &fault) == TOKBIN_BAD_ARGUMENT
           && opened == NULL);
    tokbin_describe(&fault, words);
    INSIST(strcmp(words, "a null pointer, or another layout") == 0);
    INSIST(tokbin_open(NULL, 0, TOKBIN_LOADER, &opened, NULL) == TOKBIN_CUT_HEADER && opened == NULL);
    tokbin_close(NULL);
    INSIST(tokbin_open(file, size, TOKBIN_DOCUMENTED, &opened, NULL) == TOKBIN_OK && opened != NULL);
    INSIST(tokbin_vocab_size(opened) == 1);
    INSIST(tokbin_find(opened, "a", 1) == 0 && tokbin_find(opened, NULL, 0) == TOKBIN_NONE);
    INSIST(tokbin_encode(NULL, text, 1, TOKBIN_NONE, ids, 1, &count) == TOKBIN_BAD_ARGUMENT);
    INSIST(tokbin_encode(opened, NULL, 1, TOKBIN_NONE, ids, 1, &count) == TOKBIN_BAD_ARGUMENT);
    INSIST(tokbin_encode(opened, text, 1, TOKBIN_NONE, NULL, 1, &count) == TOKBIN_BAD_ARGUMENT);
    INSIST(tokbin_encode(opened, text, 1, TOKBIN_NONE, ids, 1, NULL) == TOKBIN_BAD_ARGUMENT);
    INSIST(tokbin_encode(opened, text, 1, 1, ids, 1, &count) == TOKBIN_UNKNOWN_ID);
    INSIST(tokbin_encode(opened, text, (size_t)TOKBIN_MAX_TEXT_BYTES + 1, 0, ids, 1, &count)
           == TOKBIN_TEXT_TOO_LONG);
    INSIST(tokbin_decode(NULL, ids, 1, out, 1, &count, &other) == TOKBIN_BAD_ARGUMENT);
    INSIST(tokbin_decode(opened, NULL, 1, out, 1, &count, &other) == TOKBIN_BAD_ARGUMENT);
    INSIST(tokbin_decode(opened, ids, 1, NULL, 1, &count, &other) == TOKBIN_BAD_ARGUMENT);
    INSIST(tokbin_decode(opened, ids, 1, out, 1, NULL, &other) == TOKBIN_BAD_ARGUMENT);
    INSIST(tokbin_decode(opened, ids, 1, out, 1, &count, NULL) == TOKBIN_BAD_ARGUMENT);
    INSIST(count == 7 && other == 7 && ids[0] == 7 && out[0] == 7);
    INSIST(tokbin_decode(opened, ids, 1, out, 1, &count, &other) == TOKBIN_UNKNOWN_ID && other == 0);
    INSIST(tokbin_encode(opened, NULL, 0, TOKBIN_NONE, NULL, 0, &count) == TOKBIN_OK && count == 0);
    INSIST(tokbin_decode(opened, NULL, 0, NULL, 0, &count, &other) == TOKBIN_OK && count == 0);
    INSIST(tokbin_encode(opened, text, 1, TOKBIN_NONE, ids, 1, &count) == TOKBIN_OK && count == 1
           && ids[0] == 0);
    tokbin_close(opened);
}

int main(void)
{
    greedy();
    tokenizer();
    return failures != 0;
}
