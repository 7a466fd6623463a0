/* Runs many cases of q25_nl_tokenizer in one process: requests on stdin, answers on stdout, in words of
 * 32 bits of the machine's order. `firmware_driver.py` is the other end and describes both.
 *
 * Every buffer is allocated at exactly the size that a case states, so that AddressSanitizer sees a
 * byte too far; without it, guard bytes behind the buffer are checked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "q25_nl_tokenizer.h"

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

enum { SET_IMAGE = 1, ENCODE, DETOKENIZE, STREAM, VERIFY, INFO, TO_BYTE_IDS, FROM_BYTE_IDS, SCRATCH, NAME };

uint64_t steps; /* counted by the library where it is compiled with Q25_NL_COUNT_STEPS=steps */

static uint8_t *image;
static size_t image_bytes;
static q25_nl_bundle_view bundle;
static q25_nl_encode_view encode;
static q25_nl_image_info info;
static int is_open;

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

/* A buffer of `length` bytes, `skew` bytes behind a multiple of 64, with guard bytes behind it. */
typedef struct buffer {
    uint8_t *block;
    uint8_t *bytes;
    size_t length;
} buffer;

static buffer make(size_t length, size_t skew)
{
    buffer made;
    void *block = NULL;
    if (posix_memalign(&block, 64, skew + length + GUARD + (skew + length + GUARD == 0)) != 0) {
        fail("out of memory");
    }
    made.block = (uint8_t *)block;
    made.bytes = made.block + skew;
    made.length = length;
    memset(made.block, 0xA5, skew + length + GUARD);
    return made;
}

static buffer make_read(size_t length, size_t skew)
{
    buffer made = make(length, skew);
    if (length != 0 && fread(made.bytes, 1, length, stdin) != length) {
        fail("a request ends early");
    }
    return made;
}

/* Whether nothing was written before and behind the buffer. */
static uint32_t intact(const buffer *made)
{
    size_t skew = (size_t)(made->bytes - made->block), at;
    for (at = 0; at < skew + GUARD; at++) {
        if (made->block[at < skew ? at : at + made->length] != 0xA5) {
            return 0;
        }
    }
    return 1;
}

static void set_image(void)
{
    size_t skew = get();
    buffer read = make_read(get(), skew);
    q25_nl_status status;
    free(image);
    image = read.block;
    image_bytes = read.length;
    status = q25_nl_tokenizer_runtime_image_open(read.bytes, read.length, &bundle, &encode, &info);
    is_open = status == Q25_NL_OK;
    put(status);
}

static void run_encode(void)
{
    uint32_t flags = get();
    size_t scratch_skew = get();
    size_t scratch_bytes = get();
    size_t capacity = get();
    size_t text_skew = get();
    buffer text = make_read(get(), text_skew);
    buffer scratch, ids;
    q25_nl_encode_statistics done;
    q25_nl_status status;
    size_t written;
    if (scratch_bytes == 0xFFFFFFFFu) {
        scratch_bytes = q25_nl_tokenizer_scratch_bytes(text.length);
    }
    if (capacity == 0xFFFFFFFFu) {
        capacity = 3 * text.length;
    }
    scratch = make(scratch_bytes, scratch_skew);
    ids = make(4 * capacity, 0);
    steps = 0;
    status = q25_nl_tokenizer_bundle_encode_bpe_bounded(
        &bundle, &encode, text.bytes, text.length, flags, scratch.bytes, scratch.length,
        (uint32_t *)(void *)ids.bytes, capacity, &done);
    put(status);
    put(done.n_ids);
    put(done.n_merges);
    put(done.n_bytes);
    put(done.longest_piece);
    put(done.scratch_needed);
    put(done.error_offset);
    put(steps);
    put(intact(&text) & intact(&scratch) & intact(&ids));
    written = done.n_ids < capacity ? done.n_ids : capacity;
    put_bytes(ids.bytes, 4 * written);
    free(text.block);
    free(scratch.block);
    free(ids.block);
}

static void run_detokenize(void)
{
    uint32_t flags = get();
    size_t capacity = get();
    buffer ids = make_read(4 * (size_t)get(), 0);
    buffer text = make(capacity, 0);
    q25_nl_detokenize_statistics done;
    q25_nl_status status = q25_nl_tokenizer_bundle_detokenize(
        &bundle, (const uint32_t *)(void *)ids.bytes, ids.length / 4, flags, text.bytes, capacity, &done);
    put(status);
    put(done.n_bytes);
    put(done.n_read);
    put(intact(&text));
    put_bytes(text.bytes, done.n_bytes < capacity ? done.n_bytes : capacity);
    free(ids.block);
    free(text.block);
}

/* One answer for each id, and one for the end. */
static void run_stream(void)
{
    uint32_t flags = get();
    size_t capacity = get();
    buffer ids = make_read(4 * (size_t)get(), 0);
    buffer text = make(capacity, 0);
    q25_nl_text_stream stream = {{0, 0, 0, 0}, 0};
    size_t at;
    for (at = 0; at <= ids.length / 4; at++) {
        size_t n_bytes = 0;
        q25_nl_status status =
            at == ids.length / 4
                ? q25_nl_tokenizer_stream_finish(&stream, text.bytes, capacity, &n_bytes)
                : q25_nl_tokenizer_stream_id(&bundle, &stream, ((const uint32_t *)(void *)ids.bytes)[at],
                                             flags, text.bytes, capacity, &n_bytes);
        put(status);
        put(n_bytes);
        put(stream.n_held);
        put(intact(&text));
        put_bytes(text.bytes, status == Q25_NL_OK ? n_bytes : 0);
    }
    free(ids.block);
    free(text.block);
}

static void run_verify(void)
{
    size_t skew = get();
    buffer read = make_read(get(), skew);
    q25_nl_fault fault = {0, 0, 0};
    q25_nl_status status;
    steps = 0;
    status = q25_nl_tokenizer_runtime_image_verify(read.bytes, read.length, &fault);
    put(status);
    put(fault.section);
    put(fault.row);
    put(fault.offset);
    put(steps);
    free(read.block);
}

static void run_to_byte_ids(void)
{
    size_t capacity = get();
    buffer text = make_read(get(), 0);
    buffer ids = make(4 * capacity, 0);
    size_t n_ids = 0;
    put(q25_tokenize_utf8_bytes((const char *)text.bytes, (uint32_t *)(void *)ids.bytes, capacity, &n_ids));
    put(n_ids);
    put(intact(&ids));
    put_bytes(ids.bytes, 4 * (n_ids < capacity ? n_ids : capacity));
    free(text.block);
    free(ids.block);
}

static void run_from_byte_ids(void)
{
    size_t capacity = get();
    buffer ids = make_read(4 * (size_t)get(), 0);
    buffer text = make(capacity, 0);
    size_t n_bytes = 0;
    q25_nl_status status = q25_detokenize_utf8_bytes((const uint32_t *)(void *)ids.bytes, ids.length / 4,
                                                     (char *)text.bytes, capacity, &n_bytes);
    put(status);
    put(n_bytes);
    put(intact(&text));
    put_bytes(text.bytes, status == Q25_NL_OK ? n_bytes + 1 : 0);
    free(ids.block);
    free(text.block);
}

int main(int argc, char **argv)
{
    static char out[1 << 16];
    uint32_t command;
    setvbuf(stdout, out, _IOFBF, sizeof out);
    if (argc > 1) { /* the image to begin with */
        FILE *file = fopen(argv[1], "rb");
        buffer read;
        long size;
        if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) {
            fail("cannot read the image");
        }
        rewind(file);
        read = make((size_t)size, 0);
        if (fread(read.bytes, 1, read.length, file) != read.length) {
            fail("cannot read the image");
        }
        fclose(file);
        image = read.block;
        if (q25_nl_tokenizer_runtime_image_open(read.bytes, read.length, &bundle, &encode, &info)
            != Q25_NL_OK) {
            fail("cannot open the image");
        }
        is_open = 1;
    }
    while (fread(&command, 4, 1, stdin) == 1) {
        if (!is_open && (command == ENCODE || command == DETOKENIZE || command == STREAM || command == INFO)) {
            fail("no image is open");
        }
        switch (command) {
        case SET_IMAGE:
            set_image();
            break;
        case ENCODE:
            run_encode();
            break;
        case DETOKENIZE:
            run_detokenize();
            break;
        case STREAM:
            run_stream();
            break;
        case VERIFY:
            run_verify();
            break;
        case INFO:
            put_bytes(info.header, sizeof *info.header);
            break;
        case TO_BYTE_IDS:
            run_to_byte_ids();
            break;
        case FROM_BYTE_IDS:
            run_from_byte_ids();
            break;
        case SCRATCH:
            put(q25_nl_tokenizer_scratch_bytes(get()));
            break;
        case NAME: {
            const char *name = q25_nl_status_name((q25_nl_status)get());
            put_bytes(name, strlen(name));
            break;
        }
        default:
            fail("unknown request");
        }
    }
    free(image);
    return 0;
}
