/* Runs many cases of rk3588_greedy and tokenizer_bin in one process: requests on stdin, answers on stdout, in
 * words of 32 bits of the machine's order. `engines_driver.py` is the other end and describes both.
 *
 * Files, texts and outputs are allocated at exactly their size, so that AddressSanitizer sees a byte too far;
 * without it, guard bytes behind outputs are checked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rk3588_greedy.h"
#include "tokenizer_bin.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXACT 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define EXACT 1
#endif
#ifdef EXACT
#define GUARD 0
#else
#define GUARD 64
#endif

enum { OPEN = 1, REOPEN, ENCODE, DECODE, FIND, WORDS };
enum { GREEDY, DOCUMENTED, LOADER, ENGINES };
#define NOT_OPEN 0xFFFFFFFFu

uint64_t steps; /* counted by the libraries where they are compiled with ..._COUNT_STEPS=steps */

typedef struct buffer {
    uint8_t *bytes;
    size_t length;
} buffer;

static buffer given[ENGINES]; /* the file of the last OPEN */
static buffer file[ENGINES];  /* what is open now, or was refused */
static greedy_vocabulary *greedy;
static tokbin *tokenizers[ENGINES];

static void fail(const char *what)
{
    fprintf(stderr, "driver: %s\n", what);
    exit(2);
}

static uint32_t get(void)
{
    uint32_t value;
    if (fread(&value, 4, 1, stdin) != 1) {
        fail("a request ends early");
    }
    return value;
}

static void put(uint64_t value)
{
    uint32_t word = value > 0xFFFFFFFFu ? 0xFFFFFFFFu : (uint32_t)value;
    if (fwrite(&word, 4, 1, stdout) != 1) {
        fail("cannot write");
    }
}

static void put_bytes(const void *bytes, size_t length)
{
    put(length);
    if (length != 0 && fwrite(bytes, 1, length, stdout) != length) {
        fail("cannot write");
    }
}

/* Of no length: NULL. */
static buffer make(size_t length, size_t guard)
{
    buffer made = {NULL, 0};
    made.length = length;
    if (length + guard != 0) {
        made.bytes = (uint8_t *)malloc(length + guard);
        if (made.bytes == NULL) {
            fail("out of memory");
        }
        memset(made.bytes, 0xA5, length + guard);
    }
    return made;
}

static buffer make_read(size_t length)
{
    buffer made = make(length, 0);
    if (length != 0 && fread(made.bytes, 1, length, stdin) != length) {
        fail("a request ends early");
    }
    return made;
}

static uint32_t intact(const buffer *made)
{
    size_t at;
    for (at = 0; at != GUARD; at++) {
        if (made->bytes[made->length + at] != 0xA5) {
            return 0;
        }
    }
    return 1;
}

/* Opens file[engine] and answers. */
static void open_file(uint32_t engine)
{
    char greedy_words[GREEDY_MESSAGE_BYTES], tokbin_words[TOKBIN_MESSAGE_BYTES];
    steps = 0;
    if (engine == GREEDY) {
        greedy_fault fault;
        greedy_close(greedy);
        put(greedy_open(file[engine].bytes, file[engine].length, &greedy, &fault));
        put(fault.row);
        put(fault.offset);
        greedy_describe(&fault, greedy_words);
        put(steps);
        put_bytes(greedy_words, strlen(greedy_words));
    } else {
        tokbin_fault fault;
        tokbin_close(tokenizers[engine]);
        put(tokbin_open(file[engine].bytes, file[engine].length,
                        engine == LOADER ? TOKBIN_LOADER : TOKBIN_DOCUMENTED, &tokenizers[engine], &fault));
        put(fault.row);
        put(fault.offset);
        tokbin_describe(&fault, tokbin_words);
        put(steps);
        put_bytes(tokbin_words, strlen(tokbin_words));
    }
}

static buffer copied(const buffer *from, size_t length)
{
    buffer made = make(length, 0);
    if (length != 0) {
        memcpy(made.bytes, from->bytes, length);
    }
    return made;
}

static void run_open(uint32_t engine)
{
    free(given[engine].bytes);
    given[engine] = make_read(get());
    free(file[engine].bytes);
    file[engine] = copied(&given[engine], given[engine].length);
    open_file(engine);
}

/* The last file once more: its first bytes, some of them changed. */
static void run_reopen(uint32_t engine)
{
    size_t length = get(), n_changes = get();
    if (length > given[engine].length) {
        fail("no such length");
    }
    free(file[engine].bytes);
    file[engine] = copied(&given[engine], length);
    for (; n_changes > 0; n_changes--) {
        size_t offset = get();
        uint32_t value = get();
        if (offset < length) {
            file[engine].bytes[offset] = (uint8_t)value;
        }
    }
    open_file(engine);
}

static int is_open(uint32_t engine)
{
    return engine == GREEDY ? greedy != NULL : tokenizers[engine] != NULL;
}

static void run_encode(uint32_t engine)
{
    uint32_t option = get();
    size_t capacity = get(), n_ids = 0;
    buffer text = make_read(get()), ids;
    uint32_t status = NOT_OPEN;
    if (capacity == 0xFFFFFFFFu) {
        capacity = text.length + 1;
    }
    ids = make(4 * capacity, GUARD);
    steps = 0;
    if (is_open(engine)) {
        uint32_t *out = (uint32_t *)(void *)ids.bytes;
        status = engine == GREEDY
                     ? (uint32_t)greedy_encode(greedy, text.bytes, text.length, option, out, capacity, &n_ids)
                     : (uint32_t)tokbin_encode(tokenizers[engine], text.bytes, text.length, option, out,
                                               capacity, &n_ids);
    }
    put(status);
    put(n_ids);
    put(steps);
    put(intact(&ids));
    put_bytes(ids.bytes, 4 * (n_ids < capacity ? n_ids : capacity));
    free(text.bytes);
    free(ids.bytes);
}

static uint32_t decode(uint32_t engine, const buffer *ids, uint8_t *text, size_t capacity, size_t *n_bytes,
                       size_t *n_read)
{
    const uint32_t *in = (const uint32_t *)(void *)ids->bytes;
    if (engine == GREEDY) {
        return greedy_decode(greedy, in, ids->length / 4, text, capacity, n_bytes, n_read);
    }
    return tokbin_decode(tokenizers[engine], in, ids->length / 4, text, capacity, n_bytes, n_read);
}

static void run_decode(uint32_t engine)
{
    size_t capacity = get(), n_bytes = 0, n_read = 0;
    buffer ids = make_read(4 * (size_t)get()), text;
    uint32_t status = NOT_OPEN;
    if (capacity == 0xFFFFFFFFu) {
        capacity = 0;
        if (is_open(engine)) {
            decode(engine, &ids, NULL, 0, &capacity, &n_read);
        }
    }
    text = make(capacity, GUARD);
    if (is_open(engine)) {
        status = decode(engine, &ids, text.bytes, capacity, &n_bytes, &n_read);
    }
    put(status);
    put(n_bytes);
    put(n_read);
    put(intact(&text));
    put_bytes(text.bytes, n_bytes < capacity ? n_bytes : capacity);
    free(ids.bytes);
    free(text.bytes);
}

static void run_find(uint32_t engine)
{
    buffer text = make_read(get());
    put(is_open(engine) ? tokbin_find(tokenizers[engine], (const char *)text.bytes, text.length) : NOT_OPEN);
    free(text.bytes);
}

/* What the describing function says of a status alone. */
static void run_words(uint32_t engine)
{
    char greedy_words[GREEDY_MESSAGE_BYTES], tokbin_words[TOKBIN_MESSAGE_BYTES];
    uint32_t status = get();
    if (engine == GREEDY) {
        greedy_fault fault = {GREEDY_OK,  "entries",  GREEDY_NO_ROW - 1, "token_id",
                              UINT64_MAX, UINT64_MAX, UINT64_MAX};
        fault.status = (greedy_status)status;
        greedy_describe(&fault, greedy_words);
        put_bytes(greedy_words, strlen(greedy_words));
    } else {
        tokbin_fault fault = {TOKBIN_OK,  "byte_unicode_map", TOKBIN_NO_ROW - 1, "token_id",
                              UINT64_MAX, UINT64_MAX,         UINT64_MAX};
        fault.status = (tokbin_status)status;
        tokbin_describe(&fault, tokbin_words);
        put_bytes(tokbin_words, strlen(tokbin_words));
    }
}

int main(void)
{
    static char out[1 << 16];
    uint32_t command, engine;
    setvbuf(stdout, out, _IOFBF, sizeof out);
    while (fread(&command, 4, 1, stdin) == 1) {
        engine = get();
        if (engine >= ENGINES) {
            fail("no such engine");
        }
        switch (command) {
        case OPEN:
            run_open(engine);
            break;
        case REOPEN:
            run_reopen(engine);
            break;
        case ENCODE:
            run_encode(engine);
            break;
        case DECODE:
            run_decode(engine);
            break;
        case FIND:
            run_find(engine);
            break;
        case WORDS:
            run_words(engine);
            break;
        default:
            fail("unknown request");
        }
    }
    greedy_close(greedy);
    for (engine = 0; engine < ENGINES; engine++) {
        tokbin_close(tokenizers[engine]);
        free(given[engine].bytes);
        free(file[engine].bytes);
    }
    return 0;
}
