/* rk3588_greedy: see rk3588_greedy.h for what it does and README.md for the rule of encoding.
 *
 * In order: bytes; refusals; the file; entries by their text; the longest entry; special tokens; opening;
 * encoding; decoding.
 */
#include "rk3588_greedy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A test may count the steps of the inner loops: define this as the name of a uint64_t. */
#ifdef GREEDY_COUNT_STEPS
extern uint64_t GREEDY_COUNT_STEPS;
#define STEP() (GREEDY_COUNT_STEPS++)
#else
#define STEP() ((void)0)
#endif

#define NONE 0xFFFFFFFFu
#define COUNT_BYTES 4u  /* u32 n_entries */
#define HEADER_BYTES 6u /* u32 token_id, u16 length; then the text */
#define LENGTH_AT 4u

#define MAX_NEWLINES 8u
#define PREFIXED_BYTES 511u /* what the engine sees of a text behind a blank, the prefix included */

/* How the file spells a blank and a newline: the glyphs of the byte alphabet, U+0120 and U+010A. */
static const uint8_t space_glyph[2] = {0xC4, 0xA0};
static const uint8_t newline_glyph[2] = {0xC4, 0x8A};

/* The special tokens that the engine knows, whatever its vocabulary has. All begin with '<', and none begins
 * another: the first that fits is the longest. */
static const char *const known_specials[] = {
    "<|im_start|>",       "<|im_end|>",    "<|endoftext|>", "<|vision_start|>",
    "<|vision_end|>",     "<|image_pad|>", "<|video_pad|>", "<|object_ref_start|>",
    "<|object_ref_end|>", "<|box_start|>", "<|box_end|>",   "<|quad_start|>",
    "<|quad_end|>",       "<think>",       "</think>",
};
#define N_KNOWN_SPECIALS (sizeof known_specials / sizeof *known_specials)

typedef struct entry {
    const uint8_t *text; /* in the file, its length before it */
    uint32_t id;
    uint32_t beginning; /* position of the longest other entry that begins this one, or NONE */
} entry;

typedef struct special {
    const char *text;
    size_t length;
    uint32_t id;
} special;

struct greedy_vocabulary {
    uint32_t n_tokens;
    const uint8_t **texts; /* by id */

    uint32_t n_entries;   /* different texts, without the empty one */
    entry *entries;       /* in ascending order of their texts; of equal texts the lowest id */
    uint32_t starts[257]; /* for each first byte, the position of the first entry with it or a higher one */

    uint32_t space_id;                      /* NONE where the vocabulary lacks it */
    uint32_t newline_ids[MAX_NEWLINES + 1]; /* by the number of newlines */
    special specials[N_KNOWN_SPECIALS];     /* those that the vocabulary has */
    size_t n_specials;
};

/* ---- Bytes ------------------------------------------------------------------------------------- */

static uint32_t u16_at(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8;
}

static uint32_t u32_at(const uint8_t *bytes)
{
    return u16_at(bytes) | u16_at(bytes + 2) << 16;
}

static size_t length_of(const uint8_t *text)
{
    return u16_at(text - HEADER_BYTES + LENGTH_AT);
}

/* Room for `count` things, at least one; NULL where that is more than memory holds. */
static void *room(size_t count, size_t size)
{
    return count > SIZE_MAX / size ? NULL : malloc(count == 0 ? size : count * size);
}

/* ---- Refusals ---------------------------------------------------------------------------------- */

static greedy_status refuse(greedy_fault *fault, greedy_status status, const char *part, uint32_t row,
                            const char *field, size_t offset, size_t expected, size_t found)
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

static greedy_status plain(greedy_fault *fault, greedy_status status)
{
    return refuse(fault, status, NULL, GREEDY_NO_ROW, NULL, 0, 0, 0);
}

/* "part[row].field at offset ...: expected "; its length. */
static size_t describe_place(const greedy_fault *fault, char *message, size_t size)
{
    char row[16] = "";
    int written;
    if (fault->row != GREEDY_NO_ROW) {
        snprintf(row, sizeof row, "[%" PRIu32 "]", fault->row);
    }
    written = snprintf(message, size, "%s%s%s%s%soffset 0x%" PRIX64 " (%" PRIu64 "): expected ",
                       fault->part != NULL ? fault->part : "", row, fault->field != NULL ? "." : "",
                       fault->field != NULL ? fault->field : "", fault->part != NULL ? " at " : "",
                       fault->offset, fault->offset);
    return written < 0 ? 0 : (size_t)written < size ? (size_t)written : size - 1;
}

void greedy_describe(const greedy_fault *fault, char message[GREEDY_MESSAGE_BYTES])
{
    const uint64_t expected = fault->expected, found = fault->found;
    size_t size = GREEDY_MESSAGE_BYTES;
    if (fault->status >= GREEDY_NO_COUNT) {
        const size_t written = describe_place(fault, message, size);
        message += written;
        size -= written;
    }
    switch (fault->status) {
    case GREEDY_OK:
        snprintf(message, size, "no fault");
        break;
    case GREEDY_BAD_ARGUMENT:
        snprintf(message, size, "a null pointer, or flags that mean nothing");
        break;
    case GREEDY_OUT_OF_MEMORY:
        snprintf(message, size, "out of memory");
        break;
    case GREEDY_OUTPUT_TOO_SMALL:
        snprintf(message, size, "the output needs more room");
        break;
    case GREEDY_OUTPUT_TOO_LONG:
        snprintf(message, size, "the output is longer than memory");
        break;
    case GREEDY_UNKNOWN_ID:
        snprintf(message, size, "an id that no entry has");
        break;
    case GREEDY_NO_COUNT:
        snprintf(message, size, "%" PRIu64 " bytes, found %" PRIu64 " bytes before the end", expected, found);
        break;
    case GREEDY_TOO_MANY_ENTRIES:
        snprintf(message, size, "at most %" PRIu64 ", found %" PRIu64, expected, found);
        break;
    case GREEDY_BAD_COUNT:
        snprintf(message, size,
                 "at most %" PRIu64 " elements of %u bytes or more in the %" PRIu64
                 " bytes left, found %" PRIu64,
                 expected / HEADER_BYTES, HEADER_BYTES, expected, found);
        break;
    case GREEDY_CUT_ENTRY:
        snprintf(message, size, "%" PRIu64 " bytes or more, found %" PRIu64 " bytes before the end", expected,
                 found);
        break;
    case GREEDY_BAD_LENGTH:
        snprintf(message, size, "at most the %" PRIu64 " bytes left, found %" PRIu64, expected, found);
        break;
    case GREEDY_BAD_ID:
        snprintf(message, size, "%" PRIu64 " (ids in order, without holes), found %" PRIu64, expected, found);
        break;
    case GREEDY_BYTES_LEFT:
        snprintf(message, size, "the end after %" PRIu64 " entries, found %" PRIu64 " bytes more", expected,
                 found);
        break;
    }
}

/* ---- The file ---------------------------------------------------------------------------------- */

/* Finds every text, as the file's length and counts allow. */
static greedy_status scan(greedy_vocabulary *vocabulary, const uint8_t *file, size_t size,
                          greedy_fault *fault)
{
    size_t at = COUNT_BYTES;
    uint32_t n_tokens, id;
    if (size < COUNT_BYTES) {
        return refuse(fault, GREEDY_NO_COUNT, "n_entries", GREEDY_NO_ROW, NULL, 0, COUNT_BYTES, size);
    }
    n_tokens = u32_at(file);
    if (n_tokens > GREEDY_MAX_ENTRIES) {
        return refuse(fault, GREEDY_TOO_MANY_ENTRIES, "n_entries", GREEDY_NO_ROW, NULL, 0, GREEDY_MAX_ENTRIES,
                      n_tokens);
    }
    if (n_tokens > (size - at) / HEADER_BYTES) {
        return refuse(fault, GREEDY_BAD_COUNT, "entries", GREEDY_NO_ROW, NULL, at, size - at, n_tokens);
    }
    vocabulary->texts = (const uint8_t **)room(n_tokens, sizeof *vocabulary->texts);
    if (vocabulary->texts == NULL) {
        return plain(fault, GREEDY_OUT_OF_MEMORY);
    }
    for (id = 0; id < n_tokens; id++) {
        size_t length;
        if (size - at < HEADER_BYTES) {
            return refuse(fault, GREEDY_CUT_ENTRY, "entries", id, NULL, at, HEADER_BYTES, size - at);
        }
        length = u16_at(file + at + LENGTH_AT);
        if (length > size - at - HEADER_BYTES) {
            return refuse(fault, GREEDY_BAD_LENGTH, "entries", id, "length", at + LENGTH_AT,
                          size - at - HEADER_BYTES, length);
        }
        vocabulary->texts[id] = file + at + HEADER_BYTES;
        at += HEADER_BYTES + length;
    }
    if (at != size) {
        return refuse(fault, GREEDY_BYTES_LEFT, NULL, GREEDY_NO_ROW, NULL, at, n_tokens, size - at);
    }
    for (id = 0; id < n_tokens; id++) {
        const uint8_t *header = vocabulary->texts[id] - HEADER_BYTES;
        if (u32_at(header) != id) {
            return refuse(fault, GREEDY_BAD_ID, "entries", id, "token_id", (size_t)(header - file), id,
                          u32_at(header));
        }
    }
    vocabulary->n_tokens = n_tokens;
    return GREEDY_OK;
}

/* ---- Entries by their text --------------------------------------------------------------------- */

static int compare(const uint8_t *a, const uint8_t *b)
{
    size_t a_length = length_of(a), b_length = length_of(b);
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int by_text_and_id(const void *left, const void *right)
{
    const entry *a = (const entry *)left, *b = (const entry *)right;
    int order = compare(a->text, b->text);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

static int begins(const uint8_t *beginning, const uint8_t *text)
{
    size_t length = length_of(beginning);
    return length <= length_of(text) && memcmp(beginning, text, length) == 0;
}

/* Puts the different texts in order; of equal ones the lowest id stays. */
static greedy_status sort(greedy_vocabulary *vocabulary, greedy_fault *fault)
{
    entry *entries = (entry *)room(vocabulary->n_tokens, sizeof *entries);
    uint32_t n_entries = 0, n_different = 0, at;
    if (entries == NULL) {
        return plain(fault, GREEDY_OUT_OF_MEMORY);
    }
    vocabulary->entries = entries;
    for (at = 0; at < vocabulary->n_tokens; at++) {
        if (length_of(vocabulary->texts[at]) != 0) { /* an empty text never matches */
            entries[n_entries].text = vocabulary->texts[at];
            entries[n_entries].id = at;
            n_entries++;
        }
    }
    qsort(entries, n_entries, sizeof *entries, by_text_and_id);
    for (at = 0; at < n_entries; at++) {
        if (n_different == 0 || compare(entries[n_different - 1].text, entries[at].text) != 0) {
            entries[n_different++] = entries[at];
        }
    }
    vocabulary->n_entries = n_different;
    return GREEDY_OK;
}

/* Finds for each entry the longest that begins it, and for each byte where its entries start. */
static void link_entries(greedy_vocabulary *vocabulary)
{
    entry *entries = vocabulary->entries;
    uint32_t at, byte = 0;
    for (at = 0; at < vocabulary->n_entries; at++) {
        /* What begins an entry is the entry before it, or begins that one. */
        uint32_t before = at == 0 ? NONE : at - 1;
        while (before != NONE && !begins(entries[before].text, entries[at].text)) {
            before = entries[before].beginning;
        }
        entries[at].beginning = before;
        while (byte <= entries[at].text[0]) {
            vocabulary->starts[byte++] = at;
        }
    }
    while (byte <= 256) {
        vocabulary->starts[byte++] = vocabulary->n_entries;
    }
}

/* ---- The longest entry ------------------------------------------------------------------------- */

typedef struct match {
    uint32_t id;
    size_t length; /* 0: none */
} match;

/* The longest entry that begins a text.
 *
 * Whatever stands between such an entry and the text in the order of texts begins with that entry, too. So
 * it is the last entry that is not after the text, or else one that begins that last one. */
static match longest(const greedy_vocabulary *vocabulary, const uint8_t *text, size_t length)
{
    match found = {NONE, 0};
    size_t low_common = 0, high_common = 0; /* what the text has in common with the entries at both ends */
    uint32_t first, low, high;
    if (length == 0) {
        return found;
    }
    first = low = vocabulary->starts[text[0]];
    high = vocabulary->starts[text[0] + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *other = vocabulary->entries[middle].text;
        size_t other_length = length_of(other);
        size_t most = other_length < length ? other_length : length;
        size_t common = low_common < high_common ? low_common : high_common;
        STEP();
        while (common < most && other[common] == text[common]) {
            common++;
            STEP();
        }
        if (common == other_length || (common < length && other[common] < text[common])) {
            low = middle + 1;
            low_common = common;
        } else {
            high = middle;
            high_common = common;
        }
    }
    if (low != first) {
        uint32_t at = low - 1;
        while (at != NONE && length_of(vocabulary->entries[at].text) > low_common) {
            at = vocabulary->entries[at].beginning;
            STEP();
        }
        if (at != NONE) {
            found.id = vocabulary->entries[at].id;
            found.length = length_of(vocabulary->entries[at].text);
        }
    }
    return found;
}

/* The lowest id of exactly this text, or NONE. */
static uint32_t id_of(const greedy_vocabulary *vocabulary, const uint8_t *text, size_t length)
{
    match found = longest(vocabulary, text, length);
    return found.length == length ? found.id : NONE;
}

/* ---- Special tokens ---------------------------------------------------------------------------- */

static void find_known_texts(greedy_vocabulary *vocabulary)
{
    uint8_t newlines[MAX_NEWLINES * sizeof newline_glyph];
    size_t at;
    vocabulary->space_id = id_of(vocabulary, space_glyph, sizeof space_glyph);
    for (at = 1; at <= MAX_NEWLINES; at++) {
        memcpy(newlines + (at - 1) * sizeof newline_glyph, newline_glyph, sizeof newline_glyph);
        vocabulary->newline_ids[at] = id_of(vocabulary, newlines, at * sizeof newline_glyph);
    }
    for (at = 0; at < N_KNOWN_SPECIALS; at++) {
        special known;
        known.text = known_specials[at];
        known.length = strlen(known.text);
        known.id = id_of(vocabulary, (const uint8_t *)known.text, known.length);
        if (known.id != NONE) {
            vocabulary->specials[vocabulary->n_specials++] = known;
        }
    }
}

/* The first special token at or behind `at`; its place, or the text's length where there is none. */
static size_t next_special(const greedy_vocabulary *vocabulary, const uint8_t *text, size_t length, size_t at,
                           match *found)
{
    while (at < length) {
        const uint8_t *start = (const uint8_t *)memchr(text + at, '<', length - at);
        size_t which;
        if (start == NULL) {
            return length;
        }
        at = (size_t)(start - text);
        for (which = 0; which < vocabulary->n_specials; which++) {
            const special *known = vocabulary->specials + which;
            STEP();
            if (known->length <= length - at && memcmp(start, known->text, known->length) == 0) {
                found->id = known->id;
                found->length = known->length;
                return at;
            }
        }
        at++;
    }
    return length;
}

/* ---- Opening ----------------------------------------------------------------------------------- */

greedy_status greedy_open(const void *file, size_t file_bytes, greedy_vocabulary **vocabulary,
                          greedy_fault *fault)
{
    greedy_fault ignored;
    greedy_vocabulary *made;
    greedy_status status;
    if (fault == NULL) {
        fault = &ignored;
    }
    plain(fault, GREEDY_OK);
    if (vocabulary == NULL || (file == NULL && file_bytes != 0)) {
        return plain(fault, GREEDY_BAD_ARGUMENT);
    }
    *vocabulary = NULL;
    made = (greedy_vocabulary *)calloc(1, sizeof *made);
    if (made == NULL) {
        return plain(fault, GREEDY_OUT_OF_MEMORY);
    }
    status = scan(made, (const uint8_t *)file, file_bytes, fault);
    if (status == GREEDY_OK) {
        status = sort(made, fault);
    }
    if (status != GREEDY_OK) {
        greedy_close(made);
        return status;
    }
    link_entries(made);
    find_known_texts(made);
    *vocabulary = made;
    return GREEDY_OK;
}

void greedy_close(greedy_vocabulary *vocabulary)
{
    if (vocabulary != NULL) {
        free(vocabulary->texts);
        free(vocabulary->entries);
        free(vocabulary);
    }
}

uint32_t greedy_n_tokens(const greedy_vocabulary *vocabulary)
{
    return vocabulary->n_tokens;
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

/* The longest entry that begins with a blank and goes on as the text does. */
static match longest_behind_blank(const greedy_vocabulary *vocabulary, const uint8_t *text, size_t length)
{
    uint8_t prefixed[PREFIXED_BYTES];
    const size_t most = PREFIXED_BYTES - sizeof space_glyph;
    if (length > most) {
        length = most;
    }
    memcpy(prefixed, space_glyph, sizeof space_glyph);
    memcpy(prefixed + sizeof space_glyph, text, length);
    return longest(vocabulary, prefixed, sizeof space_glyph + length);
}

/* The token of the newlines that begin a text, as many at once as there is a token for; its length in
 * newlines. */
static match longest_newlines(const greedy_vocabulary *vocabulary, const uint8_t *text, size_t length,
                              size_t most)
{
    match found = {NONE, 0};
    size_t count = 0;
    while (count < most && count < length && text[count] == '\n') {
        count++;
        if (vocabulary->newline_ids[count] != NONE) {
            found.id = vocabulary->newline_ids[count];
            found.length = count;
        }
    }
    return found;
}

greedy_status greedy_encode(const greedy_vocabulary *vocabulary, const uint8_t *text, size_t text_bytes,
                            uint32_t flags, uint32_t *ids, size_t capacity, size_t *n_ids)
{
    const uint32_t all = GREEDY_SPACE_AT_START | GREEDY_LONE_SPACE | GREEDY_SPECIALS | GREEDY_NEWLINE_RUNS;
    output to;
    size_t at = 0, special_at = text_bytes;
    match special_token = {NONE, 0}, found;
    int behind_blank = 0;
    if (vocabulary == NULL || n_ids == NULL || (flags & ~all) != 0 || (text == NULL && text_bytes != 0)
        || (ids == NULL && capacity != 0)) {
        return GREEDY_BAD_ARGUMENT;
    }
    to.ids = ids;
    to.capacity = capacity;
    to.n_ids = 0;
    if ((flags & GREEDY_SPECIALS) != 0) {
        special_at = next_special(vocabulary, text, text_bytes, 0, &special_token);
    }
    while (at < text_bytes) {
        if (text[at] == ' ') {
            behind_blank = 1;
            at++;
            continue;
        }
        if (at == special_at) { /* a blank before it is lost, as one at the end */
            put(&to, special_token.id);
            at += special_token.length;
            special_at = next_special(vocabulary, text, text_bytes, at, &special_token);
            behind_blank = 0;
            continue;
        }
        if (behind_blank && (to.n_ids > 0 || (flags & GREEDY_SPACE_AT_START) != 0)) {
            found = longest_behind_blank(vocabulary, text + at, special_at - at);
            if (found.length > sizeof space_glyph) {
                put(&to, found.id);
                at += found.length - sizeof space_glyph;
                behind_blank = 0;
                continue;
            }
            if ((flags & GREEDY_LONE_SPACE) != 0 && vocabulary->space_id != NONE) {
                put(&to, vocabulary->space_id);
            }
        }
        behind_blank = 0;
        found = longest(vocabulary, text + at, special_at - at);
        if (found.length == 0 && text[at] == '\n') {
            found = longest_newlines(vocabulary, text + at, special_at - at,
                                     (flags & GREEDY_NEWLINE_RUNS) != 0 ? MAX_NEWLINES : 1);
        }
        if (found.length == 0) { /* the engine's id for a byte that nothing matches */
            found.id = 0;
            found.length = 1;
        }
        put(&to, found.id);
        at += found.length;
    }
    *n_ids = to.n_ids;
    return to.n_ids > capacity ? GREEDY_OUTPUT_TOO_SMALL : GREEDY_OK;
}

/* ---- Decoding ---------------------------------------------------------------------------------- */

greedy_status greedy_decode(const greedy_vocabulary *vocabulary, const uint32_t *ids, size_t n_ids,
                            uint8_t *text, size_t capacity, size_t *n_bytes, size_t *n_read)
{
    size_t total = 0, at;
    if (vocabulary == NULL || n_bytes == NULL || n_read == NULL || (ids == NULL && n_ids != 0)
        || (text == NULL && capacity != 0)) {
        return GREEDY_BAD_ARGUMENT;
    }
    for (at = 0; at < n_ids; at++) {
        const size_t left = total < capacity ? capacity - total : 0;
        const uint8_t *stored;
        size_t length;
        *n_read = at;
        if (ids[at] >= vocabulary->n_tokens) {
            return GREEDY_UNKNOWN_ID;
        }
        stored = vocabulary->texts[ids[at]];
        length = length_of(stored);
        if (length > SIZE_MAX - total) {
            return GREEDY_OUTPUT_TOO_LONG;
        }
        if (left != 0) {
            memcpy(text + total, stored, length < left ? length : left);
        }
        total += length;
    }
    *n_read = n_ids;
    *n_bytes = total;
    return total > capacity ? GREEDY_OUTPUT_TOO_SMALL : GREEDY_OK;
}
