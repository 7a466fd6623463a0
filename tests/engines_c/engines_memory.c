/* Lets each allocation fail in turn: what is called must answer OUT_OF_MEMORY and leave nothing behind.
 * Linked with
 * --wrap=malloc and --wrap=calloc. The files are the arguments: a vocab.bin, and a tokenizer.bin as
 * documented. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rk3588_greedy.h"
#include "tokenizer_bin.h"

static size_t before_failure = SIZE_MAX; /* allocations that succeed */
static size_t taken;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_malloc(size_t size)
{
    taken += size;
    return before_failure-- == 0 ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    taken += count * size;
    return before_failure-- == 0 ? NULL : __real_calloc(count, size);
}

static const uint8_t text[] = "abc ab's ..... aaaa";
static uint32_t ids[64];

static int greedy(const uint8_t *file, size_t size)
{
    greedy_vocabulary *opened;
    greedy_fault fault;
    size_t count, failures = 0;
    for (;; failures++) {
        before_failure = failures;
        taken = 0;
        if (greedy_open(file, size, &opened, &fault) == GREEDY_OK) {
            break;
        }
        if (opened != NULL || fault.status != GREEDY_OUT_OF_MEMORY || fault.offset != 0) {
            return 0;
        }
    }
    printf("%zu %zu\n", failures, taken);
    before_failure = 0; /* encoding takes none */
    if (greedy_encode(opened, text, sizeof text - 1, GREEDY_A, ids, 64, &count) != GREEDY_OK) {
        return 0;
    }
    greedy_close(opened);
    return 1;
}

static int tokenizer(const uint8_t *file, size_t size)
{
    tokbin *opened;
    tokbin_fault fault;
    uint8_t word[500];
    size_t count, failures = 0, at;
    for (;; failures++) {
        before_failure = failures;
        taken = 0;
        if (tokbin_open(file, size, TOKBIN_DOCUMENTED, &opened, &fault) == TOKBIN_OK) {
            break;
        }
        if (opened != NULL || fault.status != TOKBIN_OUT_OF_MEMORY || fault.offset != 0) {
            return 0;
        }
    }
    printf("%zu %zu\n", failures, taken);
    memset(word, 'a', sizeof word);
    memcpy(word, "a b ", 4); /* short pieces, then a long one, which takes more room */
    for (at = 0; at < 3; at++) {
        static const tokbin_status expected[] = {TOKBIN_OUT_OF_MEMORY, TOKBIN_OUT_OF_MEMORY,
                                                 TOKBIN_OUTPUT_TOO_SMALL};
        before_failure = at;
        if (tokbin_encode(opened, word, sizeof word, TOKBIN_NONE, NULL, 0, &count) != expected[at]) {
            return 0;
        }
    }
    tokbin_close(opened);
    return 1;
}

static uint8_t *read_file(const char *path, size_t *size)
{
    uint8_t *bytes = (uint8_t *)__real_malloc(1 << 22);
    FILE *file = fopen(path, "rb");
    if (file == NULL || bytes == NULL) {
        exit(2);
    }
    *size = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    size_t size;
    uint8_t *file;
    int passed;
    if (argc != 3) {
        return 2;
    }
    file = read_file(argv[1], &size);
    passed = greedy(file, size);
    before_failure = SIZE_MAX;
    free(file);
    file = read_file(argv[2], &size);
    passed = passed && tokenizer(file, size);
    before_failure = SIZE_MAX;
    free(file);
    return !passed;
}
