/* tokenizer_bin: the tokenizer of a small C engine for Qwen2.5 over its tokenizer.bin.
 *
 * Byte-level BPE by rank, on an approximation of the pre-tokenizer, so some ids are not those of the model's
 * own tokenizer; README.md says which. C99 with malloc.
 *
 * A tokenizer is only read once it is open, so any number of threads may use it. The file's bytes stay where
 * the caller has them, in memory or mapped, until the tokenizer is closed.
 */
#ifndef TOKENIZER_BIN_H
#define TOKENIZER_BIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tokbin_status {
    TOKBIN_OK = 0,
    TOKBIN_BAD_ARGUMENT, /* a null pointer, or another layout */
    TOKBIN_OUT_OF_MEMORY,
    TOKBIN_OUTPUT_TOO_SMALL, /* how much is needed was set */
    TOKBIN_OUTPUT_TOO_LONG,  /* more bytes than a size_t counts */
    TOKBIN_TEXT_TOO_LONG,    /* more than TOKBIN_MAX_TEXT_BYTES */
    TOKBIN_UNKNOWN_ID,       /* an id that the vocabulary does not have */

    /* Of opening a file; the fault says where. */
    TOKBIN_CUT_HEADER,     /* shorter than its counts */
    TOKBIN_BAD_COUNT,      /* more strings than the file has room for */
    TOKBIN_CUT_STRING,     /* a string that begins too near the end */
    TOKBIN_BAD_LENGTH,     /* a string that reaches beyond the end */
    TOKBIN_CUT_LIST,       /* merges, or the byte alphabet, that reach beyond the end */
    TOKBIN_BAD_LONGEST,    /* not the length of the longest string */
    TOKBIN_NUL,            /* a string with a NUL */
    TOKBIN_NOT_UTF8,       /* a string that is not UTF-8 */
    TOKBIN_BAD_ID,         /* an id that is no token */
    TOKBIN_BAD_ORDER,      /* an added token whose id is not above the one before */
    TOKBIN_BAD_TEXT,       /* an added token whose text is not the vocabulary's */
    TOKBIN_BAD_ALPHABET,   /* another byte alphabet */
    TOKBIN_BYTES_LEFT,     /* bytes behind the byte alphabet */
    TOKBIN_CROWDED_BUCKET, /* more strings with like hashes than chance gives: made to be slow */
    TOKBIN_TOO_LONG_MERGES /* merges that make longer texts than any vocabulary's: made to be slow */
} tokbin_status;

#define TOKBIN_NO_ROW 0xFFFFFFFFu

/* What is wrong with a file, and where. */
typedef struct tokbin_fault {
    tokbin_status status;
    const char *part;  /* of the file, such as "vocab"; NULL: none */
    uint32_t row;      /* of the part, or TOKBIN_NO_ROW */
    const char *field; /* of the row, or NULL */
    uint64_t offset;   /* of all that, in bytes from the file's start */
    uint64_t expected; /* a number that depends on the status */
    uint64_t found;
} tokbin_fault;

#define TOKBIN_MESSAGE_BYTES 240 /* what the longest message takes, with its NUL */

/* Writes one line about a fault or another status, without a line feed, such as
 * "merges[1].left_id at offset 0x2B (43): expected a token id below 4, found 4". */
void tokbin_describe(const tokbin_fault *fault, char message[TOKBIN_MESSAGE_BYTES]);

/* The two layouts that are found under the file's name; nothing in a file tells which it has. */
typedef enum tokbin_layout {
    TOKBIN_DOCUMENTED, /* three words in front, 256 bytes of byte_unicode_map at the end */
    TOKBIN_LOADER      /* a fourth word, max_token_len; 256 strings of byte_glyphs at the end */
} tokbin_layout;

typedef struct tokbin tokbin;

/* Opens the bytes of a tokenizer.bin and proves every part of it. Takes at most five times the file's size of
 * memory, and 4 kB. A tokenizer that was opened is closed by tokbin_close; of one that was refused nothing is
 * left. `fault` may be NULL. */
tokbin_status tokbin_open(const void *file, size_t file_bytes, tokbin_layout layout, tokbin **tokenizer,
                          tokbin_fault *fault);
void tokbin_close(tokbin *tokenizer); /* NULL: nothing */

#define TOKBIN_NONE 0xFFFFFFFFu /* an id that is not there */

uint32_t tokbin_vocab_size(const tokbin *tokenizer); /* ids are below this */

/* The lowest id whose string is this, or TOKBIN_NONE: "<|im_start|>", say, for a template. */
uint32_t tokbin_find(const tokbin *tokenizer, const char *text, size_t length);

#define TOKBIN_MAX_TEXT_BYTES 0x3FFFFFFFu

/* Encodes any bytes, behind `bos_id` unless that is TOKBIN_NONE. `n_ids` is set to the ids of the whole text,
 * which are at most as many as its bytes, and one for BOS; where they are more than `capacity`, that many are
 * written. Special tokens in the text are ordinary text. A byte that has no token of its own is left out.
 * Takes at most 64 bytes of memory for each byte of the longest piece (word, run of signs or of blanks), and
 * never less than 2 kB, and a time that grows with the piece's length times its logarithm. */
tokbin_status tokbin_encode(const tokbin *tokenizer, const uint8_t *text, size_t text_bytes, uint32_t bos_id,
                            uint32_t *ids, size_t capacity, size_t *n_ids);

/* Joins the bytes that ids stand for: of an added token its text. `n_bytes` is set to what all of them take;
 * where that is more than `capacity`, the first `capacity` bytes are written. Of UNKNOWN_ID, `n_read` is set
 * to the index of that id; otherwise to `n_ids`. */
tokbin_status tokbin_decode(const tokbin *tokenizer, const uint32_t *ids, size_t n_ids, uint8_t *text,
                            size_t capacity, size_t *n_bytes, size_t *n_read);

#ifdef __cplusplus
}
#endif

#endif
