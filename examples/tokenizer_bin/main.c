/* tokenizer_bin: text to token ids with a tokenizer.bin and back. `tokenizer_bin --help` says how. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text_program.h"
#include "tokenizer_bin.h"

static const char usage[] =
    "usage: tokenizer_bin [--layout NAME] [--bos ID] [--decode] [--lines] VOCAB [FILE]\n"
    "\n"
    "Encodes text with a tokenizer.bin as the C engine of that file does, and prints the ids on one line.\n"
    "The text is FILE, or standard input where FILE is missing or -.\n"
    "\n"
    "  --layout NAME  the layout of VOCAB: documented (default) or loader\n"
    "  --bos ID       put this id in front of each text's\n"
    "  --decode       the other way: ids, parted by blanks or commas, to the bytes they stand for\n"
    "  --lines        each line is a text, or the ids of one, by itself\n"
    "  --help         this text\n"
    "\n"
    "Exit codes: 0 done; 2 the call, or the text or ids in it, are wrong; 3 VOCAB is broken; 4 a file\n"
    "cannot be read or written, or memory is short.\n";

typedef struct engine {
    tokbin *tokenizer;
    tokbin_layout layout;
    uint32_t bos_id;
} engine;

static int option(void *state, const char *name, const char *value, int *n_words, char why[WHY_BYTES])
{
    engine *made = (engine *)state;
    const char *expected = "an id";
    if (strcmp(name, "--bos") == 0) {
        *n_words = 2;
        if (value != NULL && text_program_id(value, strlen(value), &made->bos_id)
            && made->bos_id != TOKBIN_NONE) {
            return EXIT_DONE;
        }
    } else if (strcmp(name, "--layout") == 0) {
        *n_words = 2;
        if (value != NULL && strcmp(value, "documented") == 0) {
            made->layout = TOKBIN_DOCUMENTED;
            return EXIT_DONE;
        }
        if (value != NULL && strcmp(value, "loader") == 0) {
            made->layout = TOKBIN_LOADER;
            return EXIT_DONE;
        }
        expected = "documented or loader";
    } else {
        return EXIT_DONE;
    }
    snprintf(why, WHY_BYTES, "%s: expected %s, found %.100s", name, expected,
             value != NULL ? value : "nothing");
    return EXIT_USAGE;
}

static int unknown_id(const engine *made, const char *place, uint32_t id, char *why)
{
    snprintf(why, WHY_BYTES, "%s: expected one below %" PRIu32 ", found %" PRIu32, place,
             tokbin_vocab_size(made->tokenizer), id);
    return EXIT_USAGE;
}

static int open_tokenizer(void *state, const uint8_t *file, size_t file_bytes, char why[WHY_BYTES])
{
    engine *made = (engine *)state;
    const tokbin_layout other = made->layout == TOKBIN_LOADER ? TOKBIN_DOCUMENTED : TOKBIN_LOADER;
    tokbin_fault fault;
    size_t length;
    if (tokbin_open(file, file_bytes, made->layout, &made->tokenizer, &fault) == TOKBIN_OK) {
        return EXIT_DONE;
    }
    tokbin_describe(&fault, why);
    if (fault.status == TOKBIN_OUT_OF_MEMORY) {
        return EXIT_MACHINE;
    }
    if (tokbin_open(file, file_bytes, other, &made->tokenizer, NULL) == TOKBIN_OK) {
        tokbin_close(made->tokenizer);
        length = strlen(why);
        snprintf(why + length, WHY_BYTES - length, "; it is in the other layout: --layout %s",
                 other == TOKBIN_LOADER ? "loader" : "documented");
    }
    return EXIT_TABLE;
}

static void close_tokenizer(void *state)
{
    tokbin_close(((engine *)state)->tokenizer);
}

/* Puts a status that is no fault of the file into words. */
static int status_words(tokbin_status status, char *why)
{
    tokbin_fault fault = {TOKBIN_OK, NULL, TOKBIN_NO_ROW, NULL, 0, 0, 0};
    if (status == TOKBIN_OK || status == TOKBIN_OUTPUT_TOO_SMALL) { /* the length is known, which is all */
        return EXIT_DONE;
    }
    fault.status = status;
    tokbin_describe(&fault, why);
    return status == TOKBIN_TEXT_TOO_LONG ? EXIT_USAGE : EXIT_MACHINE;
}

static int encode(void *state, const uint8_t *text, size_t text_bytes, uint32_t *ids, size_t capacity,
                  size_t *n_ids, char why[WHY_BYTES])
{
    const engine *made = (const engine *)state;
    tokbin_status status =
        tokbin_encode(made->tokenizer, text, text_bytes, made->bos_id, ids, capacity, n_ids);
    return status == TOKBIN_UNKNOWN_ID ? unknown_id(made, "--bos", made->bos_id, why)
                                       : status_words(status, why);
}

static int decode(void *state, const uint32_t *ids, size_t n_ids, uint8_t *text, size_t capacity,
                  size_t *n_bytes, char why[WHY_BYTES])
{
    const engine *made = (const engine *)state;
    size_t n_read;
    tokbin_status status = tokbin_decode(made->tokenizer, ids, n_ids, text, capacity, n_bytes, &n_read);
    if (status == TOKBIN_UNKNOWN_ID) {
        char place[48];
        snprintf(place, sizeof place, "id at index %zu", n_read);
        return unknown_id(made, place, ids[n_read], why);
    }
    return status_words(status, why);
}

int main(int argc, char **argv)
{
    engine made = {NULL, TOKBIN_DOCUMENTED, TOKBIN_NONE};
    text_program program;
    program.name = "tokenizer_bin";
    program.usage = usage;
    program.state = &made;
    program.option = option;
    program.open = open_tokenizer;
    program.close = close_tokenizer;
    program.encode = encode;
    program.decode = decode;
    return text_program_main(argc, argv, &program);
}
