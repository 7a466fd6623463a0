/* text_program: what the command-line programs of the examples share: the call, text and ids from a file or
 * standard input, in one piece or line by line, and what is printed. The engine is the program's own. */
#ifndef TEXT_PROGRAM_H
#define TEXT_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/* Exit codes, as of the commands of `pipeline`. */
enum {
    EXIT_DONE = 0,
    EXIT_USAGE = 2,  /* the call, or the text or ids it names */
    EXIT_TABLE = 3,  /* the file with the vocabulary is broken */
    EXIT_MACHINE = 4 /* a file that cannot be read or written, or no memory */
};

#define WHY_BYTES 512 /* of one line about what is wrong, without a line feed, with its NUL */

/* An engine behind the command line. Functions get the program's own state and answer an exit code; where
 * that is not EXIT_DONE, they have said why. */
typedef struct text_program {
    const char *name;
    const char *usage; /* what --help prints */
    void *state;

    /* Takes an option of the program's own, and the word behind it (NULL where none is), and sets `n_words`
     * to the number of words it took; 0: there is no such option. */
    int (*option)(void *state, const char *name, const char *value, int *n_words, char why[WHY_BYTES]);

    /* Opens the vocabulary's file, whose bytes stay until `close`. */
    int (*open)(void *state, const uint8_t *file, size_t file_bytes, char why[WHY_BYTES]);
    void (*close)(void *state);

    /* Gives at most one id more than the text has bytes, for which there is room. */
    int (*encode)(void *state, const uint8_t *text, size_t text_bytes, uint32_t *ids, size_t capacity,
                  size_t *n_ids, char why[WHY_BYTES]);
    /* Sets the length of the whole text, and writes it where there is room. */
    int (*decode)(void *state, const uint32_t *ids, size_t n_ids, uint8_t *text, size_t capacity,
                  size_t *n_bytes, char why[WHY_BYTES]);
} text_program;

/* The whole program, [OPTIONS] VOCAB [FILE]; its exit code. Where a line of many is refused, those before it
 * have been answered. */
int text_program_main(int argc, char **argv, const text_program *program);

/* Reads a word that is an id and nothing else; answers 0 for another one. */
int text_program_id(const char *word, size_t length, uint32_t *id);

#endif
