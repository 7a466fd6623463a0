/* rk3588_greedy: text to the RK3588 engine's token ids and back. `rk3588_greedy --help` says how. */
#include <stdio.h>
#include <string.h>

#include "rk3588_greedy.h"
#include "text_program.h"

static const char usage[] =
    "usage: rk3588_greedy [--variant NAME] [--decode] [--lines] VOCAB [FILE]\n"
    "\n"
    "Encodes text with a vocab.bin as the RK3588 engine does, and prints the ids on one line. The text is\n"
    "FILE, or standard input where FILE is missing or -.\n"
    "\n"
    "  --variant NAME  base: the engine as published (default); A and AB: its two published repairs;\n"
    "                  specials-first: its present form\n"
    "  --decode        the other way: ids, parted by blanks or commas, to their stored bytes\n"
    "  --lines         each line is a text, or the ids of one, by itself\n"
    "  --help          this text\n"
    "\n"
    "Exit codes: 0 done; 2 the call, or the ids in it, are wrong; 3 VOCAB is broken; 4 a file cannot be\n"
    "read or written, or memory is short.\n";

static const struct {
    const char *name;
    uint32_t flags;
} variants[] = {
    {"base", GREEDY_BASE},
    {"A", GREEDY_A},
    {"AB", GREEDY_AB},
    {"specials-first", GREEDY_SPECIALS_FIRST},
};

typedef struct engine {
    greedy_vocabulary *vocabulary;
    uint32_t flags;
} engine;

static int option(void *state, const char *name, const char *value, int *n_words, char why[WHY_BYTES])
{
    size_t at;
    if (strcmp(name, "--variant") != 0) {
        return EXIT_DONE;
    }
    *n_words = 2;
    for (at = 0; value != NULL && at < sizeof variants / sizeof *variants; at++) {
        if (strcmp(variants[at].name, value) == 0) {
            ((engine *)state)->flags = variants[at].flags;
            return EXIT_DONE;
        }
    }
    snprintf(why, WHY_BYTES, "--variant: expected base, A, AB or specials-first, found %.100s",
             value != NULL ? value : "nothing");
    return EXIT_USAGE;
}

static int open_vocabulary(void *state, const uint8_t *file, size_t file_bytes, char why[WHY_BYTES])
{
    greedy_fault fault;
    if (greedy_open(file, file_bytes, &((engine *)state)->vocabulary, &fault) == GREEDY_OK) {
        return EXIT_DONE;
    }
    greedy_describe(&fault, why);
    return fault.status == GREEDY_OUT_OF_MEMORY ? EXIT_MACHINE : EXIT_TABLE;
}

static void close_vocabulary(void *state)
{
    greedy_close(((engine *)state)->vocabulary);
}

/* Puts a status that is no fault of the file into words. */
static int status_words(greedy_status status, char *why)
{
    greedy_fault fault = {GREEDY_OK, NULL, GREEDY_NO_ROW, NULL, 0, 0, 0};
    if (status == GREEDY_OK || status == GREEDY_OUTPUT_TOO_SMALL) { /* the length is known, which is all */
        return EXIT_DONE;
    }
    fault.status = status;
    greedy_describe(&fault, why);
    return EXIT_MACHINE;
}

static int encode(void *state, const uint8_t *text, size_t text_bytes, uint32_t *ids, size_t capacity,
                  size_t *n_ids, char why[WHY_BYTES])
{
    const engine *made = (const engine *)state;
    return status_words(greedy_encode(made->vocabulary, text, text_bytes, made->flags, ids, capacity, n_ids),
                        why);
}

static int decode(void *state, const uint32_t *ids, size_t n_ids, uint8_t *text, size_t capacity,
                  size_t *n_bytes, char why[WHY_BYTES])
{
    const engine *made = (const engine *)state;
    size_t n_read;
    greedy_status status = greedy_decode(made->vocabulary, ids, n_ids, text, capacity, n_bytes, &n_read);
    if (status == GREEDY_UNKNOWN_ID) {
        snprintf(why, WHY_BYTES, "id at index %zu: expected one below %lu, found %lu", n_read,
                 (unsigned long)greedy_n_tokens(made->vocabulary), (unsigned long)ids[n_read]);
        return EXIT_USAGE;
    }
    return status_words(status, why);
}

int main(int argc, char **argv)
{
    engine made = {NULL, GREEDY_BASE};
    text_program program;
    program.name = "rk3588_greedy";
    program.usage = usage;
    program.state = &made;
    program.option = option;
    program.open = open_vocabulary;
    program.close = close_vocabulary;
    program.encode = encode;
    program.decode = decode;
    return text_program_main(argc, argv, &program);
}
