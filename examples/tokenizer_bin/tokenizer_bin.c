/* tokenizer_bin: see tokenizer_bin.h for what it does and README.md for the rules of encoding.
 *
 * In order: bytes; refusals; the byte alphabet; hash tables; the file; opening; pieces of text; merges;
 * encoding; decoding.
 */
#include "tokenizer_bin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A test may count the steps of the inner loops: define this as the name of a uint64_t. */
#ifdef TOKBIN_COUNT_STEPS
extern uint64_t TOKBIN_COUNT_STEPS;
#define STEP() (TOKBIN_COUNT_STEPS++)
#else
#define STEP() ((void)0)
#endif

#define NONE TOKBIN_NONE
#define WORD 4u                   /* bytes of a u32 */
#define PAIR (2 * WORD)           /* of a merge: u32 left_id, u32 right_id */
#define SPECIAL_HEADER (2 * WORD) /* u32 token_id, u32 length; then the text */
#define ALPHABET_BYTES 256u
#define GLYPH_CODES 0x144u /* code points of glyphs are below this */
#define NO_BYTE 0x100u
#define MAX_GLYPH_BYTES 2u

/* Bounds that no vocabulary comes near but by design, and that keep opening linear: strings in a bucket
 * (chance makes about ten), and bytes of all joined texts for each of the file (Qwen's: 0.4). */
#define MAX_CHAIN 64u
#define JOINED_BYTES 16u

/* A hash table of strings: FNV-1a, and chains in a power of two of buckets. Rows are strings behind their
 * length, or 8 bytes each. */
typedef struct table {
    const uint8_t *const *texts; /* by row; their length lies before them. NULL: rows lie at `pairs` */
    const uint8_t *pairs;
    uint32_t *heads; /* first row of each bucket's chain, or NONE */
    uint32_t *next;  /* by row, the next one of its chain, or NONE */
    size_t mask;     /* buckets - 1 */
} table;

struct tokbin {
    uint32_t vocab_size;
    const uint8_t **texts; /* by id, in the file */
    uint32_t longest;      /* bytes of the longest of them */
    table strings;

    uint32_t n_merges;
    table merges;   /* those that can be done, by their pair */
    uint32_t *outs; /* by rank, the id of the joined text, or NONE */

    uint32_t n_special;
    uint32_t *special_ids; /* ascending */

    uint32_t byte_ids[ALPHABET_BYTES]; /* the token of each byte's glyph, or NONE */
    uint16_t byte_of[GLYPH_CODES];     /* by code point, the byte that a glyph stands for, or NO_BYTE */
};

/* ---- Bytes ------------------------------------------------------------------------------------- */

static uint32_t u32_at(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put_u32(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)(value >> 16);
    bytes[3] = (uint8_t)(value >> 24);
}

/* Of a string in the file: its length lies before it. */
static uint32_t length_of(const uint8_t *text)
{
    return u32_at(text - WORD);
}

/* Room for `count` things, at least one; NULL where that is more than memory holds. */
static void *room(size_t count, size_t size)
{
    return count > SIZE_MAX / size ? NULL : malloc(count == 0 ? size : count * size);
}

/* Bytes of the character of UTF-8 that begins a text, or 0 where none does. */
static size_t utf8_character(const uint8_t *text, size_t length)
{
    const uint8_t first = text[0];
    uint8_t low = 0x80, high = 0xBF; /* bounds of the second byte */
    size_t size, at;
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xC2 || first > 0xF4) {
        return 0;
    }
    size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (size > length) {
        return 0;
    }
    if (first == 0xE0) {
        low = 0xA0; /* less would be too long a spelling */
    } else if (first == 0xED) {
        high = 0x9F; /* surrogates */
    } else if (first == 0xF0) {
        low = 0x90;
    } else if (first == 0xF4) {
        high = 0x8F; /* beyond U+10FFFF */
    }
    if (text[1] < low || text[1] > high) {
        return 0;
    }
    for (at = 2; at < size; at++) {
        if ((text[at] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return size;
}

/* ---- Refusals ---------------------------------------------------------------------------------- */

static tokbin_status refuse(tokbin_fault *fault, tokbin_status status, const char *part, uint32_t row,
                            const char *field, size_t offset, uint64_t expected, uint64_t found)
{
    fault->status = status;
    fault->part = part;
    fault->row = row;
    fault->field = field;
    fault->offset = offset;
    fault->expected = expected;
    fault->found = found;
    return status;
}

static tokbin_status plain(tokbin_fault *fault, tokbin_status status)
{
    return refuse(fault, status, NULL, TOKBIN_NO_ROW, NULL, 0, 0, 0);
}

/* "part[row].field at offset ...: expected "; its length. */
static size_t describe_place(const tokbin_fault *fault, char *message, size_t size)
{
    char row[16] = "";
    int written;
    if (fault->row != TOKBIN_NO_ROW) {
        snprintf(row, sizeof row, "[%" PRIu32 "]", fault->row);
    }
    written = snprintf(message, size, "%s%s%s%s%soffset 0x%" PRIX64 " (%" PRIu64 "): expected ",
                       fault->part != NULL ? fault->part : "", row, fault->field != NULL ? "." : "",
                       fault->field != NULL ? fault->field : "", fault->part != NULL ? " at " : "",
                       fault->offset, fault->offset);
    return written < 0 ? 0 : (size_t)written < size ? (size_t)written : size - 1;
}

void tokbin_describe(const tokbin_fault *fault, char message[TOKBIN_MESSAGE_BYTES])
{
    const uint64_t expected = fault->expected, found = fault->found;
    size_t size = TOKBIN_MESSAGE_BYTES;
    if (fault->status >= TOKBIN_CUT_HEADER) {
        size_t written = describe_place(fault, message, size);
        message += written;
        size -= written;
    }
    switch (fault->status) {
    case TOKBIN_OK:
        snprintf(message, size, "no fault");
        break;
    case TOKBIN_BAD_ARGUMENT:
        snprintf(message, size, "a null pointer, or another layout");
        break;
    case TOKBIN_OUT_OF_MEMORY:
        snprintf(message, size, "out of memory");
        break;
    case TOKBIN_OUTPUT_TOO_SMALL:
        snprintf(message, size, "the output needs more room");
        break;
    case TOKBIN_OUTPUT_TOO_LONG:
        snprintf(message, size, "the output is longer than memory");
        break;
    case TOKBIN_TEXT_TOO_LONG:
        snprintf(message, size, "expected a text of at most %u bytes", TOKBIN_MAX_TEXT_BYTES);
        break;
    case TOKBIN_UNKNOWN_ID:
        snprintf(message, size, "an id that the vocabulary does not have");
        break;
    case TOKBIN_CUT_HEADER:
    case TOKBIN_CUT_LIST:
        snprintf(message, size, "%" PRIu64 " bytes, found %" PRIu64 " bytes before the end", expected, found);
        break;
    case TOKBIN_BAD_COUNT: {
        const uint64_t header = strcmp(fault->part, "vocab") == 0 ? WORD : SPECIAL_HEADER;
        snprintf(message, size,
                 "at most %" PRIu64 " elements of %" PRIu64 " bytes or more in the %" PRIu64
                 " bytes left, found %" PRIu64,
                 expected / header, header, expected, found);
        break;
    }
    case TOKBIN_CUT_STRING:
        snprintf(message, size, "%" PRIu64 " bytes or more, found %" PRIu64 " bytes before the end", expected,
                 found);
        break;
    case TOKBIN_BAD_LENGTH:
        snprintf(message, size, "at most the %" PRIu64 " bytes left, found %" PRIu64, expected, found);
        break;
    case TOKBIN_BAD_LONGEST:
        snprintf(message, size, "%" PRIu64 ", the longest vocabulary string, found %" PRIu64, expected,
                 found);
        break;
    case TOKBIN_NUL:
        snprintf(message, size, "a text without NUL (the engine keeps C strings), found one at byte %" PRIu64,
                 found);
        break;
    case TOKBIN_NOT_UTF8:
        snprintf(message, size, "text in UTF-8, found none at byte %" PRIu64, found);
        break;
    case TOKBIN_BAD_ID:
        snprintf(message, size, "a token id below %" PRIu64 ", found %" PRIu64, expected, found);
        break;
    case TOKBIN_BAD_ORDER:
        snprintf(message, size, "an id above %" PRIu64 " (ids in order), found %" PRIu64, expected, found);
        break;
    case TOKBIN_BAD_TEXT:
        snprintf(message, size, "the text of token %" PRIu64 ", found another", expected);
        break;
    case TOKBIN_BAD_ALPHABET:
        snprintf(message, size, "byte %02" PRIX64 " of the byte alphabet, found %02" PRIX64, expected, found);
        break;
    case TOKBIN_BYTES_LEFT:
        snprintf(message, size, "the end, found %" PRIu64 " bytes more", found);
        break;
    case TOKBIN_TOO_LONG_MERGES:
        snprintf(message, size, "merges whose texts joined take at most %" PRIu64 " bytes, found more",
                 expected);
        break;
    case TOKBIN_CROWDED_BUCKET:
        snprintf(message, size, "at most %" PRIu64 " strings with like hashes, found more", expected);
        break;
    }
}

/* ---- The byte alphabet ------------------------------------------------------------------------- */

/* Bytes that are printable as Latin-1 stand for themselves; the others, in order, for U+0100 and what
 * follows. */
static int is_printable(uint32_t byte)
{
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

/* A glyph in UTF-8; its length. */
static size_t spell(uint32_t code, uint8_t glyph[MAX_GLYPH_BYTES])
{
    if (code < 0x80) {
        glyph[0] = (uint8_t)code;
        return 1;
    }
    glyph[0] = (uint8_t)(0xC0 | code >> 6);
    glyph[1] = (uint8_t)(0x80 | (code & 0x3F));
    return 2;
}

/* The code point of each byte's glyph, and the alphabet as the end of a file of this layout has it; its
 * length. */
static size_t build_alphabet(tokbin_layout layout, uint16_t codes[ALPHABET_BYTES], uint8_t *built)
{
    uint32_t byte, n_others = 0, index = 0;
    size_t length = 0;
    for (byte = 0; byte < ALPHABET_BYTES; byte++) {
        codes[byte] = (uint16_t)(is_printable(byte) ? byte : ALPHABET_BYTES + n_others++);
    }
    for (byte = 0; byte < ALPHABET_BYTES; byte++) {
        if (layout == TOKBIN_LOADER) {
            const size_t size = spell(codes[byte], built + length + WORD);
            put_u32(built + length, (uint32_t)size);
            length += WORD + size;
        } else { /* its index: those that stand for themselves come first */
            built[length++] = (uint8_t)(is_printable(byte) ? index++ : codes[byte] - n_others);
        }
    }
    return length;
}

/* ---- Hash tables ------------------------------------------------------------------------------- */

static uint32_t fnv1a(const uint8_t *bytes, size_t length)
{
    uint32_t hash = 2166136261u;
    size_t at;
    for (at = 0; at < length; at++) {
        hash = (hash ^ bytes[at]) * 16777619u;
    }
    return hash;
}

static int is_row(const table *made, uint32_t row, const uint8_t *text, size_t length)
{
    if (made->texts == NULL) {
        return memcmp(made->pairs + (size_t)row * PAIR, text, PAIR) == 0;
    }
    return length_of(made->texts[row]) == length && memcmp(made->texts[row], text, length) == 0;
}

static uint32_t find(const table *made, const uint8_t *text, size_t length)
{
    uint32_t row = made->heads[fnv1a(text, length) & made->mask];
    while (row != NONE && !is_row(made, row, text, length)) {
        row = made->next[row];
        STEP();
    }
    return row;
}

static int make_table(table *made, size_t n_rows)
{
    size_t n_buckets = 1, at;
    while (n_buckets < n_rows) {
        n_buckets *= 2;
    }
    made->mask = n_buckets - 1;
    made->heads = (uint32_t *)room(n_buckets, sizeof *made->heads);
    made->next = (uint32_t *)room(n_rows, sizeof *made->next);
    if (made->heads == NULL || made->next == NULL) {
        return 0;
    }
    for (at = 0; at < n_buckets; at++) {
        made->heads[at] = NONE;
    }
    return 1;
}

/* Adds a row whose string no row before it has; answers 0 where its bucket is full. */
static int insert(table *made, uint32_t row, const uint8_t *text, size_t length)
{
    uint32_t *head = made->heads + (fnv1a(text, length) & made->mask);
    uint32_t other = *head, n_others = 0;
    while (other != NONE) {
        if (is_row(made, other, text, length)) {
            return 1;
        }
        if (++n_others == MAX_CHAIN) {
            return 0;
        }
        other = made->next[other];
    }
    made->next[row] = *head;
    *head = row;
    return 1;
}

static void free_table(table *made)
{
    free(made->heads);
    free(made->next);
}

/* ---- The file ---------------------------------------------------------------------------------- */

/* What is being read, and how far it was. */
typedef struct reader {
    const uint8_t *file;
    size_t size;
    size_t at;
    tokbin_fault *fault;
} reader;

static tokbin_status read_header(reader *from, size_t n_words, uint32_t *words)
{
    static const char *const names[] = {"vocab_size", "n_merges", "n_special", "max_token_len"};
    size_t which;
    for (which = 0; which < n_words; which++, from->at += WORD) {
        if (from->size - from->at < WORD) {
            return refuse(from->fault, TOKBIN_CUT_HEADER, names[which], TOKBIN_NO_ROW, NULL, from->at, WORD,
                          from->size - from->at);
        }
        words[which] = u32_at(from->file + from->at);
    }
    return TOKBIN_OK;
}

/* Steps over `count` strings behind headers that end in their length, as the file's size allows. */
static tokbin_status scan_strings(reader *from, const char *part, uint32_t count, size_t header,
                                  const uint8_t **texts)
{
    const size_t left = from->size - from->at;
    uint32_t row;
    if (count > left / header) {
        return refuse(from->fault, TOKBIN_BAD_COUNT, part, TOKBIN_NO_ROW, NULL, from->at, left, count);
    }
    for (row = 0; row < count; row++) {
        const size_t behind = from->size - from->at;
        uint32_t length;
        if (behind < header) {
            return refuse(from->fault, TOKBIN_CUT_STRING, part, row, NULL, from->at, header, behind);
        }
        from->at += header;
        length = length_of(from->file + from->at);
        if (length > behind - header) {
            return refuse(from->fault, TOKBIN_BAD_LENGTH, part, row, "length", from->at - WORD,
                          behind - header, length);
        }
        if (texts != NULL) {
            texts[row] = from->file + from->at;
        }
        from->at += length;
    }
    return TOKBIN_OK;
}

static tokbin_status read_vocabulary(tokbin *made, reader *from, const uint32_t *max_token_len)
{
    const size_t most = (from->size - from->at) / WORD;
    uint32_t id;
    tokbin_status status;
    if (made->vocab_size <= most) {
        made->texts = (const uint8_t **)room(made->vocab_size, sizeof *made->texts);
        if (made->texts == NULL) {
            return plain(from->fault, TOKBIN_OUT_OF_MEMORY);
        }
    }
    status = scan_strings(from, "vocab", made->vocab_size, WORD, made->texts);
    if (status != TOKBIN_OK) {
        return status;
    }
    for (id = 0; id < made->vocab_size; id++) {
        const uint32_t length = length_of(made->texts[id]);
        made->longest = length > made->longest ? length : made->longest;
    }
    if (max_token_len != NULL && *max_token_len != made->longest) {
        return refuse(from->fault, TOKBIN_BAD_LONGEST, "max_token_len", TOKBIN_NO_ROW, NULL, 3 * WORD,
                      made->longest, *max_token_len);
    }
    for (id = 0; id < made->vocab_size; id++) {
        const uint8_t *text = made->texts[id];
        const uint8_t *nul = (const uint8_t *)memchr(text, 0, length_of(text));
        if (nul != NULL) {
            return refuse(from->fault, TOKBIN_NUL, "vocab", id, "text", (size_t)(text - from->file), 0,
                          (size_t)(nul - text));
        }
    }
    for (id = 0; id < made->vocab_size; id++) {
        const uint8_t *text = made->texts[id];
        const size_t length = length_of(text);
        size_t at = 0;
        while (at < length) {
            const size_t size = utf8_character(text + at, length - at);
            if (size == 0) {
                return refuse(from->fault, TOKBIN_NOT_UTF8, "vocab", id, "text", (size_t)(text - from->file),
                              0, at);
            }
            at += size;
        }
    }
    return TOKBIN_OK;
}

static tokbin_status read_merges(tokbin *made, reader *from)
{
    static const char *const sides[] = {"left_id", "right_id"};
    const size_t left = from->size - from->at;
    size_t side;
    uint32_t row;
    if (made->n_merges > left / PAIR) {
        return refuse(from->fault, TOKBIN_CUT_LIST, "merges", TOKBIN_NO_ROW, NULL, from->at,
                      (uint64_t)made->n_merges * PAIR, left);
    }
    made->merges.pairs = from->file + from->at;
    for (side = 0; side < 2; side++) {
        for (row = 0; row < made->n_merges; row++) {
            const uint8_t *cell = made->merges.pairs + (size_t)row * PAIR + side * WORD;
            if (u32_at(cell) >= made->vocab_size) {
                return refuse(from->fault, TOKBIN_BAD_ID, "merges", row, sides[side],
                              (size_t)(cell - from->file), made->vocab_size, u32_at(cell));
            }
        }
    }
    from->at += (size_t)made->n_merges * PAIR;
    return TOKBIN_OK;
}

static tokbin_status read_special(tokbin *made, reader *from)
{
    const uint8_t *header = from->file + from->at;
    tokbin_status status = scan_strings(from, "special", made->n_special, SPECIAL_HEADER, NULL);
    uint32_t row;
    if (status != TOKBIN_OK) {
        return status;
    }
    made->special_ids = (uint32_t *)room(made->n_special, sizeof *made->special_ids);
    if (made->special_ids == NULL) {
        return plain(from->fault, TOKBIN_OUT_OF_MEMORY);
    }
    for (row = 0; row < made->n_special; row++) {
        const uint8_t *text = header + SPECIAL_HEADER;
        const uint32_t id = u32_at(header), length = length_of(text);
        const size_t at = (size_t)(header - from->file);
        if (id >= made->vocab_size) {
            return refuse(from->fault, TOKBIN_BAD_ID, "special", row, "token_id", at, made->vocab_size, id);
        }
        if (row > 0 && id <= made->special_ids[row - 1]) {
            return refuse(from->fault, TOKBIN_BAD_ORDER, "special", row, "token_id", at,
                          made->special_ids[row - 1], id);
        }
        if (length != length_of(made->texts[id]) || memcmp(text, made->texts[id], length) != 0) {
            return refuse(from->fault, TOKBIN_BAD_TEXT, "special", row, "text", at + SPECIAL_HEADER, id, 0);
        }
        made->special_ids[row] = id;
        header = text + length;
    }
    return TOKBIN_OK;
}

/* The end of the file, which is the same in every file of a layout. */
static tokbin_status read_alphabet(reader *from, tokbin_layout layout, const uint8_t *built, size_t length)
{
    const char *part = layout == TOKBIN_LOADER ? "byte_glyphs" : "byte_unicode_map";
    const size_t left = from->size - from->at;
    size_t at;
    if (length > left) {
        return refuse(from->fault, TOKBIN_CUT_LIST, part, TOKBIN_NO_ROW, NULL, from->at, length, left);
    }
    for (at = 0; at < length; at++) {
        if (from->file[from->at + at] != built[at]) {
            return refuse(from->fault, TOKBIN_BAD_ALPHABET, part, TOKBIN_NO_ROW, NULL, from->at + at,
                          built[at], from->file[from->at + at]);
        }
    }
    from->at += length;
    if (from->at != from->size) {
        return refuse(from->fault, TOKBIN_BYTES_LEFT, NULL, TOKBIN_NO_ROW, NULL, from->at, 0,
                      from->size - from->at);
    }
    return TOKBIN_OK;
}

/* ---- Opening ----------------------------------------------------------------------------------- */

static tokbin_status read_file(tokbin *made, reader *from, tokbin_layout layout, const uint8_t *built,
                               size_t built_length)
{
    uint32_t words[4] = {0, 0, 0, 0};
    tokbin_status status = read_header(from, layout == TOKBIN_LOADER ? 4 : 3, words);
    if (status != TOKBIN_OK) {
        return status;
    }
    made->vocab_size = words[0];
    made->n_merges = words[1];
    made->n_special = words[2];
    status = read_vocabulary(made, from, layout == TOKBIN_LOADER ? words + 3 : NULL);
    if (status == TOKBIN_OK) {
        status = read_merges(made, from);
    }
    if (status == TOKBIN_OK) {
        status = read_special(made, from);
    }
    return status == TOKBIN_OK ? read_alphabet(from, layout, built, built_length) : status;
}

static tokbin_status make_strings(tokbin *made, reader *from)
{
    uint32_t id;
    made->strings.texts = made->texts;
    if (!make_table(&made->strings, made->vocab_size)) {
        return plain(from->fault, TOKBIN_OUT_OF_MEMORY);
    }
    for (id = 0; id < made->vocab_size; id++) {
        const uint8_t *text = made->texts[id];
        if (!insert(&made->strings, id, text, length_of(text))) {
            return refuse(from->fault, TOKBIN_CROWDED_BUCKET, "vocab", id, "text",
                          (size_t)(text - from->file), MAX_CHAIN, 0);
        }
    }
    return TOKBIN_OK;
}

/* Finds what every merge makes. One that makes no token is never done. `joined` has room for the longest
 * string. */
static tokbin_status join_merges(tokbin *made, reader *from, uint8_t *joined)
{
    uint64_t budget = (uint64_t)from->size * JOINED_BYTES;
    uint32_t row;
    for (row = 0; row < made->n_merges; row++) {
        const uint8_t *pair = made->merges.pairs + (size_t)row * PAIR;
        const uint8_t *left = made->texts[u32_at(pair)], *right = made->texts[u32_at(pair + WORD)];
        const size_t left_length = length_of(left), right_length = length_of(right);
        made->outs[row] = NONE;
        if (left_length > made->longest - right_length) {
            continue; /* no string is as long */
        }
        if (left_length + right_length > budget) {
            return refuse(from->fault, TOKBIN_TOO_LONG_MERGES, "merges", row, NULL,
                          (size_t)(pair - from->file), (uint64_t)from->size * JOINED_BYTES, 0);
        }
        budget -= left_length + right_length;
        memcpy(joined, left, left_length);
        memcpy(joined + left_length, right, right_length);
        made->outs[row] = find(&made->strings, joined, left_length + right_length);
        if (made->outs[row] != NONE && !insert(&made->merges, row, pair, PAIR)) {
            return refuse(from->fault, TOKBIN_CROWDED_BUCKET, "merges", row, NULL,
                          (size_t)(pair - from->file), MAX_CHAIN, 0);
        }
    }
    return TOKBIN_OK;
}

static tokbin_status make_merges(tokbin *made, reader *from)
{
    uint8_t *joined = (uint8_t *)room(made->longest, 1);
    tokbin_status status = TOKBIN_OUT_OF_MEMORY;
    made->outs = (uint32_t *)room(made->n_merges, sizeof *made->outs);
    if (joined != NULL && made->outs != NULL && make_table(&made->merges, made->n_merges)) {
        status = join_merges(made, from, joined);
    } else {
        plain(from->fault, status);
    }
    free(joined);
    return status;
}

static void find_bytes(tokbin *made, const uint16_t codes[ALPHABET_BYTES])
{
    uint32_t at;
    for (at = 0; at < GLYPH_CODES; at++) {
        made->byte_of[at] = NO_BYTE;
    }
    for (at = 0; at < ALPHABET_BYTES; at++) {
        uint8_t glyph[MAX_GLYPH_BYTES];
        const size_t length = spell(codes[at], glyph);
        made->byte_of[codes[at]] = (uint16_t)at;
        made->byte_ids[at] = find(&made->strings, glyph, length);
    }
}

tokbin_status tokbin_open(const void *file, size_t file_bytes, tokbin_layout layout, tokbin **tokenizer,
                          tokbin_fault *fault)
{
    uint16_t codes[ALPHABET_BYTES];
    uint8_t built[ALPHABET_BYTES * (WORD + MAX_GLYPH_BYTES)];
    size_t built_length;
    tokbin_fault ignored;
    reader from;
    tokbin *made;
    tokbin_status status;
    from.file = (const uint8_t *)file;
    from.size = file_bytes;
    from.at = 0;
    from.fault = fault != NULL ? fault : &ignored;
    plain(from.fault, TOKBIN_OK);
    if (tokenizer == NULL || (file == NULL && file_bytes != 0)
        || (layout != TOKBIN_DOCUMENTED && layout != TOKBIN_LOADER)) {
        return plain(from.fault, TOKBIN_BAD_ARGUMENT);
    }
    *tokenizer = NULL;
    made = (tokbin *)calloc(1, sizeof *made);
    if (made == NULL) {
        return plain(from.fault, TOKBIN_OUT_OF_MEMORY);
    }
    built_length = build_alphabet(layout, codes, built);
    status = read_file(made, &from, layout, built, built_length);
    if (status == TOKBIN_OK) {
        status = make_strings(made, &from);
    }
    if (status == TOKBIN_OK) {
        status = make_merges(made, &from);
    }
    if (status != TOKBIN_OK) {
        tokbin_close(made);
        return status;
    }
    find_bytes(made, codes);
    *tokenizer = made;
    return TOKBIN_OK;
}

void tokbin_close(tokbin *tokenizer)
{
    if (tokenizer != NULL) {
        free_table(&tokenizer->strings);
        free_table(&tokenizer->merges);
        free(tokenizer->outs);
        free(tokenizer->special_ids);
        free(tokenizer->texts);
        free(tokenizer);
    }
}

uint32_t tokbin_vocab_size(const tokbin *tokenizer)
{
    return tokenizer->vocab_size;
}

uint32_t tokbin_find(const tokbin *tokenizer, const char *text, size_t length)
{
    return find(&tokenizer->strings, (const uint8_t *)text, length);
}

/* ---- Pieces of text ---------------------------------------------------------------------------- */

static int is_letter(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

static int is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static int is_sign(uint8_t byte)
{
    return byte > ' ' && byte < 0x7F && !is_letter(byte) && !is_digit(byte);
}

static int is_white(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static uint8_t lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte | 0x20) : byte;
}

static size_t run(const uint8_t *text, size_t length, size_t at, int (*is_kind)(uint8_t))
{
    while (at < length && is_kind(text[at])) {
        at++;
    }
    return at;
}

/* The length of the contraction that begins a text, or 0. */
static size_t contraction(const uint8_t *text, size_t length)
{
    static const char *const endings[] = {"s", "t", "m", "d", "re", "ve", "ll"};
    size_t which, at;
    if (text[0] != '\'') {
        return 0;
    }
    for (which = 0; which < sizeof endings / sizeof *endings; which++) {
        const char *ending = endings[which];
        for (at = 1; ending[at - 1] != '\0' && at < length && lower(text[at]) == (uint8_t)ending[at - 1];
             at++) {
        }
        if (ending[at - 1] == '\0') {
            return at;
        }
    }
    return 0;
}

/* The length of the piece that begins a text of at least one byte: the first of the kinds that fits. */
static size_t piece_length(const uint8_t *text, size_t length)
{
    const uint8_t first = text[0];
    const size_t begin = first == ' '; /* a word may have a blank before it */
    size_t size = contraction(text, length);
    if (size != 0) {
        return size;
    }
    if (begin < length && is_letter(text[begin])) {
        return run(text, length, begin, is_letter);
    }
    if (is_digit(first)) {
        return 1;
    }
    if (is_sign(first)) {
        return run(text, length, 0, is_sign);
    }
    if (is_white(first)) {
        return run(text, length, 0, is_white);
    }
    size = first < 0xC0 || first > 0xF7 ? 1
           : first < 0xE0               ? 2
           : first < 0xF0               ? 3
                                        : 4; /* by its first byte alone */
    return size < length ? size : length;
}

/* ---- Merges ------------------------------------------------------------------------------------ */

/* A piece while it is merged: a list of tokens, and a heap of the pairs that merge. Tokens are known by the
 * place of their first byte among the piece's bytes. */
typedef struct work {
    size_t capacity;
    uint64_t
        *heap; /* rank << 32 | place of the left token: the lowest rank first, of equal ones the leftmost */
    uint32_t *ids;
    uint32_t *next;
    uint32_t *previous;
    uint32_t
        *ranks; /* of a token's pair with its next; NONE where that does not merge, and of what was merged */
    size_t n_heap;
} work;

/* Makes room for a piece: of the heap two for each token, as a merge takes one pair out and puts two in. */
static int reserve(work *on, size_t n_tokens)
{
    const size_t size = 2 * sizeof *on->heap + 4 * sizeof *on->ids;
    size_t capacity = on->capacity < 64 ? 64 : on->capacity;
    if (n_tokens <= on->capacity) {
        return 1;
    }
    while (capacity < n_tokens) {
        capacity = capacity > SIZE_MAX / 2 ? n_tokens : capacity * 2;
    }
    free(on->heap);
    on->capacity = 0;
    on->heap = (uint64_t *)room(capacity, size);
    if (on->heap == NULL) {
        return 0;
    }
    on->capacity = capacity;
    on->ids = (uint32_t *)(on->heap + 2 * capacity);
    on->next = on->ids + capacity;
    on->previous = on->next + capacity;
    on->ranks = on->previous + capacity;
    return 1;
}

static void push(work *on, uint64_t pair)
{
    size_t at = on->n_heap++;
    while (at > 0 && on->heap[(at - 1) / 2] > pair) {
        on->heap[at] = on->heap[(at - 1) / 2];
        at = (at - 1) / 2;
        STEP();
    }
    on->heap[at] = pair;
}

static uint64_t pop(work *on)
{
    const uint64_t top = on->heap[0], moved = on->heap[--on->n_heap];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < on->n_heap) {
        STEP();
        if (child + 1 < on->n_heap && on->heap[child + 1] < on->heap[child]) {
            child++;
        }
        if (on->heap[child] >= moved) {
            break;
        }
        on->heap[at] = on->heap[child];
        at = child;
    }
    on->heap[at] = moved;
    return top;
}

/* Looks up how a token and its next merge. */
static void pair_up(const tokbin *tokenizer, work *on, uint32_t at)
{
    uint8_t pair[PAIR];
    on->ranks[at] = NONE;
    if (on->next[at] == NONE) {
        return;
    }
    put_u32(pair, on->ids[at]);
    put_u32(pair + WORD, on->ids[on->next[at]]);
    on->ranks[at] = find(&tokenizer->merges, pair, PAIR);
    if (on->ranks[at] != NONE) {
        push(on, (uint64_t)on->ranks[at] << 32 | at);
    }
}

/* Merges the tokens in the list until none merge any more. */
static void merge(const tokbin *tokenizer, work *on)
{
    while (on->n_heap > 0) {
        const uint64_t top = pop(on);
        const uint32_t at = (uint32_t)top, rank = (uint32_t)(top >> 32);
        uint32_t right;
        STEP();
        if (on->ranks[at] != rank) {
            continue; /* one of the two has merged otherwise */
        }
        right = on->next[at];
        on->ids[at] = tokenizer->outs[rank];
        on->next[at] = on->next[right];
        on->ranks[right] = NONE;
        if (on->next[at] != NONE) {
            on->previous[on->next[at]] = at;
        }
        pair_up(tokenizer, on, at);
        if (on->previous[at] != NONE) {
            pair_up(tokenizer, on, on->previous[at]);
        }
    }
}

/* ---- Encoding ---------------------------------------------------------------------------------- */

typedef struct output {
    uint32_t *ids;
    size_t capacity;
    size_t n_ids;
} output;

static void put(output *to, uint32_t id)
{
    if (to->n_ids < to->capacity) {
        to->ids[to->n_ids] = id;
    }
    to->n_ids++;
}

static void encode_piece(const tokbin *tokenizer, work *on, const uint8_t *piece, size_t length, output *to)
{
    uint32_t n_tokens = 0, place;
    size_t at;
    for (at = 0; at < length; at++) {
        const uint32_t id = tokenizer->byte_ids[piece[at]];
        if (id != NONE) {
            on->ids[n_tokens] = id;
            on->previous[n_tokens] = n_tokens == 0 ? NONE : n_tokens - 1;
            on->next[n_tokens] = n_tokens + 1;
            n_tokens++;
        }
    }
    if (n_tokens == 0) {
        return;
    }
    on->next[n_tokens - 1] = NONE;
    on->n_heap = 0;
    for (place = 0; place < n_tokens; place++) {
        pair_up(tokenizer, on, place);
    }
    merge(tokenizer, on);
    for (place = 0; place != NONE; place = on->next[place]) {
        put(to, on->ids[place]);
    }
}

tokbin_status tokbin_encode(const tokbin *tokenizer, const uint8_t *text, size_t text_bytes, uint32_t bos_id,
                            uint32_t *ids, size_t capacity, size_t *n_ids)
{
    work on = {0, NULL, NULL, NULL, NULL, NULL, 0};
    output to;
    size_t at = 0;
    if (tokenizer == NULL || n_ids == NULL || (text == NULL && text_bytes != 0)
        || (ids == NULL && capacity != 0)) {
        return TOKBIN_BAD_ARGUMENT;
    }
    if (text_bytes > TOKBIN_MAX_TEXT_BYTES) {
        return TOKBIN_TEXT_TOO_LONG;
    }
    if (bos_id != NONE && bos_id >= tokenizer->vocab_size) {
        return TOKBIN_UNKNOWN_ID;
    }
    to.ids = ids;
    to.capacity = capacity;
    to.n_ids = 0;
    if (bos_id != NONE) {
        put(&to, bos_id);
    }
    while (at < text_bytes) {
        const size_t length = piece_length(text + at, text_bytes - at);
        if (!reserve(&on, length)) {
            return TOKBIN_OUT_OF_MEMORY;
        }
        encode_piece(tokenizer, &on, text + at, length, &to);
        at += length;
    }
    free(on.heap);
    *n_ids = to.n_ids;
    return to.n_ids > capacity ? TOKBIN_OUTPUT_TOO_SMALL : TOKBIN_OK;
}

/* ---- Decoding ---------------------------------------------------------------------------------- */

typedef struct text_output {
    uint8_t *text;
    size_t capacity;
    size_t n_bytes;
} text_output;

static void put_bytes(text_output *to, const uint8_t *bytes, size_t length)
{
    const size_t left = to->n_bytes < to->capacity ? to->capacity - to->n_bytes : 0;
    const size_t written = length < left ? length : left;
    if (written != 0) {
        memcpy(to->text + to->n_bytes, bytes, written);
    }
    to->n_bytes += length;
}

static int is_special(const tokbin *tokenizer, uint32_t id)
{
    uint32_t low = 0, high = tokenizer->n_special;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (tokenizer->special_ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < tokenizer->n_special && tokenizer->special_ids[low] == id;
}

/* Writes what a token stands for: of byte-level text each glyph's byte, and a character that is no glyph as
 * it is. */
static void put_token(const tokbin *tokenizer, uint32_t id, text_output *to)
{
    const uint8_t *text = tokenizer->texts[id];
    const size_t length = length_of(text);
    size_t at = 0;
    if (is_special(tokenizer, id)) {
        put_bytes(to, text, length);
        return;
    }
    while (at < length) {
        const size_t size = utf8_character(text + at, length - at);
        uint32_t code = size == 1 ? text[at] : GLYPH_CODES;
        if (size == 2) {
            code = (text[at] & 0x1Fu) << 6 | (text[at + 1] & 0x3Fu);
        }
        if (code < GLYPH_CODES && tokenizer->byte_of[code] != NO_BYTE) {
            const uint8_t byte = (uint8_t)tokenizer->byte_of[code];
            put_bytes(to, &byte, 1);
        } else {
            put_bytes(to, text + at, size);
        }
        at += size;
    }
}

tokbin_status tokbin_decode(const tokbin *tokenizer, const uint32_t *ids, size_t n_ids, uint8_t *text,
                            size_t capacity, size_t *n_bytes, size_t *n_read)
{
    text_output to;
    size_t at;
    if (tokenizer == NULL || n_bytes == NULL || n_read == NULL || (ids == NULL && n_ids != 0)
        || (text == NULL && capacity != 0)) {
        return TOKBIN_BAD_ARGUMENT;
    }
    to.text = text;
    to.capacity = capacity;
    to.n_bytes = 0;
    for (at = 0; at < n_ids; at++) {
        *n_read = at;
        if (ids[at] >= tokenizer->vocab_size) {
            return TOKBIN_UNKNOWN_ID;
        }
        if (length_of(tokenizer->texts[ids[at]]) > SIZE_MAX - to.n_bytes) {
            return TOKBIN_OUTPUT_TOO_LONG;
        }
        put_token(tokenizer, ids[at], &to);
    }
    *n_read = n_ids;
    *n_bytes = to.n_bytes;
    return to.n_bytes > capacity ? TOKBIN_OUTPUT_TOO_SMALL : TOKBIN_OK;
}
