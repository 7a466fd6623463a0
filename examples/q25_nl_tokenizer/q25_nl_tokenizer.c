/* q25_nl_tokenizer: see q25_nl_tokenizer.h for what it does and README.md for how to build it in.
 *
 * In order: opening an image; tokens; looking up merges and tokens; verifying an image; UTF-8; character
 * classes and the Qwen2 rule; NFC; what encoding works with; special tokens; merging; matching; encoding;
 * detokenizing; the byte fallback.
 *
 * Opening proves nothing about the sections, so whatever is read from one is checked before it is used
 * as an index, and no loop runs on what a section says alone.
 */
#include "q25_nl_tokenizer.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Q25TOKRT images are read in place: this needs a little-endian machine"
#endif

/* The image and the scratch are bytes to the caller and words here. */
typedef q25_nl_word word;
typedef uint64_t Q25_NL_IN_IMAGE two_words;

#if defined(__GNUC__)
#define Q25_NL_INLINE __inline__ __attribute__((__always_inline__))
/* Where compilers make code fast, and where they make it small. */
#define Q25_NL_HOT __attribute__((__noinline__, __hot__))
#define Q25_NL_COLD __attribute__((__noinline__, __cold__))
/* Keeps a compiler from making a call to memcpy or memset of a loop. */
#define Q25_NL_PLAIN_LOOP() __asm__ volatile("")
#else
#define Q25_NL_INLINE
#define Q25_NL_HOT
#define Q25_NL_COLD
#define Q25_NL_PLAIN_LOOP() ((void)0)
#endif

/* A test may count the steps of all loops: define this as the name of a uint64_t. */
#ifdef Q25_NL_COUNT_STEPS
extern uint64_t Q25_NL_COUNT_STEPS;
#define Q25_NL_STEP() (Q25_NL_COUNT_STEPS++)
#else
#define Q25_NL_STEP() ((void)0)
#endif

/* CRC-32 by instructions where the compiler may use them, as for a Cortex-A53. */
#if defined(__ARM_FEATURE_CRC32) && !defined(Q25_NL_NO_CRC_INSTRUCTIONS)
#define Q25_NL_CRC_INSTRUCTIONS
#include <arm_acle.h>
#endif

#include "q25_nl_tokenizer_tables.inc"

#define NONE Q25_NL_NONE

/* ---- Opening an image -------------------------------------------------------------------------- */

#define MAX_SECTIONS 32u
#define MAX_MERGES 0x3FFFEu
#define MAX_COMPACT_MERGES 0x3FF00u
#define LEAST_SECTIONS 6u
#define BITMAP_BYTES 32u
#define PAIR_BITMAP_SHIFT 29u /* of a pair's hash, to its bit in a bitmap of one byte */
#define ID_BITS 23 /* of ids where text is encoded */
#define MAX_IDS (1u << (ID_BITS - 1)) /* the bit above tells what is kept of borders */

#define FLAG_RANK_IS_OUT_ID 1u
#define FLAG_NFC 2u
#define FLAG_SAMPLE 4u
#define PROFILE_SHIFT 8
#define PROFILE_MASK 0xFu
#define FLAG_OPTIONAL 1u /* of a section */

/* Continues a CRC-32 (that of zlib) over bytes that begin on a multiple of 4. Begin with 0. */
static Q25_NL_HOT uint32_t crc32_of(uint32_t crc, const void *bytes, size_t length)
{
    const word *words = (const word *)bytes;
    const uint8_t *rest = (const uint8_t *)bytes + (length & ~(size_t)3);
    const uint8_t *end = (const uint8_t *)bytes + length;
    crc = ~crc;
#ifdef Q25_NL_CRC_INSTRUCTIONS
    for (; length >= 4; length -= 4) {
        crc = __crc32w(crc, *words++);
    }
    for (; rest != end; rest++) {
        crc = __crc32b(crc, *rest);
    }
#else
    for (; length >= 4; length -= 4) {
        crc ^= *words++;
        crc = q25_nl_crc[768 + (crc & 0xFF)] ^ q25_nl_crc[512 + (crc >> 8 & 0xFF)]
              ^ q25_nl_crc[256 + (crc >> 16 & 0xFF)] ^ q25_nl_crc[crc >> 24];
    }
    for (; rest != end; rest++) {
        crc = crc >> 8 ^ q25_nl_crc[(crc ^ *rest) & 0xFF];
    }
#endif
    return ~crc;
}

/* Bits of a home slot: the smallest k that loads 2^k slots to at most 0.6. */
static uint32_t home_bits(uint32_t n_merges)
{
    uint32_t bits = 0;
    while (n_merges * 10u > 6u << bits) {
        bits++;
    }
    return bits;
}

/* Bits of a bucket of pairs: the smallest k, but 0, that gives each of 2^k buckets at most 5 on average. */
static uint32_t bucket_bits(uint32_t n_merges)
{
    uint32_t bits = 1;
    while (n_merges > 5u << bits) {
        bits++;
    }
    return bits;
}

/* What makes it worth looking at the rest: size, version, checksum. */
static Q25_NL_COLD q25_nl_status check_frame(const q25_nl_header *header, size_t image_bytes)
{
    const word *magic = (const word *)(const void *)header;
    size_t directory_bytes;
    if (((uintptr_t)header & (Q25_NL_IMAGE_ALIGN - 1u)) != 0) {
        return Q25_NL_IMAGE_MISALIGNED;
    }
    if (image_bytes < sizeof *header) {
        return Q25_NL_IMAGE_TOO_SMALL;
    }
    if (magic[0] != 0x54353251u || magic[1] != 0x54524B4Fu) { /* Q25T OKRT */
        return Q25_NL_BAD_MAGIC;
    }
    if (header->major != 1) {
        return Q25_NL_BAD_MAJOR_VERSION;
    }
    if (header->header_bytes != sizeof *header) {
        return Q25_NL_BAD_HEADER_BYTES;
    }
    if (header->total_bytes != image_bytes) {
        return Q25_NL_BAD_TOTAL_BYTES;
    }
    if (header->section_count < LEAST_SECTIONS || header->section_count > MAX_SECTIONS) {
        return Q25_NL_BAD_SECTION_COUNT;
    }
    directory_bytes = header->section_count * sizeof(q25_nl_section);
    if (image_bytes < sizeof *header + directory_bytes) {
        return Q25_NL_BAD_DIRECTORY_SIZE;
    }
    if (crc32_of(crc32_of(0, header, sizeof *header - 4), header + 1, directory_bytes) != header->crc32) {
        return Q25_NL_BAD_HEADER_CRC;
    }
    return Q25_NL_OK;
}

/* Printable ASCII, then at least one NUL to the end. */
static int is_pre_name(const char *name)
{
    int ended = 0;
    uint32_t at;
    for (at = 0; at < 32; at++) {
        uint32_t byte = (uint8_t)name[at];
        if (byte == 0) {
            ended = 1;
        } else if (ended || byte <= 0x20 || byte >= 0x7F) {
            return 0;
        }
    }
    return ended;
}

/* What a word of the header may be: from `least` on, `span` more, modulo 2^32. */
typedef struct bounds {
    uint8_t word;
    uint8_t status;
    uint32_t least; /* NONE: an id, or NONE itself */
    uint32_t span;  /* N_TOKENS: what the header says */
} bounds;

#define WORD(field) ((uint8_t)(offsetof(q25_nl_header, field) / 4))
#define N_TOKENS 0xFFFFFFFFu

static const bounds header_bounds[] = {
    {WORD(section_align), Q25_NL_BAD_SECTION_ALIGN, 64, 65536 - 64},
    {WORD(n_tokens), Q25_NL_BAD_N_TOKENS, 1, 0xFFFFFFFEu},
    {WORD(n_base), Q25_NL_BAD_N_BASE, 0, N_TOKENS},
    {WORD(n_merges), Q25_NL_BAD_N_MERGES, 0, MAX_MERGES},
    {WORD(max_token_bytes), Q25_NL_BAD_MAX_TOKEN_BYTES, 0, 0xFFFF},
    {WORD(max_probe), Q25_NL_BAD_MAX_PROBE, 1, 15},
    {WORD(bos_id), Q25_NL_BAD_BOS_ID, NONE, N_TOKENS},
    {WORD(eos_id), Q25_NL_BAD_EOS_ID, NONE, N_TOKENS},
    {WORD(pad_id), Q25_NL_BAD_PAD_ID, NONE, N_TOKENS},
    {WORD(n_end_ids), Q25_NL_BAD_N_END_IDS, 0, Q25_NL_MAX_END_IDS},
    {WORD(first_pad_id), Q25_NL_BAD_FIRST_PAD_ID, 0, N_TOKENS},
};

static uint32_t profile_of(const q25_nl_header *header)
{
    return header->flags >> PROFILE_SHIFT & PROFILE_MASK;
}

/* Profile compact can be left out. */
#ifdef Q25_NL_NO_COMPACT
#define LAST_PROFILE ((uint32_t)Q25_NL_PROFILE_FAST)
#define IS_COMPACT(header) 0
#define FIRST_STORED(bundle) 0u
#else
#define LAST_PROFILE ((uint32_t)Q25_NL_PROFILE_COMPACT)
#define IS_COMPACT(header) (profile_of(header) == Q25_NL_PROFILE_COMPACT)
#define FIRST_STORED(bundle) ((bundle)->first_stored)
#endif

static Q25_NL_COLD q25_nl_status check_header(const q25_nl_header *header)
{
    const word *words = (const word *)(const void *)header;
    uint32_t align = header->section_align, n_tokens = header->n_tokens;
    uint32_t at;
    if (profile_of(header) > LAST_PROFILE) {
        return Q25_NL_BAD_PROFILE;
    }
    if ((header->flags & ~(FLAG_RANK_IS_OUT_ID | FLAG_NFC | FLAG_SAMPLE | PROFILE_MASK << PROFILE_SHIFT)) != 0
        || (profile_of(header) != Q25_NL_PROFILE_STANDARD && (header->flags & FLAG_RANK_IS_OUT_ID) == 0)) {
        return Q25_NL_BAD_FLAGS;
    }
    for (at = 0; at < sizeof header_bounds / sizeof *header_bounds; at++) {
        uint32_t span = header_bounds[at].span == N_TOKENS ? n_tokens : header_bounds[at].span;
        if (words[header_bounds[at].word] - header_bounds[at].least > span) {
            return (q25_nl_status)header_bounds[at].status;
        }
    }
    if ((align & (align - 1)) != 0) {
        return Q25_NL_BAD_SECTION_ALIGN;
    }
    if ((header->total_bytes & (align - 1)) != 0) {
        return Q25_NL_BAD_TOTAL_ALIGN;
    }
    if (header->n_added > n_tokens - header->n_base) {
        return Q25_NL_BAD_N_ADDED;
    }
    if (profile_of(header) != Q25_NL_PROFILE_STANDARD && header->n_merges + 256 > header->n_base) {
        return Q25_NL_BAD_N_MERGES; /* each merge and each byte has a token of its own */
    }
    if (IS_COMPACT(header) && header->n_merges > MAX_COMPACT_MERGES) {
        return Q25_NL_BAD_N_MERGES;
    }
    if (IS_COMPACT(header) && header->max_probe != 1) {
        return Q25_NL_BAD_MAX_PROBE;
    }
    if ((header->hash_seed & 1) == 0) {
        return Q25_NL_BAD_HASH_SEED;
    }
    if (!is_pre_name(header->pre_name)) {
        return Q25_NL_BAD_PRE_NAME;
    }
    for (at = 0; at < Q25_NL_MAX_END_IDS; at++) {
        uint32_t id = header->end_ids[at];
        if (at < header->n_end_ids ? id >= n_tokens : id != NONE) {
            return Q25_NL_BAD_END_ID;
        }
    }
    for (at = 0; at < 16; at++) {
        if (header->reserved[at] != 0) {
            return Q25_NL_BAD_HEADER_RESERVED;
        }
    }
    return Q25_NL_OK;
}

/* The first merge that may be of ids of more than 16 bits, since they are lower than the one it makes. */
#define FIRST_HIGH_ROW 0xFF00u

/* The number of records of a section that only profile compact has. */
static Q25_NL_COLD uint32_t compact_count(const q25_nl_header *header, uint32_t kind)
{
    uint32_t n_merges = header->n_merges;
    switch (kind) {
    case Q25_NL_MERGE_LOW_BITS:
        return n_merges;
    case Q25_NL_MERGE_HIGH_BITS:
        return n_merges <= FIRST_HIGH_ROW ? 0 : (n_merges - FIRST_HIGH_ROW + 1) / 2;
    case Q25_NL_PAIR_MULTIPLIERS:
        return 1u << bucket_bits(n_merges);
    case Q25_NL_PAIR_ROWS:
        return n_merges + n_merges / 49 + 1;
    case Q25_NL_BYTE_VALUES:
        return 256;
    default: /* what is stored of tokens */
        return header->n_tokens - n_merges - 256;
    }
}

/* Whether the length and the number of records of a known section are what its kind asks for. */
static Q25_NL_INLINE q25_nl_status check_records(const q25_nl_header *header, const q25_nl_section *section)
{
    static const uint8_t record_bytes[Q25_NL_SECTION_KINDS] = {0, 8, 0, 16, 4, 4, 0, 4, 4, 1, 0, 0,
                                                               0, 0, 0, 0,  4, 1, 2, 3, 8, 0, 1};
    uint32_t size = record_bytes[section->kind];
    uint32_t expected = header->n_tokens; /* of the token index and the token bytes */
    if (section->record_bytes != size) {
        return Q25_NL_BAD_RECORD_BYTES;
    }
    if (section->kind == Q25_NL_MERGE_TABLE) {
        expected = header->n_merges;
    } else if (section->kind == Q25_NL_BYTE_TOKEN_MAP) {
        expected = 256;
    } else if (section->kind == Q25_NL_MERGE_PAIR_INDEX || section->kind == Q25_NL_MERGE_PAIR_BITMAP) {
        expected = 1u << home_bits(header->n_merges);
        if (section->kind == Q25_NL_MERGE_PAIR_INDEX && section->count > expected) {
            expected = section->count;
        }
    } else if (section->kind == Q25_NL_TOKEN_TRIE) {
        expected = section->count;
    } else if (section->kind == Q25_NL_TOKEN_PREFIXES) {
        expected = header->n_merges + 256;
    } else if (section->kind == Q25_NL_SPECIAL_TOKEN_INDEX) {
        expected = header->n_added;
        if (section->length != BITMAP_BYTES + (uint64_t)4 * expected) {
            return Q25_NL_BAD_RECORD_COUNT;
        }
    } else if (IS_COMPACT(header)) {
        expected = compact_count(header, section->kind);
    }
    if (section->count != expected || (size != 0 && (uint64_t)size * expected != section->length)) {
        return Q25_NL_BAD_RECORD_COUNT;
    }
    return Q25_NL_OK;
}

/* The sections that each profile has: a bit for each kind. */
static const uint32_t profile_kinds[] = {0x7Eu, 0x3FEu, 0x7F0050u};

/* Checks that the sections tile the image, and finds the known ones. */
static Q25_NL_COLD q25_nl_status check_directory(const q25_nl_header *header, q25_nl_image_info *info)
{
    const q25_nl_section *section = (const q25_nl_section *)(const void *)(header + 1);
    const q25_nl_section *behind = section + header->section_count;
    uint64_t last = header->section_align - 1; /* aligned: (n + last) & ~last */
    uint64_t end = sizeof *header + header->section_count * sizeof *section;
    uint32_t kinds = profile_kinds[profile_of(header)], missing = kinds;
    for (; section != behind; section++) {
        q25_nl_status status;
        uint32_t kind = section->kind;
        if (section->flags > FLAG_OPTIONAL) {
            return Q25_NL_BAD_ENTRY_FLAGS;
        }
        if (section->reserved != 0) {
            return Q25_NL_BAD_ENTRY_RESERVED;
        }
        end = (end + last) & ~last;
        if (section->offset != end) {
            return Q25_NL_BAD_SECTION_OFFSET;
        }
        end += section->length;
        if (end > header->total_bytes) {
            return Q25_NL_BAD_SECTION_LENGTH;
        }
        if (kind >= Q25_NL_SECTION_KINDS || (kinds >> kind & 1) == 0) {
            if (section->flags != FLAG_OPTIONAL) {
                return Q25_NL_UNKNOWN_SECTION;
            }
            continue;
        }
        if ((missing >> kind & 1) == 0) {
            return Q25_NL_REPEATED_SECTION;
        }
        missing -= 1u << kind;
        status = check_records(header, section);
        if (status != Q25_NL_OK) {
            return status;
        }
        info->sections[kind] = section;
    }
    if (missing != 0) {
        return Q25_NL_MISSING_SECTION;
    }
    return ((end + last) & ~last) != header->total_bytes ? Q25_NL_BAD_IMAGE_END : Q25_NL_OK;
}

/* Where a section begins; NULL where the image has none of this kind. */
static Q25_NL_COLD const void *section_start(const q25_nl_image_info *info, uint32_t kind)
{
    const q25_nl_section *section = info->sections[kind];
    return section != NULL ? (const uint8_t *)info->header + section->offset : NULL;
}

static Q25_NL_COLD void view_bundle(const q25_nl_image_info *info, q25_nl_bundle_view *bundle)
{
    uint32_t index = Q25_NL_TOKEN_INDEX, bytes = Q25_NL_TOKEN_BYTES;
    bundle->header = info->header;
    bundle->first_stored = 0;
    bundle->merge_low_bits = NULL;
    bundle->merge_high_bits = bundle->byte_values = NULL;
    if (IS_COMPACT(info->header)) {
        index = Q25_NL_STORED_TOKEN_INDEX;
        bytes = Q25_NL_STORED_TOKEN_BYTES;
        bundle->first_stored = info->header->n_merges + 256;
        bundle->merge_low_bits = (const word *)section_start(info, Q25_NL_MERGE_LOW_BITS);
        bundle->merge_high_bits = (const uint8_t *)section_start(info, Q25_NL_MERGE_HIGH_BITS);
        bundle->byte_values = (const uint8_t *)section_start(info, Q25_NL_BYTE_VALUES);
    }
    bundle->token_index = (const word *)section_start(info, index);
    bundle->token_bytes = (const uint8_t *)section_start(info, bytes);
    bundle->token_bytes_length = info->sections[bytes]->length;
    bundle->n_tokens = info->header->n_tokens;
    bundle->first_pad_id = info->header->first_pad_id;
}

/* Whether encoding with this image gives the reference's ids. */
static q25_nl_status readiness(const q25_nl_header *header)
{
    static const char rules[] = "qwen2\0deepseek-r1-qwen\0";
    const char *rule = rules;
    while (*rule != 0) {
        uint32_t at = 0;
        while (rule[at] != 0 && rule[at] == header->pre_name[at]) {
            at++;
        }
        if (rule[at] == header->pre_name[at]) {
            if (header->n_tokens >= MAX_IDS) {
                return Q25_NL_TOO_MANY_TOKENS;
            }
            return header->class_tables == Q25_NL_CLASS_TABLES_VERSION
                           && header->nfc_tables == Q25_NL_NFC_TABLES_VERSION
                       ? Q25_NL_OK
                       : Q25_NL_OTHER_UNICODE_TABLES;
        }
        while (*rule++ != 0) {
        }
    }
    return Q25_NL_UNKNOWN_PRETOKENIZER;
}

static Q25_NL_COLD void view_encode(const q25_nl_image_info *info, q25_nl_encode_view *encode)
{
    const q25_nl_header *header = info->header;
    uint32_t slots = Q25_NL_MERGE_PAIR_INDEX;
    encode->merge_table = (const word *)section_start(info, Q25_NL_MERGE_TABLE);
    encode->byte_tokens = (const word *)section_start(info, Q25_NL_BYTE_TOKEN_MAP);
    encode->pair_slots = (const word *)section_start(info, Q25_NL_MERGE_PAIR_INDEX);
    encode->pair_multipliers = NULL;
    encode->pair_rows = NULL;
    encode->bucket_shift = 0;
    if (IS_COMPACT(header)) {
        slots = Q25_NL_PAIR_ROWS;
        encode->pair_multipliers = (const q25_nl_half_word *)section_start(info, Q25_NL_PAIR_MULTIPLIERS);
        encode->pair_rows = (const uint8_t *)section_start(info, slots);
        encode->bucket_shift = 64 - bucket_bits(header->n_merges);
    }
    encode->special_first_bytes = (const uint8_t *)section_start(info, Q25_NL_SPECIAL_TOKEN_INDEX);
    encode->special_ids = (const word *)(const void *)(encode->special_first_bytes + BITMAP_BYTES);
    encode->trie = encode->prefixes = NULL;
    encode->pair_bitmap = NULL;
    encode->n_trie_slots = encode->bitmap_shift = 0;
#ifndef Q25_NL_NO_FAST
    if (profile_of(header) == Q25_NL_PROFILE_FAST) {
        encode->trie = (const word *)section_start(info, Q25_NL_TOKEN_TRIE);
        encode->prefixes = (const word *)section_start(info, Q25_NL_TOKEN_PREFIXES);
        encode->pair_bitmap = (const uint8_t *)section_start(info, Q25_NL_MERGE_PAIR_BITMAP);
        encode->n_trie_slots = info->sections[Q25_NL_TOKEN_TRIE]->count;
        encode->bitmap_shift = PAIR_BITMAP_SHIFT - home_bits(header->n_merges);
    }
#endif
    encode->hash_seed = header->hash_seed;
    encode->n_merges = header->n_merges;
    encode->n_pair_slots = info->sections[slots]->count;
    encode->home_mask = (1u << home_bits(header->n_merges)) - 1;
    encode->max_probe = header->max_probe;
    encode->n_specials = header->n_added;
    encode->flags = header->flags;
    encode->readiness = readiness(header);
}

Q25_NL_COLD
q25_nl_status q25_nl_tokenizer_runtime_image_open(const void *image, size_t image_bytes,
                                                  q25_nl_bundle_view *bundle,
                                                  q25_nl_encode_view *encode, q25_nl_image_info *info)
{
    q25_nl_image_info opened;
    q25_nl_status status;
    uint32_t kind;
    if (image == NULL) {
        return Q25_NL_BAD_ARGUMENT;
    }
    opened.header = (const q25_nl_header *)image;
    for (kind = 0; kind < Q25_NL_SECTION_KINDS; kind++) {
        opened.sections[kind] = NULL;
        Q25_NL_PLAIN_LOOP();
    }
    status = check_frame(opened.header, image_bytes);
    if (status == Q25_NL_OK) {
        status = check_header(opened.header);
    }
    if (status == Q25_NL_OK) {
        status = check_directory(opened.header, &opened);
    }
    if (status != Q25_NL_OK) {
        return status;
    }
    if (bundle != NULL) {
        view_bundle(&opened, bundle);
    }
    if (encode != NULL) {
        view_encode(&opened, encode);
    }
    if (info != NULL) {
        info->header = opened.header;
        for (kind = 0; kind < Q25_NL_SECTION_KINDS; kind++) {
            info->sections[kind] = opened.sections[kind];
            Q25_NL_PLAIN_LOOP();
        }
    }
    return Q25_NL_OK;
}

/* ---- Tokens ------------------------------------------------------------------------------------ */

/* Token types, as GGUF numbers them. */
enum { TYPE_NORMAL = 1, TYPE_UNKNOWN = 2, TYPE_CONTROL = 3, TYPE_USER_DEFINED = 4, TYPE_LAST = 6 };

/* Whether the bytes of an id below n_tokens are not stored. */
static int is_made(const q25_nl_bundle_view *bundle, uint32_t id)
{
#ifdef Q25_NL_NO_COMPACT
    (void)bundle;
    (void)id;
    return 0;
#else
    return id < bundle->first_stored;
#endif
}

/* Of an id below n_tokens whose bytes are stored. */
static const word *token_record(const q25_nl_bundle_view *bundle, uint32_t id)
{
    return bundle->token_index + 2 * (size_t)(id - FIRST_STORED(bundle));
}

static uint32_t token_length(const q25_nl_bundle_view *bundle, uint32_t id)
{
    return token_record(bundle, id)[1] & 0xFFFFu;
}

/* Of an id below n_tokens. */
static uint32_t token_type(const q25_nl_bundle_view *bundle, uint32_t id)
{
    return is_made(bundle, id) ? (uint32_t)TYPE_NORMAL : token_record(bundle, id)[1] >> 16;
}

/* The bytes of an id below n_tokens, or NULL where it has none of its own, or its record points beyond the
 * token bytes. */
static Q25_NL_HOT const uint8_t *token_text(const q25_nl_bundle_view *bundle, uint32_t id)
{
    uint32_t start, end;
    if (is_made(bundle, id)) {
        return NULL;
    }
    start = token_record(bundle, id)[0];
    end = start + token_length(bundle, id);
    return start <= end && end <= bundle->token_bytes_length ? bundle->token_bytes + start : NULL;
}

#ifndef Q25_NL_NO_COMPACT

#define ID_HIGH_BITS 0x30000u

/* The two tokens of a merge that an image of profile compact has. */
static Q25_NL_INLINE void parts_of(const q25_nl_bundle_view *bundle, uint32_t row, uint32_t *left,
                                   uint32_t *right)
{
    uint32_t low = bundle->merge_low_bits[row], high = 0;
    if (row >= FIRST_HIGH_ROW) {
        high = (uint32_t)bundle->merge_high_bits[(row - FIRST_HIGH_ROW) >> 1] >> (row & 1) * 4;
    }
    *left = (low & 0xFFFFu) | (high << 16 & ID_HIGH_BITS);
    *right = low >> 16 | (high << 14 & ID_HIGH_BITS);
}

#endif

/* Gives the bytes of a token one after the other. What merges make is taken apart, the left part first: the
 * right ones wait. */
#define MAX_PENDING 32u

typedef struct token_reader {
    const uint8_t *stored; /* NULL: taken apart */
    uint32_t left;         /* bytes still to come, at the most where it is taken apart */
#ifndef Q25_NL_NO_COMPACT
    uint32_t n_pending;
    uint32_t pending[MAX_PENDING];
#endif
} token_reader;

/* In place of a byte. */
#define ENDED 256u
#define DAMAGED 257u

#ifndef Q25_NL_NO_COMPACT

static Q25_NL_HOT uint32_t next_made_byte(const q25_nl_bundle_view *bundle, token_reader *reader)
{
    uint32_t id, n_pending = reader->n_pending;
    if (n_pending == 0) {
        return ENDED;
    }
    if (reader->left == 0) {
        return DAMAGED;
    }
    id = reader->pending[--n_pending];
    while (id >= 256) {
        if (id >= bundle->first_stored || n_pending == MAX_PENDING) {
            return DAMAGED;
        }
        parts_of(bundle, id - 256, &id, &reader->pending[n_pending++]);
        Q25_NL_STEP();
    }
    reader->n_pending = n_pending;
    reader->left--;
    return bundle->byte_values[id];
}

#endif

static Q25_NL_INLINE uint32_t next_byte(const q25_nl_bundle_view *bundle, token_reader *reader)
{
#ifndef Q25_NL_NO_COMPACT
    if (reader->stored == NULL) {
        return next_made_byte(bundle, reader);
    }
#endif
    (void)bundle;
    if (reader->left == 0) {
        return ENDED;
    }
    reader->left--;
    return *reader->stored++;
}

/* Begins with an id below n_tokens; gives 0 where its record points beyond the token bytes. */
static int read_token(const q25_nl_bundle_view *bundle, uint32_t id, token_reader *reader)
{
#ifndef Q25_NL_NO_COMPACT
    if (is_made(bundle, id)) {
        reader->stored = NULL;
        reader->left = bundle->header->max_token_bytes;
        reader->n_pending = 1;
        reader->pending[0] = id;
        return 1;
    }
#endif
    reader->stored = token_text(bundle, id);
    reader->left = token_length(bundle, id);
    return reader->stored != NULL;
}

/* ---- Looking up merges and tokens -------------------------------------------------------------- */

#define ROW_BITS 18
#define ROW_MASK 0x3FFFFu /* of a slot of the merge-pair index: row + 1 */

/* The low bits of a pair's hash are its home slot, those from ROW_BITS up its fingerprint. */
static uint32_t pair_hash(uint64_t seed, uint32_t left, uint32_t right)
{
    uint64_t mixed = ((uint64_t)left << 32 | right) * seed;
    mixed ^= mixed >> 32;
    mixed *= 0xD6E8FEB86659FD93u;
    return (uint32_t)(mixed >> 32);
}

#define NO_ROW 0x3FFFFu

static int is_merge_of(const q25_nl_encode_view *encode, uint32_t row, uint32_t left, uint32_t right)
{
    const word *merge = encode->merge_table + (size_t)4 * (row < encode->n_merges ? row : 0);
    return row < encode->n_merges && merge[0] == left && merge[1] == right;
}

/* The row of the merge of two tokens in the merge table, which is its rank; NO_ROW where there is none. */
static Q25_NL_INLINE uint32_t look_up_merge(const q25_nl_encode_view *encode, uint32_t left, uint32_t right)
{
    uint32_t hash = pair_hash(encode->hash_seed, left, right);
    uint32_t home = hash & encode->home_mask;
    uint32_t n_slots = encode->n_pair_slots - home;
    const word *slot = encode->pair_slots + home;
    const word *end = slot + (encode->max_probe < n_slots ? encode->max_probe : n_slots);
    for (; slot != end && *slot != 0; slot++) {
        uint32_t row = (*slot & ROW_MASK) - 1;
        Q25_NL_STEP();
        if ((*slot ^ hash) >> ROW_BITS == 0 && is_merge_of(encode, row, left, right)) {
            return row;
        }
    }
    return NO_ROW;
}

#ifndef Q25_NL_NO_COMPACT

#define PAIR_ROW_BYTES 3u
#define CHECK_BITS 6

/* The slot that is of a pair in an image of profile compact: of no other that is merged. Sets the check that
 * it has then; whatever it says, the row has to be compared. */
static Q25_NL_INLINE const uint8_t *pair_row(const q25_nl_encode_view *encode, uint32_t left, uint32_t right,
                                             uint32_t *check)
{
    uint64_t hash = ((uint64_t)(left | 1u << ROW_BITS) << ROW_BITS | right) * encode->hash_seed;
    uint32_t mixed = (uint32_t)(hash >> 32) ^ (uint32_t)hash;
    uint32_t place = mixed * encode->pair_multipliers[hash >> encode->bucket_shift];
    *check = (uint32_t)(hash >> (encode->bucket_shift - CHECK_BITS)) & ((1u << CHECK_BITS) - 1);
    return encode->pair_rows + PAIR_ROW_BYTES * (size_t)((uint64_t)place * encode->n_pair_slots >> 32);
}

/* As look_up_merge. */
static Q25_NL_INLINE uint32_t look_up_compact(const q25_nl_bundle_view *bundle,
                                              const q25_nl_encode_view *encode, uint32_t left,
                                              uint32_t right)
{
    uint32_t check, row, one, other;
    const uint8_t *slot = pair_row(encode, left, right, &check);
    Q25_NL_STEP();
    if ((uint32_t)slot[2] >> (8 - CHECK_BITS) != check) {
        return NO_ROW;
    }
    row = slot[0] | (uint32_t)slot[1] << 8 | (slot[2] & 3u) << 16;
    if (row >= encode->n_merges) {
        return NO_ROW;
    }
    parts_of(bundle, row, &one, &other);
    return one == left && other == right ? row : NO_ROW;
}

#endif

#ifndef Q25_NL_NO_FAST

/* Of a slot: by which byte, plus 1, a node is reached; whether it has children, whether it is a token. Above
 * that the base of its children, or the id; where it has both, its id is in the slot at the base. */
#define TRIE_LABEL 0x1FFu
#define TRIE_INTERNAL 0x200u
#define TRIE_TERMINAL 0x400u
#define TRIE_VALUE_SHIFT 11

/* The longest token that some bytes begin with. Sets its length, to 0 where there is none. Takes as many from
 * `turns` as bytes were read, and reads no more than there are. */
static Q25_NL_INLINE uint32_t longest_token(const q25_nl_encode_view *encode, const uint8_t *bytes,
                                            size_t n_bytes, size_t *length, size_t *turns)
{
    const word *trie = encode->trie;
    uint32_t n_slots = encode->n_trie_slots, base = 0, found = 0;
    size_t at = 0;
    n_bytes = n_bytes < *turns ? n_bytes : *turns;
    *length = 0;
    while (at < n_bytes) {
        uint32_t label = bytes[at] + 1u, slot;
        if (base + label >= n_slots) {
            break;
        }
        slot = trie[base + label];
        if ((slot & TRIE_LABEL) != label) {
            break;
        }
        base = slot >> TRIE_VALUE_SHIFT;
        at++;
        Q25_NL_STEP();
        if ((slot & TRIE_TERMINAL) != 0) {
            found = slot;
            *length = at;
            if ((slot & TRIE_INTERNAL) == 0) {
                break;
            }
        }
    }
    *turns -= at;
    base = found >> TRIE_VALUE_SHIFT;
    if ((found & TRIE_INTERNAL) != 0) {
        base = base < n_slots ? trie[base] >> TRIE_VALUE_SHIFT : NONE;
    }
    return base;
}

/* The longest token that another one begins with, and its length, 0 where there is none. */
#define PREFIX_LENGTH_SHIFT 21

static Q25_NL_INLINE uint32_t shorter_token(const q25_nl_encode_view *encode, uint32_t id, size_t *length)
{
    uint32_t prefix = encode->prefixes[id];
    *length = prefix >> PREFIX_LENGTH_SHIFT;
    return prefix & ((1u << PREFIX_LENGTH_SHIFT) - 1);
}

/* Whether two tokens may be merged: false of most that are not. */
static Q25_NL_INLINE int may_merge(const q25_nl_encode_view *encode, uint32_t left, uint32_t right)
{
    uint32_t bit = (left * 0x9E3779B1u + right * 0x85EBCA77u) >> encode->bitmap_shift;
    return encode->pair_bitmap[bit >> 3] >> (bit & 7) & 1;
}

/* Whether merging the bytes of two tokens makes something else of them: a merge across the border between
 * them, before what would be there comes about. To see what met at the border and up to which id it could
 * be merged, the merges inside the two are undone, the last one first: that of token 256 + row is at row. */
static Q25_NL_INLINE int is_crossed(const q25_nl_encode_view *encode, uint32_t left, uint32_t right,
                                    uint32_t limit, size_t *turns)
{
    for (; *turns != 0; --*turns) {
        uint32_t last = (left > right ? left : right) - 256;
        Q25_NL_STEP();
        if (may_merge(encode, left, right)) {
            uint32_t row = look_up_merge(encode, left, right);
            if (row != NO_ROW && row + 256 < limit) {
                return 1;
            }
        }
        if (last >= encode->n_merges) { /* two single bytes */
            return 0;
        }
        if (left > right) {
            limit = left;
            left = encode->merge_table[(size_t)4 * last + 1];
        } else {
            limit = right + 1;
            right = encode->merge_table[(size_t)4 * last];
        }
    }
    return 1;
}

#endif

/* ---- Verifying an image ------------------------------------------------------------------------ */

typedef struct verification {
    q25_nl_image_info info;
    q25_nl_bundle_view bundle;
    q25_nl_encode_view encode;
    q25_nl_fault fault; /* section and row are kept up to date */
    uint32_t longest;   /* bytes of a token so far */
} verification;

/* A fault of the header, which contradicts the sections. */
static q25_nl_status header_fault(verification *seen, q25_nl_status status)
{
    seen->fault.section = seen->fault.row = 0;
    return status;
}

/* Whether a part of the image is zero; notes where it is not. */
static Q25_NL_COLD int is_padding(verification *seen, uint32_t at, uint32_t end)
{
    const uint8_t *image = (const uint8_t *)seen->info.header;
    while (at < end && image[at] == 0) {
        at++;
    }
    seen->fault.offset = at < end ? at : 0;
    return at == end;
}

/* Padding, and the checksum of every section, of those not known here too. */
static Q25_NL_COLD q25_nl_status verify_digests(verification *seen)
{
    const q25_nl_header *header = seen->info.header;
    const q25_nl_section *section = (const q25_nl_section *)(const void *)(header + 1);
    const q25_nl_section *behind = section + header->section_count;
    uint32_t end = (uint32_t)((const uint8_t *)behind - (const uint8_t *)header);
    for (; section != behind; section++) {
        if (!is_padding(seen, end, section->offset)) {
            return Q25_NL_BAD_PADDING;
        }
        end = section->offset + section->length;
        if (crc32_of(0, (const uint8_t *)header + section->offset, section->length) != section->crc32) {
            seen->fault.section = section->kind;
            seen->fault.offset = section->offset;
            return Q25_NL_BAD_SECTION_CRC;
        }
    }
    return is_padding(seen, end, header->total_bytes) ? Q25_NL_OK : Q25_NL_BAD_PADDING;
}

static Q25_NL_COLD q25_nl_status verify_tokens(verification *seen)
{
    const q25_nl_bundle_view *bundle = &seen->bundle;
    uint32_t first = FIRST_STORED(bundle), n_base = first, longest = seen->longest, id;
    uint64_t sum = 0;
    seen->fault.section = first == 0 ? Q25_NL_TOKEN_INDEX : Q25_NL_STORED_TOKEN_INDEX;
    for (id = first; id < bundle->n_tokens; id++) {
        uint32_t type = token_type(bundle, id);
        uint32_t length = token_length(bundle, id);
        seen->fault.row = id - first;
        if (type < TYPE_NORMAL || type > TYPE_LAST) {
            return Q25_NL_BAD_TOKEN_TYPE;
        }
        if (token_record(bundle, id)[0] != sum) {
            return Q25_NL_BAD_TOKEN_OFFSET;
        }
        if (type == TYPE_NORMAL && id >= bundle->first_pad_id) {
            return Q25_NL_NORMAL_PAD;
        }
        n_base += type == TYPE_NORMAL;
        longest = length > longest ? length : longest;
        sum += length;
    }
    if (sum != bundle->token_bytes_length) {
        seen->fault.section++; /* the token bytes, or those that are stored */
        seen->fault.row = 0;
        return Q25_NL_BAD_TOKEN_BYTES;
    }
    if (n_base != bundle->header->n_base) {
        return header_fault(seen, Q25_NL_WRONG_N_BASE);
    }
    if (longest != bundle->header->max_token_bytes) {
        return header_fault(seen, Q25_NL_WRONG_MAX_TOKEN_BYTES);
    }
    if (bundle->first_pad_id < first) {
        return header_fault(seen, Q25_NL_NORMAL_PAD);
    }
    return Q25_NL_OK;
}

/* The bytes of an id where the token index was verified. */
static const uint8_t *verified_text(const q25_nl_bundle_view *bundle, uint32_t id)
{
    return bundle->token_bytes + token_record(bundle, id)[0];
}

/* Whether the tokens of a merge, joined, are the one it makes. */
static int is_joined(const q25_nl_bundle_view *bundle, const word *merge)
{
    const uint8_t *out = verified_text(bundle, merge[2]);
    const uint8_t *part = verified_text(bundle, merge[0]);
    uint32_t left = token_length(bundle, merge[0]);
    uint32_t length = token_length(bundle, merge[2]);
    uint32_t at;
    if (left + token_length(bundle, merge[1]) != length) {
        return 0;
    }
    for (at = 0; at < length; at++) {
        if (at == left) {
            part = verified_text(bundle, merge[1]);
        }
        if (out[at] != *part++) {
            return 0;
        }
    }
    return 1;
}

static Q25_NL_COLD q25_nl_status verify_merges(verification *seen)
{
    uint32_t by_id = FLAG_RANK_IS_OUT_ID;
    uint32_t row, field;
    seen->fault.section = Q25_NL_MERGE_TABLE;
    for (row = 0; row < seen->encode.n_merges; row++) {
        const word *merge = seen->encode.merge_table + (size_t)4 * row;
        seen->fault.row = row;
        if (merge[3] != row) {
            return Q25_NL_BAD_MERGE_RANK;
        }
        for (field = 0; field < 3; field++) {
            if (merge[field] >= seen->bundle.n_tokens
                || token_type(&seen->bundle, merge[field]) != TYPE_NORMAL) {
                return Q25_NL_BAD_MERGE_ID;
            }
        }
        if (!is_joined(&seen->bundle, merge)) {
            return Q25_NL_BAD_MERGE_BYTES;
        }
        if (merge[2] != row + 256) {
            by_id = 0;
        }
    }
    if ((seen->encode.flags & FLAG_RANK_IS_OUT_ID) != by_id) {
        return header_fault(seen, Q25_NL_WRONG_RANK_FLAG);
    }
    return Q25_NL_OK;
}

/* Whether an id is of a normal token of one byte, which is given. */
static int is_byte_token(const q25_nl_bundle_view *bundle, uint32_t id, uint32_t *byte)
{
    if (bundle->token_index[2 * (size_t)id + 1] != (TYPE_NORMAL << 16 | 1)) {
        return 0;
    }
    *byte = *verified_text(bundle, id);
    return 1;
}

static Q25_NL_COLD q25_nl_status verify_byte_tokens(verification *seen)
{
    const q25_nl_bundle_view *bundle = &seen->bundle;
    const word *map = seen->encode.byte_tokens;
    uint32_t *row = &seen->fault.row;
    uint32_t id, byte;
    seen->fault.section = Q25_NL_BYTE_TOKEN_MAP;
    for (*row = 0; *row < 256; ++*row) {
        id = map[*row];
        if (id != NONE && (id >= bundle->n_tokens || !is_byte_token(bundle, id, &byte) || byte != *row)) {
            return Q25_NL_BAD_BYTE_TOKEN;
        }
    }
    for (id = 0; id < bundle->n_tokens; id++) {
        if (is_byte_token(bundle, id, row) && map[*row] > id) {
            return Q25_NL_BAD_BYTE_TOKEN;
        }
    }
    return Q25_NL_OK;
}

/* The arrangement is canonical: entries by (home, row), each in the first free slot at or after its
 * home. Rows strictly ascend among those of one home, so as many entries as merges are all merges.
 * Equal pairs have one home, so they lie among at most max_probe slots. */
static Q25_NL_COLD q25_nl_status verify_pair_index(verification *seen)
{
    const q25_nl_encode_view *encode = &seen->encode;
    const word *slots = encode->pair_slots;
    uint32_t at, found = 0, free = 0, probe = 1;
    uint64_t last = 0; /* home and row of the entry before */
    seen->fault.section = Q25_NL_MERGE_PAIR_INDEX;
    for (at = 0; at < encode->n_pair_slots; at++) {
        uint32_t row = (slots[at] & ROW_MASK) - 1, hash, home, back;
        const word *merge;
        uint64_t order;
        if (slots[at] == 0) {
            continue;
        }
        seen->fault.row = at;
        if (row >= encode->n_merges) {
            return Q25_NL_BAD_PAIR_SLOT;
        }
        merge = encode->merge_table + (size_t)4 * row;
        hash = pair_hash(encode->hash_seed, merge[0], merge[1]);
        home = hash & encode->home_mask;
        order = (uint64_t)home << 32 | row;
        if ((slots[at] ^ hash) >> ROW_BITS != 0 || at != (home > free ? home : free)
            || (found != 0 && order <= last)) {
            return Q25_NL_BAD_PAIR_SLOT;
        }
        if (at - home >= encode->max_probe) {
            return header_fault(seen, Q25_NL_WRONG_MAX_PROBE);
        }
        probe = at - home + 1 > probe ? at - home + 1 : probe;
        for (back = home; back < at; back++) {
            const word *other = encode->merge_table + (size_t)4 * ((slots[back] & ROW_MASK) - 1);
            if (other[0] == merge[0] && other[1] == merge[1]) {
                return Q25_NL_REPEATED_PAIR;
            }
        }
        found++;
        free = at + 1;
        last = order;
    }
    seen->fault.row = 0;
    if (found != encode->n_merges) {
        return Q25_NL_MISSING_PAIR;
    }
    if (probe != encode->max_probe) {
        return header_fault(seen, Q25_NL_WRONG_MAX_PROBE);
    }
    /* At least one empty slot behind the last entry, rounded up to 16 slots. */
    free = (free + 1 + 15) & ~15u;
    if (encode->n_pair_slots != (free > encode->home_mask ? free : encode->home_mask + 1)) {
        return Q25_NL_BAD_PAIR_SLOTS;
    }
    return Q25_NL_OK;
}

static q25_nl_status verify_tables(verification *seen)
{
    q25_nl_status status = verify_tokens(seen);
    if (status == Q25_NL_OK) {
        status = verify_merges(seen);
    }
    if (status == Q25_NL_OK) {
        status = verify_byte_tokens(seen);
    }
    return status == Q25_NL_OK ? verify_pair_index(seen) : status;
}

static int is_added(const q25_nl_bundle_view *bundle, uint32_t id)
{
    uint32_t type = token_type(bundle, id);
    return id < bundle->first_pad_id && type >= TYPE_UNKNOWN && type <= TYPE_USER_DEFINED;
}

static Q25_NL_COLD q25_nl_status verify_specials(verification *seen)
{
    const q25_nl_bundle_view *bundle = &seen->bundle;
    const word *bitmap = (const word *)(const void *)seen->encode.special_first_bytes;
    uint32_t firsts[8];
    uint32_t row, id, n_added = 0;
    uint64_t last = 0;
    seen->fault.section = Q25_NL_SPECIAL_TOKEN_INDEX;
    for (row = 0; row < 8; row++) {
        firsts[row] = 0;
        Q25_NL_PLAIN_LOOP();
    }
    for (row = 0; row < seen->encode.n_specials; row++) {
        uint32_t byte, length;
        uint64_t order;
        seen->fault.row = row;
        id = seen->encode.special_ids[row];
        if (id >= bundle->n_tokens || !is_added(bundle, id)) {
            return Q25_NL_BAD_SPECIAL_ID;
        }
        length = token_length(bundle, id);
        if (length == 0) {
            return Q25_NL_BAD_SPECIAL_ID;
        }
        /* By first byte, then by length descending, then by id. */
        byte = *verified_text(bundle, id);
        order = (uint64_t)byte << 48 | (uint64_t)(0xFFFFu - length) << 32 | id;
        if (row != 0 && order <= last) {
            return Q25_NL_BAD_SPECIAL_ORDER;
        }
        firsts[byte >> 5] |= 1u << (byte & 31);
        last = order;
    }
    seen->fault.row = 0;
    for (id = 0; id < bundle->n_tokens; id++) {
        n_added += (uint32_t)is_added(bundle, id);
    }
    if (n_added != seen->encode.n_specials) {
        return Q25_NL_MISSING_SPECIAL;
    }
    for (row = 0; row < 8; row++) {
        if (bitmap[row] != firsts[row]) {
            return Q25_NL_BAD_SPECIAL_BITMAP;
        }
    }
    return Q25_NL_OK;
}

#ifndef Q25_NL_NO_COMPACT

#define MAX_MADE_BYTES 0x1000000u /* of all tokens that merges make, with the single bytes */

/* Each byte has a token below 256, which says that it is this byte; so all are told apart. */
static Q25_NL_COLD q25_nl_status verify_byte_values(verification *seen)
{
    uint32_t byte;
    for (byte = 0; byte < 256; byte++) {
        uint32_t id = seen->encode.byte_tokens[byte];
        seen->fault.section = Q25_NL_BYTE_TOKEN_MAP;
        seen->fault.row = byte;
        if (id >= 256) {
            return Q25_NL_BAD_BYTE_TOKEN;
        }
        if (seen->bundle.byte_values[id] != byte) {
            seen->fault.section = Q25_NL_BYTE_VALUES;
            seen->fault.row = id;
            return Q25_NL_BAD_BYTE_VALUE;
        }
    }
    return Q25_NL_OK;
}

/* Each merge is of two tokens that come before, and what it makes can be taken apart. */
static Q25_NL_COLD q25_nl_status verify_made_tokens(verification *seen)
{
    const q25_nl_bundle_view *bundle = &seen->bundle;
    uint32_t n_merges = seen->encode.n_merges, row, total = 256;
    seen->fault.section = Q25_NL_MERGE_LOW_BITS;
    for (row = 0; row < n_merges; row++) {
        token_reader reader;
        uint32_t left, right, found, length;
        seen->fault.row = row;
        parts_of(bundle, row, &left, &right);
        if (left >= row + 256 || right >= row + 256) {
            return Q25_NL_BAD_MERGE_ID;
        }
        read_token(bundle, row + 256, &reader);
        do {
            found = next_byte(bundle, &reader);
        } while (found < ENDED);
        if (found == DAMAGED) {
            return reader.left == 0 ? header_fault(seen, Q25_NL_WRONG_MAX_TOKEN_BYTES)
                                    : Q25_NL_BAD_MERGE_DEPTH;
        }
        length = bundle->header->max_token_bytes - reader.left;
        total += length;
        if (total > MAX_MADE_BYTES) {
            return Q25_NL_BAD_MADE_BYTES;
        }
        seen->longest = length > seen->longest ? length : seen->longest;
    }
    if (n_merges > FIRST_HIGH_ROW && n_merges % 2 != 0) { /* half a byte is left over */
        seen->fault.section = Q25_NL_MERGE_HIGH_BITS;
        seen->fault.row = (n_merges - FIRST_HIGH_ROW) / 2;
        if (bundle->merge_high_bits[seen->fault.row] >> 4 != 0) {
            return Q25_NL_BAD_MERGE_ID;
        }
    }
    return Q25_NL_OK;
}

/* Each slot in use has a row that belongs there and nowhere else, so as many as merges are all merges; and of
 * merges of the same pair one is missing. */
static Q25_NL_COLD q25_nl_status verify_pair_rows(verification *seen)
{
    const q25_nl_encode_view *encode = &seen->encode;
    uint32_t at, found = 0;
    seen->fault.section = Q25_NL_PAIR_MULTIPLIERS;
    for (at = 0; at < seen->info.sections[Q25_NL_PAIR_MULTIPLIERS]->count; at++) {
        seen->fault.row = at;
        if (encode->pair_multipliers[at] % 2 == 0) {
            return Q25_NL_BAD_PAIR_MULTIPLIER;
        }
    }
    seen->fault.section = Q25_NL_PAIR_ROWS;
    for (at = 0; at < encode->n_pair_slots; at++) {
        const uint8_t *slot = encode->pair_rows + PAIR_ROW_BYTES * (size_t)at;
        uint32_t row = slot[0] | (uint32_t)slot[1] << 8 | (slot[2] & 3u) << 16;
        uint32_t left, right, check;
        seen->fault.row = at;
        if (row == NO_ROW && slot[2] == 3) {
            continue; /* empty */
        }
        if (row >= encode->n_merges) {
            return Q25_NL_BAD_PAIR_SLOT;
        }
        parts_of(&seen->bundle, row, &left, &right);
        if (pair_row(encode, left, right, &check) != slot
            || (uint32_t)slot[2] >> (8 - CHECK_BITS) != check) {
            return Q25_NL_BAD_PAIR_SLOT;
        }
        found++;
    }
    seen->fault.row = 0;
    return found == encode->n_merges ? Q25_NL_OK : Q25_NL_MISSING_PAIR;
}

static Q25_NL_COLD q25_nl_status verify_compact(verification *seen)
{
    q25_nl_status status = verify_byte_values(seen);
    seen->longest = 1;
    if (status == Q25_NL_OK) {
        status = verify_made_tokens(seen);
    }
    if (status == Q25_NL_OK) {
        status = verify_pair_rows(seen);
    }
    return status == Q25_NL_OK ? verify_tokens(seen) : status;
}

#endif

#ifndef Q25_NL_NO_FAST

#define MOST_TURNS 64u /* from one pair of tokens to the bytes at its border */

/* The bit of each merge is set, and no more bits than there are merges. */
static Q25_NL_COLD q25_nl_status verify_pair_bitmap(verification *seen)
{
    const q25_nl_encode_view *encode = &seen->encode;
    uint32_t *row = &seen->fault.row;
    uint32_t at, n_set = 0;
    seen->fault.section = Q25_NL_MERGE_TABLE;
    for (*row = 0; *row < encode->n_merges; ++*row) {
        const word *merge = encode->merge_table + (size_t)4 * *row;
        if (!may_merge(encode, merge[0], merge[1])) {
            return Q25_NL_BAD_PAIR_BITMAP;
        }
    }
    *row = 0;
    seen->fault.section = Q25_NL_MERGE_PAIR_BITMAP;
    for (at = 0; at <= encode->home_mask; at++) {
        uint32_t bits = encode->pair_bitmap[at];
        for (; bits != 0; bits &= bits - 1) {
            n_set++;
        }
    }
    return n_set > encode->n_merges ? Q25_NL_BAD_PAIR_BITMAP : Q25_NL_OK;
}

/* What makes the trie exact: the first 256 ids are the bytes, and merging the bytes of every other one makes
 * it of its two parts, both of lower ids. */
static Q25_NL_COLD q25_nl_status verify_derivation(verification *seen)
{
    const q25_nl_encode_view *encode = &seen->encode;
    uint32_t *row = &seen->fault.row;
    seen->fault.section = Q25_NL_BYTE_TOKEN_MAP;
    for (*row = 0; *row < 256; ++*row) {
        if (encode->byte_tokens[*row] >= 256) {
            return Q25_NL_BAD_DERIVATION;
        }
    }
    seen->fault.section = Q25_NL_MERGE_TABLE;
    for (*row = 0; *row < encode->n_merges; ++*row) {
        const word *merge = encode->merge_table + (size_t)4 * *row;
        size_t turns = MOST_TURNS;
        if (merge[0] >= merge[2] || merge[1] >= merge[2]
            || is_crossed(encode, merge[0], merge[1], merge[2], &turns)) {
            return Q25_NL_BAD_DERIVATION;
        }
    }
    return Q25_NL_OK;
}

/* The bytes of each token lead to it, and there are no more tokens. */
static Q25_NL_COLD q25_nl_status verify_trie(verification *seen)
{
    const q25_nl_encode_view *encode = &seen->encode;
    uint32_t n_tokens = encode->n_merges + 256, at, found = 0;
    seen->fault.section = Q25_NL_TOKEN_TRIE;
    for (at = 0; at < n_tokens; at++) {
        size_t length = token_length(&seen->bundle, at), taken, turns = length;
        const uint8_t *text = verified_text(&seen->bundle, at);
        seen->fault.row = at;
        if (longest_token(encode, text, length, &taken, &turns) != at || taken != length) {
            seen->fault.section = Q25_NL_TOKEN_INDEX;
            return Q25_NL_BAD_TRIE_TOKEN;
        }
        turns = length;
        if (longest_token(encode, text, length - 1, &taken, &turns) != shorter_token(encode, at, &length)
            || taken != length) {
            seen->fault.section = Q25_NL_TOKEN_PREFIXES;
            return Q25_NL_BAD_PREFIX;
        }
    }
    for (at = 0; at < encode->n_trie_slots; at++) {
        found += (encode->trie[at] & TRIE_TERMINAL) != 0;
    }
    seen->fault.row = 0;
    return found == n_tokens ? Q25_NL_OK : Q25_NL_BAD_TRIE_SLOTS;
}

#endif

Q25_NL_COLD
q25_nl_status q25_nl_tokenizer_runtime_image_verify(const void *image, size_t image_bytes,
                                                    q25_nl_fault *fault)
{
    verification seen;
    q25_nl_status status =
        q25_nl_tokenizer_runtime_image_open(image, image_bytes, &seen.bundle, &seen.encode, &seen.info);
    seen.fault.section = seen.fault.row = seen.fault.offset = 0;
    seen.longest = 0;
    if (status == Q25_NL_OK) {
        status = verify_digests(&seen);
    }
    if (status == Q25_NL_OK) {
#ifndef Q25_NL_NO_COMPACT
        status = IS_COMPACT(seen.info.header) ? verify_compact(&seen) : verify_tables(&seen);
#else
        status = verify_tables(&seen);
#endif
    }
    if (status == Q25_NL_OK) {
        status = verify_specials(&seen);
    }
#ifndef Q25_NL_NO_FAST
    if (status == Q25_NL_OK && seen.encode.trie != NULL) {
        status = verify_pair_bitmap(&seen);
        if (status == Q25_NL_OK) {
            status = verify_derivation(&seen);
        }
        if (status == Q25_NL_OK) {
            status = verify_trie(&seen);
        }
    }
#endif
    if (fault != NULL) {
        fault->section = fault->row = fault->offset = 0;
        if (status != Q25_NL_OK) {
            fault->section = seen.fault.section;
            fault->row = seen.fault.row;
            fault->offset = seen.fault.offset;
            if (fault->offset == 0 && fault->section != 0) {
                const q25_nl_section *section = seen.info.sections[fault->section];
                fault->offset = section->offset + fault->row * section->record_bytes;
            }
        }
    }
    return status;
}

/* ---- UTF-8 ------------------------------------------------------------------------------------- */

#define REPLACEMENT 0xFFFDu
#define UNFINISHED 0xFFFFFFFEu /* in place of a code point: the bytes end within a character */
#define INVALID 0xFFFFFFFFu

/* Of q25_nl_lead, for the first byte of a character: its class, MIXED where the byte alone does not tell;
 * whether all characters of two or three bytes that begin so are boundaries which NFC leaves alone; its
 * length. */
#define CLASS_MASK 15u
#define SETTLED 16u
#define LENGTH_SHIFT 5

static int is_invalid(uint32_t code)
{
    return code >= UNFINISHED;
}

/* Decodes one character of at most `left` bytes, left > 0; gives its length. What is no character gives the
 * length of its maximal subpart: as many bytes as could begin one, at least 1. */
static Q25_NL_HOT size_t decode(const uint8_t *at, size_t left, uint32_t *code)
{
    uint32_t lead = at[0], found;
    size_t length = q25_nl_lead[lead] >> LENGTH_SHIFT, place;
    if (length == 1) {
        *code = lead < 0x80 ? lead : INVALID;
        return 1;
    }
    *code = INVALID;
    found = lead & 0x7Fu >> length;
    for (place = 1; place < length; place++) {
        if (place == left) {
            *code = UNFINISHED;
            return place;
        }
        if ((at[place] & 0xC0u) != 0x80) {
            return place;
        }
        found = found << 6 | (at[place] & 0x3Fu);
        /* The second byte tells what is longer than need be, a surrogate or beyond U+10FFFF. */
        if (place == 1
            && ((length == 3 && (found < 0x20 || found - 0x360 < 0x20))
                || (length == 4 && found - 0x10 >= 0x100))) {
            return 1;
        }
    }
    *code = found;
    return length;
}

/* What the first two or three bytes say, of bytes in the form of UTF-8 of so many or more. */
static Q25_NL_INLINE uint32_t decode_short(const uint8_t *at, size_t length)
{
    uint32_t code = (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    return length == 2 ? code : (code & 0x3FFu) << 6 | (at[2] & 0x3Fu);
}

/* Decodes a character of UTF-8 known to be valid. */
static Q25_NL_INLINE uint32_t decode_valid(const uint8_t *at)
{
    size_t length = q25_nl_lead[*at] >> LENGTH_SHIFT;
    uint32_t code;
    if (length == 1) {
        return *at;
    }
    code = decode_short(at, length);
    return length == 4 ? code << 6 | (at[3] & 0x3Fu) : code;
}

static Q25_NL_COLD size_t put_utf8(uint8_t *to, uint32_t code)
{
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    size_t place;
    for (place = length - 1; place > 0; place--) {
        to[place] = (uint8_t)(0x80u | (code & 0x3Fu));
        code >>= 6;
    }
    to[0] = (uint8_t)(length == 1 ? code : (0xF00u >> length & 0xFFu) | code);
    return length;
}

/* ---- Character classes and the Qwen2 rule ------------------------------------------------------ */

/* Classes of characters. Those from LINE_END on are of ASCII only, but for U+017F, which is an s to the
 * contractions. MIXED is no class: the first byte of a character says so where it does not tell. */
enum {
    OTHER,
    LETTER,
    NUMBER,
    WHITE,
    LINE_END,
    BLANK,
    QUOTE,
    LETTER_STMD, /* s, t, m or d, in either case */
    LETTER_RV,
    LETTER_E,
    LETTER_L,
    MIXED
};

static uint32_t class_of(uint32_t code)
{
    uint32_t block, low;
    if (code < 0x80) {
        return q25_nl_lead[code] & CLASS_MASK;
    }
    if (code >= Q25_NL_CLASS_LIMIT || code == 0x17F) {
        return code == 0x17F ? LETTER_STMD : OTHER;
    }
    block = q25_nl_class_block[code >> Q25_NL_CLASS_BLOCK_BITS];
    low = code & ((1u << Q25_NL_CLASS_BLOCK_BITS) - 1);
    return q25_nl_class_bits[(block << (Q25_NL_CLASS_BLOCK_BITS - 2)) + (low >> 2)] >> 2 * (low & 3) & 3u;
}

static Q25_NL_HOT uint32_t class_of_mixed(const uint8_t *at)
{
    return class_of(decode_valid(at));
}

/* The class of a character of valid UTF-8, and its length. */
static Q25_NL_INLINE uint32_t class_at(const uint8_t *at, size_t *length)
{
    uint32_t lead = q25_nl_lead[*at];
    uint32_t found = lead & CLASS_MASK;
    *length = lead >> LENGTH_SHIFT;
    return found != MIXED ? found : class_of_mixed(at);
}

/* The rule, of which the first that fits is taken:
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)
 *   [^\r\n\p{L}\p{N}]?\p{L}+
 *   \p{N}
 *   ` ?[^\s\p{L}\p{N}]+[\r\n]*`
 *   \s*[\r\n]+
 *   \s+(?!\S)
 *   \s+
 *
 * as states of a scanner, by what the piece is so far. */
enum {
    END,         /* the piece ends before the character */
    DONE,        /* it ends with it */
    WORD,        /* letters, with one character before them or without */
    SIGN,        /* one sign */
    QUOTED,      /* a quote */
    QUOTED_RV,   /* and an r or a v */
    QUOTED_L,    /* and an l */
    SIGNS,       /* signs, with a blank before them or without */
    SIGNS_LINES, /* and line ends */
    SPACE,       /* one blank */
    TAB,         /* one character of other white space, but no line end */
    WHITES,      /* more of both */
    LINES,       /* white space that ends with a line end */
    LINES_WHITES /* and more of it without one */
};

/* By state and class. The first row is that of the beginning, which no piece comes back to. */
static const uint8_t next_state[][11] = {
    /*OTHER  LETTER  NUMBER  WHITE         LINE_END     BLANK         QUOTE   STMD  RV         E     L */
    {SIGN,  WORD,   DONE,   TAB,          LINES,       SPACE,        QUOTED, WORD, WORD,      WORD, WORD},
    {END,   END,    END,    END,          END,         END,          END,    END,  END,       END,  END},
    {END,   WORD,   END,    END,          END,         END,          END,    WORD, WORD,      WORD, WORD},
    {SIGNS, WORD,   END,    END,          SIGNS_LINES, END,          SIGNS,  WORD, WORD,      WORD, WORD},
    {SIGNS, WORD,   END,    END,          SIGNS_LINES, END,          SIGNS,  DONE, QUOTED_RV, WORD, QUOTED_L},
    {END,   WORD,   END,    END,          END,         END,          END,    WORD, WORD,      DONE, WORD},
    {END,   WORD,   END,    END,          END,         END,          END,    WORD, WORD,      WORD, DONE},
    {SIGNS, END,    END,    END,          SIGNS_LINES, END,          SIGNS,  END,  END,       END,  END},
    {END,   END,    END,    END,          SIGNS_LINES, END,          END,    END,  END,       END,  END},
    {SIGNS, WORD,   END,    WHITES,       LINES,       WHITES,       SIGNS,  WORD, WORD,      WORD, WORD},
    {END,   WORD,   END,    WHITES,       LINES,       WHITES,       END,    WORD, WORD,      WORD, WORD},
    {END,   END,    END,    WHITES,       LINES,       WHITES,       END,    END,  END,       END,  END},
    {END,   END,    END,    LINES_WHITES, LINES,       LINES_WHITES, END,    END,  END,       END,  END},
    {END,   END,    END,    LINES_WHITES, LINES,       LINES_WHITES, END,    END,  END,       END,  END},
};

/* The end of the piece that begins at `at`. No character is looked at more than three times. */
static Q25_NL_INLINE size_t piece_end(const uint8_t *text, size_t at, size_t end)
{
    size_t last = at, line = at, length;
    uint32_t state = 0;
    for (; at < end; at += length) {
        uint32_t next = next_state[state][class_at(text + at, &length)];
        Q25_NL_STEP();
        if (next <= DONE) {
            at += next == DONE ? length : 0;
            break;
        }
        last = at;
        state = next;
        line = next == LINES ? at + length : line;
    }
    if (state == LINES_WHITES) {
        return line;
    }
    return state == WHITES && at != end ? last : at;
}

/* ---- NFC --------------------------------------------------------------------------------------- */

/* A code point's kind: 0, a starter that is itself; then the mark records (what joins or reorders with
 * the character before it); from FIRST_DECOMPOSED what comes apart for good; from FIRST_COMPOSITE what
 * comes apart and is composed again. Hangul syllables are of the last sort by arithmetic. */
static Q25_NL_INLINE uint32_t kind_in_table(uint32_t code)
{
    uint32_t block;
    if (code >= Q25_NL_NFC_LIMIT) {
        return 0;
    }
    block = q25_nl_nfc_block[code >> Q25_NL_NFC_BLOCK_BITS];
    return q25_nl_nfc_kind[(block << Q25_NL_NFC_BLOCK_BITS)
                           + (code & ((1u << Q25_NL_NFC_BLOCK_BITS) - 1))];
}

/* The same where calling it costs little. */
static Q25_NL_HOT uint32_t kind_of(uint32_t code)
{
    return kind_in_table(code);
}

#define KIND_JAMO 1u /* Hangul vowels and trailing consonants */

/* NFC changes nothing across the place before such a character. */
static int is_boundary(uint32_t kind)
{
    return kind == 0 || kind >= Q25_NL_FIRST_COMPOSITE;
}

#define HANGUL_S 0xAC00u
#define HANGUL_L 0x1100u
#define HANGUL_V 0x1161u
#define HANGUL_T 0x11A7u
#define HANGUL_L_COUNT 19u
#define HANGUL_V_COUNT 21u
#define HANGUL_T_COUNT 28u
#define HANGUL_S_COUNT (HANGUL_L_COUNT * HANGUL_V_COUNT * HANGUL_T_COUNT)

/* The primary composite of two characters, or 0. */
static Q25_NL_COLD uint32_t composite_of(uint32_t first, uint32_t second)
{
    uint32_t kind = kind_of(second), low, high;
    uint32_t lead = first - HANGUL_L, vowel = second - HANGUL_V;
    uint32_t syllable = first - HANGUL_S, trail = second - HANGUL_T;
    if (lead < HANGUL_L_COUNT && vowel < HANGUL_V_COUNT) {
        return HANGUL_S + (lead * HANGUL_V_COUNT + vowel) * HANGUL_T_COUNT;
    }
    if (syllable < HANGUL_S_COUNT && syllable % HANGUL_T_COUNT == 0 && trail - 1 < HANGUL_T_COUNT - 1) {
        return first + trail;
    }
    if (kind >= Q25_NL_FIRST_DECOMPOSED || first >> 16 != second >> 16) {
        return 0;
    }
    low = q25_nl_mark_pairs[kind];
    high = q25_nl_mark_pairs[kind + 1];
    while (low < high) {
        uint32_t middle = (low + high) / 2, found = q25_nl_pair_first[middle];
        Q25_NL_STEP();
        if (found == (first & 0xFFFFu)) {
            return (first & 0xFFFF0000u) | q25_nl_pair_composite[middle];
        }
        if (found < (first & 0xFFFFu)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}

/* A decomposed character: its code point, and above it the place of its combining class among those in
 * use; 0 for a starter. */
#define ORDER_SHIFT 21
#define CODE_MASK 0x1FFFFFu

#define MAX_PARTS 4u

/* Puts the full decomposition of a character, at most MAX_PARTS; gives their number. */
static Q25_NL_COLD uint32_t decompose(uint32_t code, word *to)
{
    uint32_t kind = kind_of(code), syllable = code - HANGUL_S;
    uint32_t count = 0, at, end;
    if (syllable < HANGUL_S_COUNT) {
        uint32_t trail = syllable % HANGUL_T_COUNT;
        syllable /= HANGUL_T_COUNT;
        to[0] = HANGUL_L + syllable / HANGUL_V_COUNT;
        to[1] = HANGUL_V + syllable % HANGUL_V_COUNT;
        to[2] = HANGUL_T + trail;
        return trail == 0 ? 2 : 3;
    }
    if (kind < Q25_NL_FIRST_DECOMPOSED) {
        to[0] = (uint32_t)q25_nl_mark_order[kind] << ORDER_SHIFT | code;
        return 1;
    }
    at = q25_nl_decomposed_at[kind - Q25_NL_FIRST_DECOMPOSED];
    end = q25_nl_decomposed_at[kind - Q25_NL_FIRST_DECOMPOSED + 1];
    while (at < end) {
        uint32_t part = q25_nl_decomposed[at++];
        if (part >> 10 == 0xD800u >> 10) { /* the first half of a surrogate pair */
            part = 0x10000u + ((part & 0x3FFu) << 10 | (q25_nl_decomposed[at++] & 0x3FFu));
        }
        to[count++] = (uint32_t)q25_nl_mark_order[kind_of(part)] << ORDER_SHIFT | part;
    }
    return count;
}

/* Sorts marks by class, equal ones in their old order, by counting: linear, however many there are.
 * `spare` has room for as many again. */
static Q25_NL_COLD void sort_marks(word *marks, size_t count, word *spare)
{
    uint32_t starts[Q25_NL_MARK_ORDERS];
    uint32_t order, start = 0;
    size_t at;
    for (at = 1; at < count && marks[at - 1] >> ORDER_SHIFT <= marks[at] >> ORDER_SHIFT; at++) {
        Q25_NL_STEP();
    }
    if (at >= count) {
        return;
    }
    for (order = 0; order < Q25_NL_MARK_ORDERS; order++) {
        starts[order] = 0;
        Q25_NL_PLAIN_LOOP();
        Q25_NL_STEP();
    }
    for (at = 0; at < count; at++) {
        spare[at] = marks[at];
        starts[marks[at] >> ORDER_SHIFT]++;
        Q25_NL_PLAIN_LOOP();
        Q25_NL_STEP();
    }
    for (order = 0; order < Q25_NL_MARK_ORDERS; order++) {
        start += starts[order];
        starts[order] = start - starts[order];
        Q25_NL_STEP();
    }
    for (at = 0; at < count; at++) {
        marks[starts[spare[at] >> ORDER_SHIFT]++] = spare[at];
        Q25_NL_STEP();
    }
}

/* Brings the marks of a unit in order. Behind it is room for as many words. */
static Q25_NL_COLD void order_marks(word *unit, size_t count)
{
    size_t at, run;
    for (at = 0; at < count; at = run + 1) {
        for (run = at; run < count && unit[run] >> ORDER_SHIFT != 0; run++) {
            Q25_NL_STEP();
        }
        sort_marks(unit + at, run - at, unit + count);
    }
}

/* Composes a unit of decomposed characters in place; gives their number afterwards. */
static Q25_NL_COLD size_t compose(word *unit, size_t count)
{
    size_t at, kept = 0;
    word *starter = NULL;
    uint32_t last = 0;
    for (at = 0; at < count; at++) {
        uint32_t order = unit[at] >> ORDER_SHIFT;
        uint32_t joined = composite_of(starter == NULL ? 0u : *starter, unit[at] & CODE_MASK);
        /* A mark is cut off from the starter by one of its own class or a higher one; a second starter
         * joins only directly behind the first. */
        if (joined != 0 && (last < order || (last == 0 && starter + 1 == unit + kept))) {
            *starter = joined;
            continue;
        }
        if (order == 0) {
            starter = unit + kept;
        }
        last = order;
        unit[kept++] = unit[at];
    }
    return kept;
}

/* ---- What encoding works with ------------------------------------------------------------------ */

#define SCRATCH_ALIGN 8u
#define CACHE_MIN_BITS 4u
#define CACHE_MAX_BITS 12u

typedef struct job {
    const q25_nl_bundle_view *bundle;
    const q25_nl_encode_view *encode;
    const uint8_t *text;
    size_t text_bytes;
    uint32_t flags;
    uint32_t special_byte; /* the byte with which all specials begin, or NONE */
    uint32_t run_byte;     /* the byte whose run of specials was looked up last, or NONE */
    uint32_t run_begin;
    uint32_t run_end;
    uint64_t no_seconds[4]; /* a bit for each byte: none of that run goes on with it */
    int lacks_scratch;
    uint32_t *ids;
    size_t id_capacity;
    size_t n_ids;
    q25_nl_encode_statistics *done;
    uint8_t *scratch;     /* on a multiple of 8 */
    size_t scratch_bytes; /* from there on, without the cache behind it */
    size_t scratch_used;  /* by the text that is being encoded, a multiple of 8 */
    two_words *cache;     /* of merges that were looked up, and of borders */
    uint32_t cache_shift;
    uint32_t pieces_shift;
    word *pieces;       /* short ones that were merged, or NULL */
    size_t cache_bytes; /* what both take of the scratch */
    two_words small_cache[1u << CACHE_MIN_BITS];
} job;

static void put_id(job *work, uint32_t id)
{
    if (work->n_ids < work->id_capacity) {
        work->ids[work->n_ids] = id;
    }
    work->n_ids++;
}

static size_t aligned(size_t bytes)
{
    return (bytes + (SCRATCH_ALIGN - 1)) & ~(size_t)(SCRATCH_ALIGN - 1);
}

static Q25_NL_COLD void set_cache(job *work, two_words *cache, uint32_t bits)
{
    size_t at;
    work->cache = cache;
    work->cache_shift = 64 - bits;
    for (at = 0; at < (size_t)1 << bits; at++) {
        cache[at] = ~(uint64_t)0; /* a pair of no token */
        Q25_NL_PLAIN_LOOP();
        Q25_NL_STEP();
    }
}

/* Takes the end of the scratch for what is kept of merges and of pieces, less of it for a short text. */
static Q25_NL_COLD void prepare_cache(job *work)
{
    uint32_t bits = CACHE_MAX_BITS;
    size_t at;
    while (bits > CACHE_MIN_BITS
           && ((size_t)2 << bits > work->text_bytes || (size_t)16 << bits > work->scratch_bytes)) {
        bits--;
    }
    work->pieces = NULL;
    work->cache_bytes = 0;
    if (bits == CACHE_MIN_BITS) {
        set_cache(work, work->small_cache, bits);
        return;
    }
    work->cache_bytes = (size_t)16 << bits;
    work->scratch_bytes -= work->cache_bytes;
    set_cache(work, (two_words *)(void *)(work->scratch + work->scratch_bytes), bits);
    work->pieces = (word *)(void *)(work->cache + ((size_t)1 << bits));
    work->pieces_shift = 33 - bits;
    for (at = 0; at < (size_t)1 << bits >> 1; at++) {
        work->pieces[4 * at + 1] = 0;
        Q25_NL_STEP();
    }
}

/* Notes that so many bytes of scratch are needed; says whether they are there. */
static Q25_NL_COLD int reserve(job *work, size_t bytes)
{
    bytes = aligned(bytes);
    if (bytes + (SCRATCH_ALIGN - 1) > work->done->scratch_needed) { /* wherever the scratch begins */
        work->done->scratch_needed = bytes + (SCRATCH_ALIGN - 1);
    }
    if (bytes > work->scratch_bytes && work->cache_bytes != 0) {
        work->scratch_bytes += work->cache_bytes;
        work->cache_bytes = 0;
        work->pieces = NULL;
        set_cache(work, work->small_cache, CACHE_MIN_BITS);
    }
    if (bytes > work->scratch_bytes) {
        work->lacks_scratch = 1;
        return 0;
    }
    return 1;
}

/* Goes on behind bytes that lack scratch: what the rest of the text needs is reported as well. They take up
 * as many ids as they may become, for with less room left the rest may need more. */
static Q25_NL_COLD q25_nl_status pass_over(job *work, size_t n_bytes)
{
    work->n_ids += n_bytes;
    return Q25_NL_OK;
}

/* ---- Special tokens ---------------------------------------------------------------------------- */

/* Whether the text at a place begins with a special token, and how many bytes of it that takes. Compares
 * characters, so that U+FFFD in a special equals what is replaced, and bytes that are no UTF-8 equal
 * nothing. */
static Q25_NL_COLD size_t special_match(const job *work, size_t at, const uint8_t *special, size_t left)
{
    size_t start = at;
    while (left != 0) {
        uint32_t wanted, found;
        size_t length = 1;
        Q25_NL_STEP();
        if (at == work->text_bytes) {
            return 0;
        }
        if (*special < 0x80) {
            if (*special != work->text[at]) {
                return 0;
            }
            at++;
        } else {
            length = decode(special, left, &wanted);
            at += decode(work->text + at, work->text_bytes - at, &found);
            if (is_invalid(found) && (work->flags & Q25_NL_REPLACE_INVALID) != 0) {
                found = REPLACEMENT;
            }
            if (is_invalid(wanted) || wanted != found) {
                return 0;
            }
        }
        special += length;
        left -= length;
    }
    return at - start;
}

/* The first special, in their order, that does not begin with a lower byte. */
static Q25_NL_COLD uint32_t special_bound(const job *work, uint32_t byte)
{
    uint32_t low = 0, high = work->encode->n_specials;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t id = work->encode->special_ids[middle];
        const uint8_t *special = id < work->bundle->n_tokens ? token_text(work->bundle, id) : NULL;
        Q25_NL_STEP();
        if (special != NULL && token_length(work->bundle, id) != 0 && *special < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The longest special at a place whose first byte, after replacement, is given; 0 where there is none. */
static Q25_NL_HOT size_t special_at(job *work, size_t at, uint32_t byte, uint32_t *id)
{
    /* Most are told apart by their second byte; 0x80 for what is none of ASCII and may be replaced. */
    uint32_t second = byte < 0x80 && at + 1 < work->text_bytes ? work->text[at + 1] : 0x80u;
    uint64_t bit = (uint64_t)1 << (second & 63), *no_seconds = work->no_seconds + (second >> 6);
    uint32_t row;
    if (byte != work->run_byte) {
        work->run_byte = byte;
        work->run_begin = special_bound(work, byte);
        work->run_end = special_bound(work, byte + 1);
        work->no_seconds[0] = work->no_seconds[1] = work->no_seconds[2] = work->no_seconds[3] = 0;
    }
    if ((*no_seconds & bit) != 0) {
        return 0;
    }
    for (row = work->run_begin; row < work->run_end; row++) {
        *id = work->encode->special_ids[row];
        Q25_NL_STEP();
        if (*id < work->bundle->n_tokens) {
            const uint8_t *special = token_text(work->bundle, *id);
            size_t length = token_length(work->bundle, *id);
            if (special != NULL
                && (second >= 0x80 || length < 2 || special[1] >= 0x80 || special[1] == second)) {
                bit = 0;
                length = special_match(work, at, special, length);
                if (length != 0) {
                    return length;
                }
            }
        }
    }
    *no_seconds |= bit;
    return 0;
}

static int begins_special(const job *work, uint32_t byte)
{
    return work->encode->special_first_bytes[byte >> 3] >> (byte & 7u) & 1;
}

/* Sets special_byte: with one first byte only, the search skips eight bytes at a time. */
static Q25_NL_COLD void prepare_specials(job *work)
{
    const word *bitmap = (const word *)(const void *)work->encode->special_first_bytes;
    uint32_t at;
    work->run_byte = NONE;
    work->special_byte = NONE;
    for (at = 0; at < BITMAP_BYTES / 4; at++) {
        uint32_t bits = bitmap[at], byte = 32 * at;
        if (bits != 0) {
            if (work->special_byte != NONE || (bits & (bits - 1)) != 0) {
                work->special_byte = NONE;
                return;
            }
            while ((bits >>= 1) != 0) {
                byte++;
            }
            work->special_byte = byte;
        }
        Q25_NL_STEP();
    }
}

/* Whether none of eight bytes, which begin on a multiple of 8, is this one. */
static int is_free_of(const uint8_t *text, uint32_t byte)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t same = *(const two_words *)(const void *)text ^ byte * ones;
    return ((same - ones) & ~same & (ones << 7)) == 0;
}

/* Finds the next special token that is to be taken as one. Gives where it begins, sets where it ends, and
 * its id; without one, all that is the end of the text, and NONE. */
static size_t find_special(job *work, size_t at, size_t *end, uint32_t *id)
{
    uint32_t setting = work->flags & ~Q25_NL_REPLACE_INVALID;
    size_t length;
    for (; at < work->text_bytes && setting != Q25_NL_SPECIALS_NONE; at += length) {
        uint32_t byte, code;
        Q25_NL_STEP();
        if (work->special_byte < 0x80 && ((uintptr_t)(work->text + at) & 7u) == 0
            && work->text_bytes - at >= 8 && is_free_of(work->text + at, work->special_byte)) {
            length = 8;
            continue;
        }
        length = 1;
        byte = work->text[at];
        if (byte >= 0x80) {
            length = decode(work->text + at, work->text_bytes - at, &code);
            if (is_invalid(code) && (work->flags & Q25_NL_REPLACE_INVALID) != 0) {
                byte = 0xEF; /* with which U+FFFD begins */
            }
        }
        if (begins_special(work, byte)) {
            size_t found = special_at(work, at, byte, id);
            length = found != 0 ? found : length;
            /* All are looked for together: text of a control token stays ordinary where only user-defined
             * ones are taken, even if one of those overlaps it. */
            if (found != 0
                && (setting == Q25_NL_SPECIALS_ALL || token_type(work->bundle, *id) == TYPE_USER_DEFINED)) {
                *end = at + found;
                return at;
            }
        }
    }
    *end = work->text_bytes;
    *id = NONE;
    return work->text_bytes;
}

/* ---- Merging ----------------------------------------------------------------------------------- */

/* What look_up_merge found is kept: row, left, right in 18, 23 and 23 bits, each pair at the one place
 * that its hash gives. */
#define RANK_SHIFT (2 * ID_BITS)
#define UNRANKED ((uint64_t)NO_ROW << RANK_SHIFT)

static Q25_NL_HOT uint64_t keep_rank(const job *work, uint64_t pair, two_words *kept)
{
    uint32_t left = (uint32_t)(pair >> ID_BITS), right = (uint32_t)pair & ((1u << ID_BITS) - 1);
    uint64_t rank;
#ifndef Q25_NL_NO_COMPACT
    if (work->encode->pair_multipliers != NULL) {
        rank = (uint64_t)look_up_compact(work->bundle, work->encode, left, right) << RANK_SHIFT;
        *kept = rank | pair;
        return rank;
    }
#endif
    rank = (uint64_t)look_up_merge(work->encode, left, right) << RANK_SHIFT;
    *kept = rank | pair;
    return rank;
}

/* The rank of the merge of two tokens << RANK_SHIFT, or UNRANKED. */
static Q25_NL_INLINE uint64_t rank_of(const job *work, uint32_t left, uint32_t right)
{
    uint64_t pair = (uint64_t)left << ID_BITS | right;
    two_words *kept = work->cache + (pair * 0x9E3779B97F4A7C15u >> work->cache_shift);
    uint64_t rank = *kept ^ pair;
    return rank << (64 - RANK_SHIFT) == 0 ? rank : keep_rank(work, pair, kept);
}

/* The token that a merge makes, or NONE where the image is damaged. */
static uint32_t merged_token(const job *work, uint32_t row)
{
    uint32_t id = (work->encode->flags & FLAG_RANK_IS_OUT_ID) != 0
                      ? row + 256
                      : work->encode->merge_table[(size_t)4 * row + 2];
    return id < work->bundle->n_tokens ? id : NONE;
}

/* Pieces of up to so many bytes are merged on the stack, searching all places for the lowest rank. */
#define SHORT_PIECE 48u

/* Above a token's id its place in the piece, and above that the rank of its merge with the next one. So the
 * lowest of these is the lowest rank, and the leftmost of its places. */
#define PLACE_SHIFT 32
#define ONE_PLACE ((uint64_t)1 << PLACE_SHIFT)
#define PLACE_MASK 63u

static Q25_NL_HOT q25_nl_status merge_short(job *work, const uint8_t *piece, size_t length)
{
    const word *map = work->encode->byte_tokens;
    uint64_t tokens[SHORT_PIECE + 4];
    uint64_t here = 0; /* the place of `at`, shifted */
    uint32_t id = map[piece[0]], next;
    size_t at, count = length;
    for (at = 0;; at++) {
        if (id >= work->bundle->n_tokens) {
            return id == NONE ? Q25_NL_BYTE_WITHOUT_TOKEN : Q25_NL_IMAGE_DAMAGED;
        }
        if (at + 1 == length) {
            break;
        }
        next = map[piece[at + 1]];
        tokens[at] = rank_of(work, id, next) | here | id;
        here += ONE_PLACE;
        id = next;
        Q25_NL_STEP();
    }
    tokens[at] = UNRANKED | here | id;
    tokens[at + 1] = tokens[at + 2] = tokens[at + 3] = UNRANKED;
    while (count > 1) {
        uint64_t best = UNRANKED;
        for (at = 0; at < count; at += 4) { /* four at a time, for speed */
            uint64_t one = tokens[at] < tokens[at + 1] ? tokens[at] : tokens[at + 1];
            uint64_t two = tokens[at + 2] < tokens[at + 3] ? tokens[at + 2] : tokens[at + 3];
            one = one < two ? one : two;
            best = one < best ? one : best;
            Q25_NL_STEP();
        }
        if (best >= UNRANKED) {
            break;
        }
        id = merged_token(work, (uint32_t)(best >> RANK_SHIFT));
        if (id == NONE) {
            return Q25_NL_IMAGE_DAMAGED;
        }
        count--;
        at = (size_t)(best >> PLACE_SHIFT) & PLACE_MASK;
        here = best & (uint64_t)PLACE_MASK << PLACE_SHIFT;
        if (at != 0) {
            next = (uint32_t)tokens[at - 1];
            tokens[at - 1] = rank_of(work, next, id) | (here - ONE_PLACE) | next;
        }
        if (at + 1 == count) {
            tokens[at] = UNRANKED | here | id;
        } else {
            tokens[at] = rank_of(work, id, (uint32_t)tokens[at + 2]) | here | id;
            while (++at < count) {
                tokens[at] = tokens[at + 1] - ONE_PLACE;
                Q25_NL_STEP();
            }
        }
        tokens[count] = UNRANKED;
    }
    for (at = 0; at < count; at++) {
        put_id(work, (uint32_t)tokens[at]);
    }
    return Q25_NL_OK;
}

/* The tokens of a long piece lie in a word for each of its bytes: a token's id at its first byte, and at its
 * second and its last byte, where it has more than one, its length with the top bit set. So the
 * neighbours of a token are one look away. NO_ROW follows the last byte. */
#define LENGTH_MARK 0x80000000u

static size_t token_end(const word *tokens, size_t at)
{
    uint32_t mark = tokens[at + 1];
    return at + ((mark & LENGTH_MARK) != 0 ? mark & ~LENGTH_MARK : 1u);
}

static size_t token_before(const word *tokens, size_t at)
{
    uint32_t mark = tokens[at - 1];
    return at - ((mark & LENGTH_MARK) != 0 ? mark & ~LENGTH_MARK : 1u);
}

/* The ranks of a long piece, as a tree: level 0 has for each byte the rank of the merge of the token that
 * begins there with the next one; each level above has the lowest rank of each block of eight of the
 * level below; the last has one block. All are filled up to whole blocks. */
#define BLOCK 8u
#define MAX_LEVELS 10 /* 8^10 is more than thrice Q25_NL_MAX_TEXT_BYTES */

typedef struct tree {
    word *level[MAX_LEVELS];
    uint32_t top;
} tree;

static size_t whole_blocks(size_t count)
{
    return (count + (BLOCK - 1)) & ~(size_t)(BLOCK - 1);
}

static Q25_NL_HOT uint32_t lowest_of(const word *block)
{
    uint32_t lowest = block[0], at;
    for (at = 1; at < BLOCK; at++) {
        lowest = block[at] < lowest ? block[at] : lowest;
    }
    Q25_NL_STEP();
    return lowest;
}

/* Lays out the tree of a piece behind its tokens; level 0 is to be filled in, and NO_ROW elsewhere. Gives
 * the words that tokens, NO_ROW and tree take. */
static Q25_NL_COLD size_t tree_layout(tree *ranks, word *words, size_t length)
{
    size_t used = length + 1, count = whole_blocks(length);
    ranks->top = 0;
    for (;;) {
        ranks->level[ranks->top] = words + used;
        used += count;
        if (count == BLOCK) {
            return used;
        }
        count = whole_blocks(count / BLOCK);
        ranks->top++;
    }
}

/* The leftmost place of the lowest rank, which is given too. */
static Q25_NL_HOT size_t tree_lowest(const tree *ranks, uint32_t *rank)
{
    uint32_t level = ranks->top;
    size_t at = 0;
    *rank = lowest_of(ranks->level[level]);
    for (;; level--, at *= BLOCK) {
        while (ranks->level[level][at] != *rank) {
            at++;
        }
        Q25_NL_STEP();
        if (level == 0) {
            return at;
        }
    }
}

static Q25_NL_HOT void tree_set(const tree *ranks, size_t at, uint32_t rank)
{
    uint32_t level = 0;
    for (;; level++) {
        word *place = ranks->level[level] + at;
        uint32_t old = *place;
        *place = rank;
        if (level == ranks->top) {
            return;
        }
        place = ranks->level[level] + (at & ~(size_t)(BLOCK - 1));
        at /= BLOCK;
        if (rank > ranks->level[level + 1][at]) {
            if (old != ranks->level[level + 1][at]) {
                return; /* the lowest of the block is another one */
            }
            rank = lowest_of(place);
        }
        Q25_NL_STEP();
    }
}

static Q25_NL_INLINE uint32_t rank_in_long(const job *work, const word *tokens, size_t at, size_t next)
{
    return (uint32_t)(rank_of(work, tokens[at], tokens[next]) >> RANK_SHIFT);
}

static Q25_NL_HOT q25_nl_status merge_long(job *work, const uint8_t *piece, size_t length)
{
    word *tokens = (word *)(void *)(work->scratch + work->scratch_used);
    tree ranks;
    size_t at, words = tree_layout(&ranks, tokens, length);
    if (!reserve(work, work->scratch_used + 4 * words)) {
        return pass_over(work, length);
    }
    for (at = length; at < words; at++) {
        tokens[at] = NO_ROW;
        Q25_NL_PLAIN_LOOP();
        Q25_NL_STEP();
    }
    for (at = 0; at < length; at++) {
        tokens[at] = work->encode->byte_tokens[piece[at]];
        if (tokens[at] >= work->bundle->n_tokens) {
            return tokens[at] == NONE ? Q25_NL_BYTE_WITHOUT_TOKEN : Q25_NL_IMAGE_DAMAGED;
        }
        if (at > 0) {
            tree_set(&ranks, at - 1, rank_in_long(work, tokens, at - 1, at));
        }
        Q25_NL_STEP();
    }
    for (;;) {
        uint32_t row, id;
        size_t next, end;
        at = tree_lowest(&ranks, &row);
        if (row == NO_ROW) {
            break;
        }
        id = merged_token(work, row);
        if (id == NONE) {
            return Q25_NL_IMAGE_DAMAGED;
        }
        next = token_end(tokens, at);
        end = token_end(tokens, next);
        tokens[at] = id;
        tokens[at + 1] = tokens[end - 1] = LENGTH_MARK | (word)(end - at);
        tree_set(&ranks, next, NO_ROW);
        tree_set(&ranks, at, end < length ? rank_in_long(work, tokens, at, end) : NO_ROW);
        if (at > 0) {
            next = token_before(tokens, at);
            tree_set(&ranks, next, rank_in_long(work, tokens, next, at));
        }
    }
    for (at = 0; at < length; at = token_end(tokens, at)) {
        put_id(work, tokens[at]);
        Q25_NL_STEP();
    }
    return Q25_NL_OK;
}

static q25_nl_status merge_piece(job *work, const uint8_t *piece, size_t length)
{
    return length <= SHORT_PIECE ? merge_short(work, piece, length) : merge_long(work, piece, length);
}

/* ---- Matching ---------------------------------------------------------------------------------- */

#ifndef Q25_NL_NO_FAST

/* What is_crossed finds without a limit is kept among the ranks, with this bit in its pair, which no id
 * reaches. Where a rank has its row: the lowest bit whether the tokens are crossed, the others how many turns
 * it took, which are taken again, so that nothing depends on what is kept. A valid image takes 64 at most. */
#define KEPT_BORDER ((uint64_t)1 << (RANK_SHIFT - 1))
#define MOST_KEPT_TURNS 0x1FFFFu

/* Whether two tokens stay beside each other. */
static Q25_NL_INLINE int is_border(const job *work, uint32_t left, uint32_t right, size_t *turns)
{
    uint64_t pair = KEPT_BORDER | (uint64_t)left << ID_BITS | right;
    two_words *kept = work->cache + (pair * 0x9E3779B97F4A7C15u >> work->cache_shift);
    uint64_t found = *kept ^ pair;
    size_t before = *turns, taken;
    if (found << (64 - RANK_SHIFT) == 0) {
        taken = (size_t)(found >> (RANK_SHIFT + 1));
        *turns -= taken < before ? taken : before;
        return (found >> RANK_SHIFT & 1) == 0 && *turns != 0;
    }
    found = (uint64_t)is_crossed(work->encode, left, right, NONE, turns) << RANK_SHIFT;
    taken = before - *turns;
    if (*turns != 0 && taken <= MOST_KEPT_TURNS) {
        *kept = pair | found | (uint64_t)taken << (RANK_SHIFT + 1);
    }
    return found == 0;
}

#define FEW_PLACES 256u /* whose bits are on the stack */
#define TURNS_A_BYTE 256u /* Qwen's take up to 192: a tab before some 120 blanks */

/* Takes the longest token at each place that merging leaves beside the one before. Where there is none, the
 * place is dead: goes back, and takes a shorter token there. Text that takes uncommonly many turns is
 * merged instead, which bounds them whatever the image says. */
static Q25_NL_HOT q25_nl_status match_piece(job *work, const uint8_t *piece, size_t length)
{
    const q25_nl_encode_view *encode = work->encode;
    uint8_t few[FEW_PLACES / 8];
    uint8_t *dead = few; /* a bit for each place */
    size_t at, taken, first = work->n_ids, turns = TURNS_A_BYTE * length;
    uint32_t id;
    if (work->id_capacity < first || work->id_capacity - first < length) {
        return merge_piece(work, piece, length); /* going back reads the ids that were put out */
    }
    if (length >= FEW_PLACES) {
        if (!reserve(work, work->scratch_used + length / 8 + 1)) {
            return pass_over(work, length);
        }
        dead = work->scratch + work->scratch_used;
    }
    for (at = 0; at <= length / 8; at++) {
        dead[at] = 0;
        Q25_NL_PLAIN_LOOP();
        Q25_NL_STEP();
    }
    at = 0;
    id = longest_token(encode, piece, length, &taken, &turns);
    /* Of what the image says nothing is taken for granted: neither ids, nor that lengths agree. */
    while (turns != 0 && id < encode->n_merges + 256 && taken <= length - at && work->n_ids - first <= at) {
        size_t end = at + taken;
        turns--;
        if (taken == 0 && work->n_ids != first) {
            dead[at >> 3] |= (uint8_t)(1u << (at & 7));
            id = work->ids[--work->n_ids];
            end = token_length(work->bundle, id);
            at = end <= at ? at - end : 0;
            id = shorter_token(encode, id, &taken);
        } else if (taken == 0) {
            break;
        } else if ((dead[end >> 3] >> (end & 7) & 1) != 0
                   || (work->n_ids != first && !is_border(work, work->ids[work->n_ids - 1], id, &turns))) {
            id = shorter_token(encode, id, &taken);
        } else {
            put_id(work, id);
            at = end;
            if (at == length) {
                return Q25_NL_OK;
            }
            id = longest_token(encode, piece + at, length - at, &taken, &turns);
        }
    }
    work->n_ids = first;
    return merge_piece(work, piece, length);
}

#endif

/* ---- Encoding ---------------------------------------------------------------------------------- */

static Q25_NL_INLINE q25_nl_status encode_piece(job *work, const uint8_t *piece, size_t length)
{
#ifndef Q25_NL_NO_FAST
    if (work->encode->trie != NULL) {
        return match_piece(work, piece, length);
    }
#endif
    return merge_piece(work, piece, length);
}

/* A short piece that the text had before is not encoded again: its ids are copied from the output. What is
 * kept of a piece are four words: where it is in the text, its length, where its ids are, their number;
 * each at the one place that the hash of its bytes gives. */
#define KEPT_PIECE 16u

static Q25_NL_INLINE q25_nl_status repeat_piece(job *work, const uint8_t *piece, size_t length)
{
    uint32_t hash = 0;
    word *kept;
    size_t place, first = work->n_ids;
    q25_nl_status status;
    for (place = 0; place < length; place++) {
        hash = (hash << 5 | hash >> 27) ^ piece[place];
        Q25_NL_STEP();
    }
    kept = work->pieces + 4 * (size_t)(hash * 0x9E3779B1u >> work->pieces_shift);
    if (kept[1] == length) {
        const uint8_t *before = work->text + kept[0];
        for (place = 0; place < length && before[place] == piece[place]; place++) {
            Q25_NL_STEP();
        }
        if (place == length) {
            for (place = 0; place < kept[3]; place++) {
                put_id(work, work->ids[kept[2] + place]);
            }
            return Q25_NL_OK;
        }
    }
    status = encode_piece(work, piece, length);
    if (work->n_ids <= work->id_capacity) {
        kept[0] = (word)(piece - work->text);
        kept[1] = (word)length;
        kept[2] = (word)first;
        kept[3] = (word)(work->n_ids - first);
    }
    return status;
}

/* Encodes text that needs no change: a part of the caller's, or a copy. Notes the piece that fails. */
static Q25_NL_HOT q25_nl_status encode_pieces(job *work, const uint8_t *text, size_t at, size_t end)
{
    size_t longest = work->done->longest_piece;
    work->done->n_bytes += end - at;
    work->done->n_merges += end - at + work->n_ids; /* each makes one token of two */
    while (at < end) {
        size_t next = piece_end(text, at, end);
        size_t length = next - at;
        q25_nl_status status;
        if (length > longest) {
            longest = length;
        }
        if (length <= KEPT_PIECE && work->pieces != NULL && text == work->text) {
            status = repeat_piece(work, text + at, length);
        } else {
            status = encode_piece(work, text + at, length);
        }
        if (status != Q25_NL_OK) {
            work->done->error_offset = at;
            return status;
        }
        at = next;
    }
    work->done->n_merges -= work->n_ids;
    work->done->longest_piece = longest;
    return Q25_NL_OK;
}

/* The kind of a character to this image, which may do without NFC. */
static uint32_t kind_in_text(const job *work, uint32_t code)
{
    return (work->encode->flags & FLAG_NFC) != 0 ? kind_of(code) : 0u;
}

/* Decodes a character of the text. Invalid UTF-8 is replaced or, where it is not to be, an error, of which
 * the place is noted. */
static Q25_NL_COLD q25_nl_status take(job *work, size_t at, size_t end, uint32_t *code, size_t *length)
{
    *length = decode(work->text + at, end - at, code);
    if (is_invalid(*code)) {
        if ((work->flags & Q25_NL_REPLACE_INVALID) == 0) {
            work->done->error_offset = at;
            return Q25_NL_INVALID_UTF8;
        }
        *code = REPLACEMENT;
    }
    return Q25_NL_OK;
}

/* Whether two or three bytes, in the form of UTF-8, are a boundary that NFC leaves alone. */
static Q25_NL_INLINE int is_settled(const uint8_t *at, size_t length)
{
    uint32_t code = decode_short(at, length);
    return (length == 2 || (code >= 0x800 && code - 0xD800 >= 0x800)) && is_boundary(kind_in_table(code));
}

/* Goes on over valid UTF-8 of settled characters. Sets `last` to the place of the last one. */
static Q25_NL_HOT size_t skip_settled(const uint8_t *text, size_t at, size_t end, size_t *last)
{
    while (at < end) {
        uint32_t lead = q25_nl_lead[text[at]];
        size_t length = lead >> LENGTH_SHIFT;
        if (length == 1) {
            if (text[at] >= 0x80) {
                break;
            }
            while (((uintptr_t)(text + at) & 7u) == 0 && end - at > 8
                   && (*(const two_words *)(const void *)(text + at) & 0x8080808080808080u) == 0
                   && text[at + 8] < 0x80) {
                at += 8;
                Q25_NL_STEP();
            }
        } else if (length > end - at || (text[at + 1] & 0xC0u) != 0x80
                   || (text[at + length - 1] & 0xC0u) != 0x80
                   || ((lead & SETTLED) == 0 && (length == 4 || !is_settled(text + at, length)))) {
            break;
        }
        *last = at;
        at += length;
        Q25_NL_STEP();
    }
    return at;
}

/* Looks from `at` on for what must be changed before text is split: what NFC may change, or invalid
 * UTF-8. `change` is set to the start of the unit that it is in, or to `end`. */
static Q25_NL_HOT q25_nl_status find_change(job *work, size_t at, size_t end, size_t *change)
{
    uint32_t last_order = 0;
    size_t before = at; /* where the last character begins, or this one if it is the first */
    *change = at;
    while (at < end) {
        uint32_t code, kind;
        size_t length, last = end;
        at = skip_settled(work->text, at, end, &last);
        if (last != end) {
            *change = before = last;
            last_order = 0;
            if (at == end) {
                break;
            }
        }
        length = decode(work->text + at, end - at, &code);
        if (is_invalid(code)) {
            *change = at;
            return take(work, at, end, &code, &length);
        }
        kind = kind_in_text(work, code);
        if (is_boundary(kind)) {
            *change = at;
            last_order = 0;
        } else if (kind >= Q25_NL_FIRST_DECOMPOSED) {
            return Q25_NL_OK;
        } else {
            uint32_t order = q25_nl_mark_order[kind];
            int joins = kind == KIND_JAMO || q25_nl_mark_pairs[kind] != q25_nl_mark_pairs[kind + 1];
            if (order != 0 && order < last_order) {
                return Q25_NL_OK;
            }
            if (joins && at != before) {
                /* It only joins the character before if it joins just that one: behind a mark or a
                 * composite it is not so easy to tell. */
                uint32_t first = decode_valid(work->text + before);
                if (composite_of(first, code) != 0
                    || (order != 0 && (last_order != 0 || kind_of(first) != 0))) {
                    return Q25_NL_OK;
                }
            }
            last_order = order;
        }
        before = at;
        at += length;
        Q25_NL_STEP();
    }
    *change = end;
    return Q25_NL_OK;
}

/* What must be changed is changed in a copy, which should be short: of a line. Whatever else a text holds,
 * the rule ends a piece behind a line end that is not followed by white space, and NFC changes nothing
 * across that place. Whether it is there; white space begins with 09..20, C2, E1, E2 or E3. */
static int is_line_start(const uint8_t *text, size_t at)
{
    uint32_t lead = text[at];
    return text[at - 1] == '\n' && lead > ' ' && lead != 0xC2 && (lead < 0xE1 || lead > 0xE3);
}

/* Copies a part of the text into the scratch, replacing invalid UTF-8 and composing, a unit at a time: a
 * boundary character with what follows up to the next one. Sets the length of the copy, or NOWHERE for
 * want of scratch. The unit is decomposed behind what is written: a character takes a word there and no
 * more bytes when it is written, so what is written never reaches what is still to be read. */
#define NOWHERE (~(size_t)0)
#define MOST_GROWTH 3u /* of a byte that is replaced; of a character that NFC takes apart */

static Q25_NL_COLD q25_nl_status copy_changed(job *work, size_t at, size_t end, size_t *copied)
{
    size_t written = 0;
    *copied = NOWHERE;
    while (at < end) {
        size_t begin, count = 0, number, length = at;
        word *unit;
        skip_settled(work->text, at, end, &length);
        if (!reserve(work, written + (length - at))) {
            return Q25_NL_OK;
        }
        for (; at < length; at++) { /* all but the last settled character, which is in a unit */
            work->scratch[written++] = work->text[at];
            Q25_NL_PLAIN_LOOP();
            Q25_NL_STEP();
        }
        begin = aligned(written);
        unit = (word *)(void *)(work->scratch + begin);
        for (; at < end; at += length) {
            uint32_t code;
            q25_nl_status status = take(work, at, end, &code, &length);
            if (status != Q25_NL_OK) {
                return status;
            }
            if (count != 0 && is_boundary(kind_in_text(work, code))) {
                break;
            }
            if (!reserve(work, begin + 8 * (count + MAX_PARTS))) {
                return Q25_NL_OK;
            }
            if ((work->encode->flags & FLAG_NFC) != 0) {
                count += decompose(code, unit + count);
            } else {
                unit[count++] = code;
            }
            Q25_NL_STEP();
        }
        order_marks(unit, count);
        count = compose(unit, count);
        for (number = 0; number < count; number++) {
            written += put_utf8(work->scratch + written, unit[number] & CODE_MASK);
            Q25_NL_STEP();
        }
    }
    *copied = written;
    return Q25_NL_OK;
}

static Q25_NL_COLD q25_nl_status encode_changed(job *work, size_t at, size_t end)
{
    size_t copied;
    q25_nl_status status = copy_changed(work, at, end, &copied);
    if (status != Q25_NL_OK) {
        return status;
    }
    if (copied == NOWHERE) {
        size_t length, enough = Q25_NL_SCRATCH_BYTES(end - at), most = MOST_GROWTH * (end - at);
        uint32_t code;
        if (work->done->scratch_needed < enough) {
            work->done->scratch_needed = enough;
        }
        for (; at < end && status == Q25_NL_OK; at += length) {
            status = take(work, at, end, &code, &length); /* invalid UTF-8 is reported all the same */
            Q25_NL_STEP();
        }
        return status == Q25_NL_OK ? pass_over(work, most) : status;
    }
    work->scratch_used = aligned(copied);
    status = encode_pieces(work, work->scratch, 0, copied);
    work->scratch_used = 0;
    if (status != Q25_NL_OK) {
        work->done->error_offset = at;
    }
    return status;
}

/* Encodes text between special tokens. */
static Q25_NL_COLD q25_nl_status encode_stretch(job *work, size_t at, size_t end)
{
    q25_nl_status status = Q25_NL_OK;
    while (at < end && status == Q25_NL_OK) {
        size_t change, line;
        status = find_change(work, at, end, &change);
        if (status != Q25_NL_OK) {
            break;
        }
        line = change;
        if (change != end) {
            while (line != at && !is_line_start(work->text, line)) {
                line--;
                Q25_NL_STEP();
            }
        }
        status = encode_pieces(work, work->text, at, line);
        at = line;
        if (at != end && status == Q25_NL_OK) {
            do {
                at++;
                Q25_NL_STEP();
            } while (at < end && (at <= change || !is_line_start(work->text, at)));
            status = encode_changed(work, line, at);
        }
    }
    return status;
}

static q25_nl_status encode_text(job *work)
{
    size_t at = 0, end;
    while (at < work->text_bytes) {
        uint32_t id;
        size_t begin = find_special(work, at, &end, &id);
        q25_nl_status status = encode_stretch(work, at, begin);
        if (status != Q25_NL_OK) {
            return status;
        }
        if (id != NONE) {
            put_id(work, id);
            work->done->n_bytes += token_length(work->bundle, id);
        }
        at = end;
    }
    if (work->lacks_scratch) {
        return Q25_NL_SCRATCH_TOO_SMALL;
    }
    return work->n_ids > work->id_capacity ? Q25_NL_OUTPUT_TOO_SMALL : Q25_NL_OK;
}

Q25_NL_COLD
size_t q25_nl_tokenizer_scratch_bytes(size_t text_bytes)
{
    return Q25_NL_SCRATCH_BYTES(text_bytes);
}

Q25_NL_COLD
q25_nl_status q25_nl_tokenizer_bundle_encode_bpe_bounded(const q25_nl_bundle_view *bundle,
                                                         const q25_nl_encode_view *encode,
                                                         const uint8_t *text, size_t text_bytes,
                                                         uint32_t flags, void *scratch,
                                                         size_t scratch_bytes, uint32_t *ids,
                                                         size_t id_capacity,
                                                         q25_nl_encode_statistics *statistics)
{
    job work;
    q25_nl_encode_statistics ignored;
    q25_nl_status status;
    work.done = statistics != NULL ? statistics : &ignored;
    work.done->n_ids = work.done->n_merges = work.done->n_bytes = 0;
    work.done->longest_piece = work.done->scratch_needed = work.done->error_offset = 0;
    if (bundle == NULL || encode == NULL || (text == NULL && text_bytes != 0)
        || (scratch == NULL && scratch_bytes != 0) || (ids == NULL && id_capacity != 0)
        || (flags & ~Q25_NL_REPLACE_INVALID) > Q25_NL_SPECIALS_ALL) {
        return Q25_NL_BAD_ARGUMENT;
    }
    if (encode->readiness != Q25_NL_OK) {
        return encode->readiness;
    }
    if (text_bytes > Q25_NL_MAX_TEXT_BYTES) {
        return Q25_NL_TEXT_TOO_LONG;
    }
    work.bundle = bundle;
    work.encode = encode;
    work.text = text;
    work.text_bytes = text_bytes;
    work.flags = flags;
    work.lacks_scratch = 0;
    work.ids = ids;
    work.id_capacity = id_capacity;
    work.n_ids = 0;
    work.scratch = (uint8_t *)(void *)work.small_cache; /* of which nothing is used */
    work.scratch_bytes = 0;
    if (scratch_bytes >= SCRATCH_ALIGN) {
        /* As if it began at the worst place, so that what is needed is the same anywhere. */
        work.scratch = (uint8_t *)scratch + (aligned((uintptr_t)scratch) - (uintptr_t)scratch);
        work.scratch_bytes = (scratch_bytes - (SCRATCH_ALIGN - 1)) & ~(size_t)(SCRATCH_ALIGN - 1);
    }
    work.scratch_used = 0;
    prepare_cache(&work);
    prepare_specials(&work);
    status = encode_text(&work);
    if (status == Q25_NL_OK || status == Q25_NL_OUTPUT_TOO_SMALL) {
        work.done->n_ids = work.n_ids;
    }
    return status;
}

/* ---- Detokenizing ------------------------------------------------------------------------------ */

Q25_NL_COLD
int q25_nl_tokenizer_is_end_id(const q25_nl_bundle_view *bundle, uint32_t id)
{
    uint32_t at;
    for (at = 0; at < Q25_NL_MAX_END_IDS; at++) {
        if (bundle->header->end_ids[at] == id) { /* those not used are NONE */
            return id != NONE;
        }
    }
    return 0;
}

/* Begins with the bytes of an id, none for padding and for what is to be left out. */
static q25_nl_status read_shown(const q25_nl_bundle_view *bundle, uint32_t id, uint32_t flags,
                                token_reader *reader)
{
    uint32_t type;
    reader->stored = bundle->token_bytes;
    reader->left = 0;
    if (id >= bundle->n_tokens) {
        return Q25_NL_UNKNOWN_ID;
    }
    type = token_type(bundle, id);
    if (id < bundle->first_pad_id
        && ((flags & Q25_NL_SKIP_CONTROL) == 0 || (type != TYPE_CONTROL && type != TYPE_UNKNOWN))
        && !read_token(bundle, id, reader)) {
        return Q25_NL_IMAGE_DAMAGED;
    }
    return Q25_NL_OK;
}

/* Puts the bytes of a token behind those that are there, of which there may be more than room. */
static Q25_NL_INLINE q25_nl_status put_text(const q25_nl_bundle_view *bundle, token_reader *reader,
                                            uint8_t *text, size_t capacity, size_t *n_bytes)
{
    const uint8_t *stored = reader->stored;
    size_t at = *n_bytes;
    *n_bytes += reader->left;
#ifndef Q25_NL_NO_COMPACT
    if (stored == NULL) {
        uint32_t byte = next_made_byte(bundle, reader);
        for (; byte < ENDED; byte = next_made_byte(bundle, reader)) {
            if (at < capacity) {
                text[at] = (uint8_t)byte;
            }
            at++;
        }
        *n_bytes = at;
        return byte == DAMAGED ? Q25_NL_IMAGE_DAMAGED : Q25_NL_OK;
    }
#endif
    (void)bundle;
    for (; at < *n_bytes; at++) {
        if (at < capacity) {
            text[at] = *stored++;
            Q25_NL_PLAIN_LOOP();
        }
    }
    return Q25_NL_OK;
}

/* Makes the bytes still to come exact, of what is taken apart too. */
static q25_nl_status count_bytes(const q25_nl_bundle_view *bundle, uint32_t id, token_reader *reader)
{
#ifndef Q25_NL_NO_COMPACT
    if (reader->stored == NULL) {
        uint32_t most = reader->left, byte;
        do {
            byte = next_byte(bundle, reader);
        } while (byte < ENDED);
        most -= reader->left;
        read_token(bundle, id, reader);
        reader->left = most;
        return byte == DAMAGED ? Q25_NL_IMAGE_DAMAGED : Q25_NL_OK;
    }
#endif
    (void)bundle;
    (void)id;
    (void)reader;
    return Q25_NL_OK;
}

Q25_NL_COLD
q25_nl_status q25_nl_tokenizer_bundle_detokenize(const q25_nl_bundle_view *bundle, const uint32_t *ids,
                                                 size_t n_ids, uint32_t flags, uint8_t *text,
                                                 size_t text_capacity,
                                                 q25_nl_detokenize_statistics *statistics)
{
    q25_nl_status status = Q25_NL_OK;
    size_t at, n_bytes = 0;
    if (bundle == NULL || (ids == NULL && n_ids != 0) || (text == NULL && text_capacity != 0)
        || flags > (Q25_NL_SKIP_CONTROL | Q25_NL_STOP_AT_END)) {
        status = Q25_NL_BAD_ARGUMENT;
        n_ids = 0;
    }
    for (at = 0; at < n_ids; at++) {
        token_reader reader;
        if ((flags & Q25_NL_STOP_AT_END) != 0 && q25_nl_tokenizer_is_end_id(bundle, ids[at])) {
            break;
        }
        status = read_shown(bundle, ids[at], flags, &reader);
        if (status == Q25_NL_OK) {
            status = put_text(bundle, &reader, text, text_capacity, &n_bytes);
        }
        if (status != Q25_NL_OK) {
            n_bytes = 0;
            break;
        }
    }
    if (statistics != NULL) {
        statistics->n_bytes = n_bytes;
        statistics->n_read = at;
    }
    return n_bytes > text_capacity ? Q25_NL_OUTPUT_TOO_SMALL : status;
}

Q25_NL_COLD
q25_nl_status q25_nl_tokenizer_stream_id(const q25_nl_bundle_view *bundle, q25_nl_text_stream *stream,
                                         uint32_t id, uint32_t flags, uint8_t *text,
                                         size_t text_capacity, size_t *n_bytes)
{
    token_reader reader;
    uint32_t byte, place;
    size_t ready = 0;
    q25_nl_status status;
    if (bundle == NULL || stream == NULL || n_bytes == NULL || (text == NULL && text_capacity != 0)
        || flags > Q25_NL_SKIP_CONTROL || stream->n_held > 3) {
        return Q25_NL_BAD_ARGUMENT;
    }
    status = read_shown(bundle, id, flags, &reader);
    if (status == Q25_NL_OK) {
        status = count_bytes(bundle, id, &reader);
    }
    *n_bytes = stream->n_held + reader.left;
    if (status == Q25_NL_OK && *n_bytes > text_capacity) {
        status = Q25_NL_OUTPUT_TOO_SMALL;
    }
    if (status != Q25_NL_OK) {
        return status;
    }
    while ((byte = next_byte(bundle, &reader)) < ENDED) {
        stream->held[stream->n_held++] = (uint8_t)byte;
        while (stream->n_held != 0) {
            uint32_t code, done = (uint32_t)decode(stream->held, stream->n_held, &code);
            if (code == UNFINISHED) {
                break;
            }
            for (place = 0; place < stream->n_held; place++) {
                if (place < done) {
                    text[ready++] = stream->held[place];
                } else {
                    stream->held[place - done] = stream->held[place];
                }
            }
            stream->n_held -= done;
        }
    }
    *n_bytes = ready;
    return Q25_NL_OK;
}

Q25_NL_COLD
q25_nl_status q25_nl_tokenizer_stream_finish(q25_nl_text_stream *stream, uint8_t *text,
                                             size_t text_capacity, size_t *n_bytes)
{
    uint32_t at;
    if (stream == NULL || n_bytes == NULL || (text == NULL && text_capacity != 0) || stream->n_held > 3) {
        return Q25_NL_BAD_ARGUMENT;
    }
    *n_bytes = stream->n_held;
    if (stream->n_held > text_capacity) {
        return Q25_NL_OUTPUT_TOO_SMALL;
    }
    for (at = 0; at < stream->n_held; at++) {
        text[at] = stream->held[at];
        Q25_NL_PLAIN_LOOP();
    }
    stream->n_held = 0;
    return Q25_NL_OK;
}

/* ---- Without an image -------------------------------------------------------------------------- */

Q25_NL_COLD
q25_nl_status q25_tokenize_utf8_bytes(const char *text, uint32_t *ids, size_t id_capacity,
                                      size_t *n_ids)
{
    size_t at;
    if (text == NULL || n_ids == NULL || (ids == NULL && id_capacity != 0)) {
        return Q25_NL_BAD_ARGUMENT;
    }
    for (at = 0; text[at] != 0; at++) {
        if (at < id_capacity) {
            ids[at] = q25_nl_byte_id[(uint8_t)text[at]];
        }
    }
    *n_ids = at;
    return at > id_capacity ? Q25_NL_OUTPUT_TOO_SMALL : Q25_NL_OK;
}

Q25_NL_COLD
q25_nl_status q25_detokenize_utf8_bytes(const uint32_t *ids, size_t n_ids, char *text,
                                        size_t text_capacity, size_t *n_bytes)
{
    size_t at;
    if (n_bytes == NULL || (ids == NULL && n_ids != 0) || (text == NULL && text_capacity != 0)) {
        return Q25_NL_BAD_ARGUMENT;
    }
    for (at = 0; at < n_ids; at++) {
        uint8_t byte = q25_nl_id_byte[ids[at] & 0xFF];
        *n_bytes = at;
        if (ids[at] >= 256) {
            return Q25_NL_NOT_A_BYTE_TOKEN;
        }
        if (byte == 0) {
            return Q25_NL_NUL_BYTE;
        }
        if (at < text_capacity) {
            text[at] = (char)byte;
        }
    }
    *n_bytes = n_ids;
    if (n_ids >= text_capacity) {
        return Q25_NL_OUTPUT_TOO_SMALL;
    }
    text[n_ids] = 0;
    return Q25_NL_OK;
}

/* ---- Names of status codes --------------------------------------------------------------------- */

Q25_NL_COLD
const char *q25_nl_status_name(q25_nl_status status)
{
    /* In the order of their values, which are those of three runs. */
    static const char names[] =
        "OK\0" "BAD_ARGUMENT\0" "TEXT_TOO_LONG\0" "INVALID_UTF8\0" "SCRATCH_TOO_SMALL\0"
        "OUTPUT_TOO_SMALL\0" "UNKNOWN_PRETOKENIZER\0" "OTHER_UNICODE_TABLES\0"
        "BYTE_WITHOUT_TOKEN\0" "UNKNOWN_ID\0" "NOT_A_BYTE_TOKEN\0" "NUL_BYTE\0" "IMAGE_DAMAGED\0"
        "TOO_MANY_TOKENS\0"
        "IMAGE_MISALIGNED\0" "IMAGE_TOO_SMALL\0" "BAD_MAGIC\0" "BAD_MAJOR_VERSION\0"
        "BAD_HEADER_BYTES\0" "BAD_TOTAL_BYTES\0" "BAD_SECTION_COUNT\0" "BAD_DIRECTORY_SIZE\0"
        "BAD_HEADER_CRC\0" "BAD_PROFILE\0" "BAD_FLAGS\0" "BAD_SECTION_ALIGN\0" "BAD_TOTAL_ALIGN\0"
        "BAD_N_TOKENS\0" "BAD_N_BASE\0" "BAD_N_ADDED\0" "BAD_N_MERGES\0" "BAD_MAX_TOKEN_BYTES\0"
        "BAD_MAX_PROBE\0" "BAD_HASH_SEED\0" "BAD_PRE_NAME\0" "BAD_BOS_ID\0" "BAD_EOS_ID\0"
        "BAD_PAD_ID\0" "BAD_N_END_IDS\0" "BAD_END_ID\0" "BAD_FIRST_PAD_ID\0" "BAD_HEADER_RESERVED\0"
        "BAD_ENTRY_FLAGS\0" "BAD_ENTRY_RESERVED\0" "BAD_SECTION_OFFSET\0" "BAD_SECTION_LENGTH\0"
        "UNKNOWN_SECTION\0" "REPEATED_SECTION\0" "BAD_RECORD_BYTES\0" "BAD_RECORD_COUNT\0"
        "MISSING_SECTION\0" "BAD_IMAGE_END\0"
        "BAD_PADDING\0" "BAD_SECTION_CRC\0" "BAD_TOKEN_OFFSET\0" "BAD_TOKEN_TYPE\0"
        "BAD_TOKEN_BYTES\0" "WRONG_N_BASE\0" "WRONG_MAX_TOKEN_BYTES\0" "NORMAL_PAD\0"
        "BAD_MERGE_RANK\0" "BAD_MERGE_ID\0" "BAD_MERGE_BYTES\0" "WRONG_RANK_FLAG\0"
        "BAD_BYTE_TOKEN\0" "BAD_PAIR_SLOTS\0" "BAD_PAIR_SLOT\0" "REPEATED_PAIR\0" "MISSING_PAIR\0"
        "WRONG_MAX_PROBE\0" "BAD_SPECIAL_ID\0" "BAD_SPECIAL_ORDER\0" "MISSING_SPECIAL\0"
        "BAD_SPECIAL_BITMAP\0" "BAD_DERIVATION\0" "BAD_TRIE_TOKEN\0" "BAD_TRIE_SLOTS\0" "BAD_PREFIX\0"
        "BAD_BYTE_VALUE\0" "BAD_MERGE_DEPTH\0" "BAD_MADE_BYTES\0" "BAD_PAIR_MULTIPLIER\0"
        "BAD_PAIR_BITMAP\0";
    uint32_t value = (uint32_t)status;
    const char *name = names;
    uint32_t skip;
    if (value <= Q25_NL_TOO_MANY_TOKENS) {
        skip = value;
    } else if (value - Q25_NL_IMAGE_MISALIGNED <= Q25_NL_BAD_IMAGE_END - Q25_NL_IMAGE_MISALIGNED) {
        skip = value - Q25_NL_IMAGE_MISALIGNED + Q25_NL_TOO_MANY_TOKENS + 1;
    } else if (value - Q25_NL_BAD_PADDING <= Q25_NL_BAD_PAIR_BITMAP - Q25_NL_BAD_PADDING) {
        skip = value - Q25_NL_BAD_PADDING + Q25_NL_BAD_IMAGE_END - Q25_NL_IMAGE_MISALIGNED
               + Q25_NL_TOO_MANY_TOKENS + 2;
    } else {
        return "UNKNOWN_STATUS";
    }
    for (; skip > 0; skip--) {
        while (*name++ != 0) {
        }
    }
    return name;
}
