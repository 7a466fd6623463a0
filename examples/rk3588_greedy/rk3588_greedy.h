/* rk3588_greedy: the RK3588 engine's tokenizer over its vocab.bin.
 *
 * It takes the longest entry at each place of the text and does no BPE, so some ids are not those of the
 * model's own tokenizer; README.md says which. C99 with malloc.
 *
 * A vocabulary is only read once it is open, so any number of threads may use it. The file's bytes stay
 * where the caller has them, in memory or mapped, until the vocabulary is closed.
 */
#ifndef RK3588_GREEDY_H
#define RK3588_GREEDY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum greedy_status {
    GREEDY_OK = 0,
    GREEDY_BAD_ARGUMENT, /* a null pointer, or flags that mean nothing */
    GREEDY_OUT_OF_MEMORY,
    GREEDY_OUTPUT_TOO_SMALL, /* how much is needed was set */
    GREEDY_OUTPUT_TOO_LONG,  /* more bytes than a size_t counts */
    GREEDY_UNKNOWN_ID,       /* an id that no entry has */

    /* Of opening a file; the fault says where. */
    GREEDY_NO_COUNT,         /* shorter than the number of entries */
    GREEDY_TOO_MANY_ENTRIES, /* more than the engine reads */
    GREEDY_BAD_COUNT,        /* more entries than the file has room for */
    GREEDY_CUT_ENTRY,        /* an entry that begins too near the end */
    GREEDY_BAD_LENGTH,       /* a text that reaches beyond the end */
    GREEDY_BAD_ID,           /* an id that is not the entry's position */
    GREEDY_BYTES_LEFT        /* bytes behind the last entry */
} greedy_status;

#define GREEDY_NO_ROW 0xFFFFFFFFu

/* What is wrong with a file, and where. */
typedef struct greedy_fault {
    greedy_status status;
    const char *part;  /* of the file, such as "entries"; NULL: none */
    uint32_t row;      /* of the part, or GREEDY_NO_ROW */
    const char *field; /* of the row, or NULL */
    uint64_t offset;   /* of all that, in bytes from the file's start */
    uint64_t expected; /* a number that depends on the status */
    uint64_t found;
} greedy_fault;

#define GREEDY_MAX_ENTRIES 151936u /* the engine refuses more */
#define GREEDY_MESSAGE_BYTES 240   /* what the longest message takes, with its NUL */

/* Writes one line about a fault or another status, without a line feed, such as
 * "entries[2].length at offset 0x17 (23): expected at most the 0 bytes left, found 1". */
void greedy_describe(const greedy_fault *fault, char message[GREEDY_MESSAGE_BYTES]);

typedef struct greedy_vocabulary greedy_vocabulary;

/* Opens the bytes of a vocab.bin and proves its layout. Takes at most five times the file's size of memory,
 * and 4 kB, besides qsort. A vocabulary that was opened is closed by greedy_close; of one that was refused
 * nothing is left. `fault` may be NULL. */
greedy_status greedy_open(const void *file, size_t file_bytes, greedy_vocabulary **vocabulary,
                          greedy_fault *fault);
void greedy_close(greedy_vocabulary *vocabulary); /* NULL: nothing */

uint32_t greedy_n_tokens(const greedy_vocabulary *vocabulary); /* ids are below this */

/* Flags of encoding. */
#define GREEDY_SPACE_AT_START 1u /* a blank in front of the first token counts, too */
#define GREEDY_LONE_SPACE 2u     /* a blank that no entry takes becomes the token of one blank */
#define GREEDY_SPECIALS 4u       /* special tokens first; no other match runs into the next one */
#define GREEDY_NEWLINE_RUNS 8u   /* up to 8 newlines are one token, where there is one */

/* The engine's encoder as it was published, its two published repairs, and its present form. */
#define GREEDY_BASE 0u
#define GREEDY_A GREEDY_SPACE_AT_START
#define GREEDY_AB (GREEDY_SPACE_AT_START | GREEDY_LONE_SPACE)
#define GREEDY_SPECIALS_FIRST (GREEDY_SPECIALS | GREEDY_NEWLINE_RUNS)

/* Encodes any bytes. `n_ids` is set to the ids of the whole text, which are at most as many as its bytes;
 * where they are more than `capacity`, that many are written. Takes no memory. A token takes at most 36
 * comparisons with entries, none of more bytes than the longest entry has. */
greedy_status greedy_encode(const greedy_vocabulary *vocabulary, const uint8_t *text, size_t text_bytes,
                            uint32_t flags, uint32_t *ids, size_t capacity, size_t *n_ids);

/* Joins the stored bytes of ids. `n_bytes` is set to what all of them take; where that is more than
 * `capacity`, the first `capacity` bytes are written. Of UNKNOWN_ID, `n_read` is set to the index of that id;
 * otherwise to `n_ids`. A blank comes back as U+0120 and a newline as U+010A: that is what is stored. */
greedy_status greedy_decode(const greedy_vocabulary *vocabulary, const uint32_t *ids, size_t n_ids,
                            uint8_t *text, size_t capacity, size_t *n_bytes, size_t *n_read);

#ifdef __cplusplus
}
#endif

#endif
