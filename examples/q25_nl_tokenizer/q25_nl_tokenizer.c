/* q25_nl_tokenizer: see q25_nl_tokenizer.h for what it does and README.md for how to build it in.
 *
 * In order: reading words; CRC-32; opening an image; verifying one; UTF-8; character classes and the
 * Qwen2 rule; NFC; special tokens; merges; encoding; detokenizing; the byte fallback.
 *
 * Opening proves nothing about the sections, so whatever is read from one is checked before it is used
 * as an index, and no loop runs on what a section says alone.
 */
#include "q25_nl_tokenizer.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Q25TOKRT images are read in place: this needs a little-endian machine"
#endif

/* The image and the scratch are bytes to the caller and words here. */
#if defined(__GNUC__)
typedef uint32_t __attribute__((__may_alias__)) word;
typedef uint64_t __attribute__((__may_alias__)) two_words;
#define Q25_NL_NOINLINE __attribute__((__noinline__))
/* Keeps a compiler from making a call to memcpy or memset of a loop. */
#define Q25_NL_PLAIN_LOOP() __asm__ volatile("")
#else
typedef uint32_t word;
typedef uint64_t two_words;
#define Q25_NL_NOINLINE
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

/* ---- Reading words ----------------------------------------------------------------------------- */

static uint32_t word_at(const uint8_t *base, size_t offset)
{
    return *(const word *)(const void *)(base + offset);
}

static uint32_t half_at(const uint8_t *base, size_t offset)
{
    uint32_t both = word_at(base, offset & ~(size_t)3);
    return (offset & 2u) ? both >> 16 : both & 0xFFFFu;
}

/* ---- CRC-32 ------------------------------------------------------------------------------------ */

/* Continues a CRC-32 (that of zlib) over bytes that begin on a multiple of 4. Begin with 0. */
static uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t length)
{
    size_t at = 0;
    crc = ~crc;
#ifdef Q25_NL_CRC_INSTRUCTIONS
    for (; length - at >= 4; at += 4) {
        crc = __crc32w(crc, word_at(bytes, at));
    }
    for (; at < length; at++) {
        crc = __crc32b(crc, bytes[at]);
    }
#else
    for (; length - at >= 4; at += 4) {
        crc ^= word_at(bytes, at);
        crc = q25_nl_crc[768 + (crc & 0xFF)] ^ q25_nl_crc[512 + (crc >> 8 & 0xFF)]
              ^ q25_nl_crc[256 + (crc >> 16 & 0xFF)] ^ q25_nl_crc[crc >> 24];
    }
    for (; at < length; at++) {
        crc = crc >> 8 ^ q25_nl_crc[(crc ^ bytes[at]) & 0xFF];
    }
#endif
    return ~crc;
}

/* ---- Opening an image -------------------------------------------------------------------------- */

/* Offsets of the header's fields, and of a directory entry's. */
enum {
    H_MAJOR = 8,
    H_MINOR = 10,
    H_HEADER_BYTES = 12,
    H_TOTAL_BYTES = 16,
    H_FLAGS = 20,
    H_SECTION_COUNT = 24,
    H_SECTION_ALIGN = 28,
    H_N_TOKENS = 32,
    H_N_BASE = 36,
    H_N_ADDED = 40,
    H_N_MERGES = 44,
    H_MAX_TOKEN_BYTES = 48,
    H_MAX_PROBE = 52,
    H_HASH_SEED = 56,
    H_PRE_NAME = 64,
    H_CLASS_TABLES = 96,
    H_NFC_TABLES = 100,
    H_BOS_ID = 104,
    H_EOS_ID = 108,
    H_PAD_ID = 112,
    H_N_END_IDS = 116,
    H_END_IDS = 120,
    H_SOURCE_SHA256 = 152,
    H_FIRST_PAD_ID = 184,
    H_RESERVED = 188,
    H_CRC32 = 252,
    HEADER_BYTES = 256,

    E_KIND = 0,
    E_FLAGS = 4,
    E_RECORD_BYTES = 8,
    E_OFFSET = 12,
    E_LENGTH = 16,
    E_COUNT = 20,
    E_CRC32 = 24,
    E_RESERVED = 28,
    ENTRY_BYTES = 32
};

#define MAX_SECTIONS 32u
#define MAX_MERGES 0x3FFFEu
#define PRE_NAME_BYTES 32u
#define TOKEN_RECORD_BYTES 8u
#define MERGE_RECORD_BYTES 16u
#define BITMAP_BYTES 32u

#define FLAG_RANK_IS_OUT_ID 1u
#define FLAG_NFC 2u
#define FLAG_SAMPLE 4u
#define FLAG_PROFILE 0xF00u

/* Token types, as GGUF numbers them. */
enum { TYPE_NORMAL = 1, TYPE_UNKNOWN = 2, TYPE_CONTROL = 3, TYPE_USER_DEFINED = 4, TYPE_LAST = 6 };

/* The sections of an image by kind: places of their directory entries, 0 where there is none. */
typedef struct sections {
    const uint8_t *image;
    uint32_t entry[Q25_NL_SECTION_KINDS];
} sections;

static uint32_t section_field(const sections *known, uint32_t kind, uint32_t field)
{
    return word_at(known->image, known->entry[kind] + field);
}

static const uint8_t *section_bytes(const sections *known, uint32_t kind)
{
    return known->image + section_field(known, kind, E_OFFSET);
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

/* What makes it worth looking at the rest: size, version, checksum. */
static q25_nl_status check_frame(const uint8_t *image, size_t image_bytes)
{
    static const uint8_t magic[8] = {'Q', '2', '5', 'T', 'O', 'K', 'R', 'T'};
    uint32_t total, count, directory_end, at;
    if (((uintptr_t)image & (Q25_NL_IMAGE_ALIGN - 1u)) != 0) {
        return Q25_NL_IMAGE_MISALIGNED;
    }
    if (image_bytes < HEADER_BYTES) {
        return Q25_NL_IMAGE_TOO_SMALL;
    }
    for (at = 0; at < sizeof magic; at++) {
        if (image[at] != magic[at]) {
            return Q25_NL_BAD_MAGIC;
        }
    }
    if (half_at(image, H_MAJOR) != 1) {
        return Q25_NL_BAD_MAJOR_VERSION;
    }
    if (word_at(image, H_HEADER_BYTES) != HEADER_BYTES) {
        return Q25_NL_BAD_HEADER_BYTES;
    }
    total = word_at(image, H_TOTAL_BYTES);
    if (total != image_bytes) {
        return Q25_NL_BAD_TOTAL_BYTES;
    }
    count = word_at(image, H_SECTION_COUNT);
    if (count < Q25_NL_SECTION_KINDS - 1 || count > MAX_SECTIONS) {
        return Q25_NL_BAD_SECTION_COUNT;
    }
    directory_end = HEADER_BYTES + count * ENTRY_BYTES;
    if (total < directory_end) {
        return Q25_NL_BAD_DIRECTORY_SIZE;
    }
    if (crc32_of(crc32_of(0, image, H_CRC32), image + HEADER_BYTES, count * ENTRY_BYTES)
        != word_at(image, H_CRC32)) {
        return Q25_NL_BAD_HEADER_CRC;
    }
    return Q25_NL_OK;
}

static int is_id_or_none(uint32_t id, uint32_t n_tokens)
{
    return id < n_tokens || id == NONE;
}

/* Printable ASCII, then at least one NUL to the end. */
static int is_pre_name(const uint8_t *name)
{
    uint32_t length = 0, at;
    while (length < PRE_NAME_BYTES && name[length] > 0x20 && name[length] < 0x7F) {
        length++;
    }
    if (length == PRE_NAME_BYTES) {
        return 0;
    }
    for (at = length; at < PRE_NAME_BYTES; at++) {
        if (name[at] != 0) {
            return 0;
        }
    }
    return 1;
}

static q25_nl_status check_header_ids(const uint8_t *image)
{
    uint32_t n_tokens = word_at(image, H_N_TOKENS);
    uint32_t n_end_ids = word_at(image, H_N_END_IDS);
    uint32_t at;
    if (!is_id_or_none(word_at(image, H_BOS_ID), n_tokens)) {
        return Q25_NL_BAD_BOS_ID;
    }
    if (!is_id_or_none(word_at(image, H_EOS_ID), n_tokens)) {
        return Q25_NL_BAD_EOS_ID;
    }
    if (!is_id_or_none(word_at(image, H_PAD_ID), n_tokens)) {
        return Q25_NL_BAD_PAD_ID;
    }
    if (n_end_ids > Q25_NL_MAX_END_IDS) {
        return Q25_NL_BAD_N_END_IDS;
    }
    for (at = 0; at < Q25_NL_MAX_END_IDS; at++) {
        uint32_t id = word_at(image, H_END_IDS + 4 * at);
        if (at < n_end_ids ? id >= n_tokens : id != NONE) {
            return Q25_NL_BAD_END_ID;
        }
    }
    if (word_at(image, H_FIRST_PAD_ID) > n_tokens) {
        return Q25_NL_BAD_FIRST_PAD_ID;
    }
    return Q25_NL_OK;
}

static q25_nl_status check_header(const uint8_t *image)
{
    uint32_t flags = word_at(image, H_FLAGS);
    uint32_t align = word_at(image, H_SECTION_ALIGN);
    uint32_t n_tokens = word_at(image, H_N_TOKENS);
    uint32_t n_base = word_at(image, H_N_BASE);
    uint32_t at;
    if ((flags & FLAG_PROFILE) != 0) {
        return Q25_NL_BAD_PROFILE;
    }
    if ((flags & ~(FLAG_RANK_IS_OUT_ID | FLAG_NFC | FLAG_SAMPLE)) != 0) {
        return Q25_NL_BAD_FLAGS;
    }
    if (align < 64 || align > 65536 || (align & (align - 1)) != 0) {
        return Q25_NL_BAD_SECTION_ALIGN;
    }
    if ((word_at(image, H_TOTAL_BYTES) & (align - 1)) != 0) {
        return Q25_NL_BAD_TOTAL_ALIGN;
    }
    if (n_tokens < 1) {
        return Q25_NL_BAD_N_TOKENS;
    }
    if (n_base > n_tokens) {
        return Q25_NL_BAD_N_BASE;
    }
    if (word_at(image, H_N_ADDED) > n_tokens - n_base) {
        return Q25_NL_BAD_N_ADDED;
    }
    if (word_at(image, H_N_MERGES) > MAX_MERGES) {
        return Q25_NL_BAD_N_MERGES;
    }
    if (word_at(image, H_MAX_TOKEN_BYTES) > 0xFFFFu) {
        return Q25_NL_BAD_MAX_TOKEN_BYTES;
    }
    if (word_at(image, H_MAX_PROBE) < 1 || word_at(image, H_MAX_PROBE) > 16) {
        return Q25_NL_BAD_MAX_PROBE;
    }
    if ((word_at(image, H_HASH_SEED) & 1) == 0) {
        return Q25_NL_BAD_HASH_SEED;
    }
    if (!is_pre_name(image + H_PRE_NAME)) {
        return Q25_NL_BAD_PRE_NAME;
    }
    for (at = H_RESERVED; at < H_CRC32; at += 4) {
        if (word_at(image, at) != 0) {
            return Q25_NL_BAD_HEADER_RESERVED;
        }
    }
    return check_header_ids(image);
}

/* Whether the length and the number of records of a known section are what its kind asks for. */
static q25_nl_status check_records(const uint8_t *image, const uint8_t *entry)
{
    static const uint8_t record_bytes[Q25_NL_SECTION_KINDS] = {0, 8, 0, 16, 4, 4, 0};
    uint32_t kind = word_at(entry, E_KIND);
    uint32_t length = word_at(entry, E_LENGTH);
    uint32_t count = word_at(entry, E_COUNT);
    uint32_t size = record_bytes[kind];
    int good;
    if (word_at(entry, E_RECORD_BYTES) != size) {
        return Q25_NL_BAD_RECORD_BYTES;
    }
    if (size != 0 && (uint64_t)size * count != length) {
        return Q25_NL_BAD_RECORD_COUNT;
    }
    switch (kind) {
    case Q25_NL_TOKEN_INDEX:
    case Q25_NL_TOKEN_BYTES:
        good = count == word_at(image, H_N_TOKENS);
        break;
    case Q25_NL_MERGE_TABLE:
        good = count == word_at(image, H_N_MERGES);
        break;
    case Q25_NL_BYTE_TOKEN_MAP:
        good = count == 256;
        break;
    case Q25_NL_MERGE_PAIR_INDEX:
        good = count >= 1u << home_bits(word_at(image, H_N_MERGES));
        break;
    default:
        good = count == word_at(image, H_N_ADDED) && length == BITMAP_BYTES + (uint64_t)4 * count;
        break;
    }
    return good ? Q25_NL_OK : Q25_NL_BAD_RECORD_COUNT;
}

/* Checks that the sections tile the image, and finds the known ones. */
static q25_nl_status check_directory(const uint8_t *image, sections *known)
{
    uint32_t total = word_at(image, H_TOTAL_BYTES);
    uint32_t align = word_at(image, H_SECTION_ALIGN);
    uint32_t count = word_at(image, H_SECTION_COUNT);
    uint64_t end = HEADER_BYTES + (uint64_t)count * ENTRY_BYTES;
    uint32_t number, kind;
    known->image = image;
    for (kind = 0; kind < Q25_NL_SECTION_KINDS; kind++) {
        known->entry[kind] = 0;
        Q25_NL_PLAIN_LOOP();
    }
    for (number = 0; number < count; number++) {
        uint32_t place = HEADER_BYTES + number * ENTRY_BYTES;
        const uint8_t *entry = image + place;
        q25_nl_status status;
        if (word_at(entry, E_FLAGS) > 1) {
            return Q25_NL_BAD_ENTRY_FLAGS;
        }
        if (word_at(entry, E_RESERVED) != 0) {
            return Q25_NL_BAD_ENTRY_RESERVED;
        }
        end = (end + align - 1) & ~((uint64_t)align - 1);
        if (word_at(entry, E_OFFSET) != end) {
            return Q25_NL_BAD_SECTION_OFFSET;
        }
        end += word_at(entry, E_LENGTH);
        if (end > total) {
            return Q25_NL_BAD_SECTION_LENGTH;
        }
        kind = word_at(entry, E_KIND);
        if (kind < 1 || kind >= Q25_NL_SECTION_KINDS) {
            if ((word_at(entry, E_FLAGS) & 1) == 0) {
                return Q25_NL_UNKNOWN_SECTION;
            }
            continue;
        }
        if (known->entry[kind] != 0) {
            return Q25_NL_REPEATED_SECTION;
        }
        status = check_records(image, entry);
        if (status != Q25_NL_OK) {
            return status;
        }
        known->entry[kind] = place;
    }
    for (kind = 1; kind < Q25_NL_SECTION_KINDS; kind++) {
        if (known->entry[kind] == 0) {
            return Q25_NL_MISSING_SECTION;
        }
    }
    if (((end + align - 1) & ~((uint64_t)align - 1)) != total) {
        return Q25_NL_BAD_IMAGE_END;
    }
    return Q25_NL_OK;
}

static q25_nl_status check_image(const uint8_t *image, size_t image_bytes, sections *known)
{
    q25_nl_status status = check_frame(image, image_bytes);
    if (status == Q25_NL_OK) {
        status = check_header(image);
    }
    if (status == Q25_NL_OK) {
        status = check_directory(image, known);
    }
    return status;
}

static void view_bundle(const sections *known, q25_nl_bundle_view *bundle)
{
    const uint8_t *image = known->image;
    uint32_t at;
    bundle->token_index = (const uint32_t *)(const void *)section_bytes(known, Q25_NL_TOKEN_INDEX);
    bundle->token_bytes = section_bytes(known, Q25_NL_TOKEN_BYTES);
    bundle->token_bytes_length = section_field(known, Q25_NL_TOKEN_BYTES, E_LENGTH);
    bundle->n_tokens = word_at(image, H_N_TOKENS);
    bundle->first_pad_id = word_at(image, H_FIRST_PAD_ID);
    bundle->n_end_ids = word_at(image, H_N_END_IDS);
    for (at = 0; at < Q25_NL_MAX_END_IDS; at++) {
        bundle->end_ids[at] = word_at(image, H_END_IDS + 4 * at);
        Q25_NL_PLAIN_LOOP();
    }
}

static int same_name(const uint8_t *name, const char *text)
{
    uint32_t at = 0;
    while (text[at] != 0 && name[at] == (uint8_t)text[at]) {
        at++;
    }
    return text[at] == 0 && name[at] == 0;
}

/* Whether encoding with this image gives the reference's ids. */
static q25_nl_status readiness(const uint8_t *image)
{
    const uint8_t *name = image + H_PRE_NAME;
    if (!same_name(name, "qwen2") && !same_name(name, "deepseek-r1-qwen")) {
        return Q25_NL_UNKNOWN_PRETOKENIZER;
    }
    if (word_at(image, H_CLASS_TABLES) != Q25_NL_CLASS_TABLES_VERSION
        || word_at(image, H_NFC_TABLES) != Q25_NL_NFC_TABLES_VERSION) {
        return Q25_NL_OTHER_UNICODE_TABLES;
    }
    return Q25_NL_OK;
}

static void view_encode(const sections *known, q25_nl_encode_view *encode)
{
    const uint8_t *image = known->image;
    const uint8_t *special = section_bytes(known, Q25_NL_SPECIAL_TOKEN_INDEX);
    encode->merge_table = (const uint32_t *)(const void *)section_bytes(known, Q25_NL_MERGE_TABLE);
    encode->byte_tokens = (const uint32_t *)(const void *)section_bytes(known, Q25_NL_BYTE_TOKEN_MAP);
    encode->pair_slots = (const uint32_t *)(const void *)section_bytes(known, Q25_NL_MERGE_PAIR_INDEX);
    encode->special_first_bytes = special;
    encode->special_ids = (const uint32_t *)(const void *)(special + BITMAP_BYTES);
    encode->hash_seed = word_at(image, H_HASH_SEED) | (uint64_t)word_at(image, H_HASH_SEED + 4) << 32;
    encode->n_merges = word_at(image, H_N_MERGES);
    encode->n_pair_slots = section_field(known, Q25_NL_MERGE_PAIR_INDEX, E_COUNT);
    encode->home_mask = (1u << home_bits(encode->n_merges)) - 1;
    encode->max_probe = word_at(image, H_MAX_PROBE);
    encode->n_specials = word_at(image, H_N_ADDED);
    encode->nfc = (word_at(image, H_FLAGS) & FLAG_NFC) != 0;
    encode->readiness = readiness(image);
}

static void describe_image(const sections *known, q25_nl_image_info *info)
{
    const uint8_t *image = known->image;
    uint32_t at;
    info->major = (uint16_t)half_at(image, H_MAJOR);
    info->minor = (uint16_t)half_at(image, H_MINOR);
    info->total_bytes = word_at(image, H_TOTAL_BYTES);
    info->flags = word_at(image, H_FLAGS);
    info->section_align = word_at(image, H_SECTION_ALIGN);
    info->n_tokens = word_at(image, H_N_TOKENS);
    info->n_base = word_at(image, H_N_BASE);
    info->n_added = word_at(image, H_N_ADDED);
    info->n_merges = word_at(image, H_N_MERGES);
    info->max_token_bytes = word_at(image, H_MAX_TOKEN_BYTES);
    info->class_tables = word_at(image, H_CLASS_TABLES);
    info->nfc_tables = word_at(image, H_NFC_TABLES);
    info->bos_id = word_at(image, H_BOS_ID);
    info->eos_id = word_at(image, H_EOS_ID);
    info->pad_id = word_at(image, H_PAD_ID);
    info->n_end_ids = word_at(image, H_N_END_IDS);
    info->first_pad_id = word_at(image, H_FIRST_PAD_ID);
    for (at = 0; at < Q25_NL_MAX_END_IDS; at++) {
        info->end_ids[at] = word_at(image, H_END_IDS + 4 * at);
        Q25_NL_PLAIN_LOOP();
    }
    for (at = 0; at < PRE_NAME_BYTES; at++) {
        info->pre_name[at] = (char)image[H_PRE_NAME + at];
        info->source_sha256[at] = image[H_SOURCE_SHA256 + at];
        Q25_NL_PLAIN_LOOP();
    }
    info->sections[0].offset = info->sections[0].length = info->sections[0].count = 0;
    for (at = 1; at < Q25_NL_SECTION_KINDS; at++) {
        info->sections[at].offset = section_field(known, at, E_OFFSET);
        info->sections[at].length = section_field(known, at, E_LENGTH);
        info->sections[at].count = section_field(known, at, E_COUNT);
    }
}

q25_nl_status q25_nl_tokenizer_runtime_image_open(const void *image, size_t image_bytes,
                                                  q25_nl_bundle_view *bundle,
                                                  q25_nl_encode_view *encode,
                                                  q25_nl_image_info *info)
{
    sections known;
    q25_nl_status status;
    if (image == NULL) {
        return Q25_NL_BAD_ARGUMENT;
    }
    status = check_image((const uint8_t *)image, image_bytes, &known);
    if (status != Q25_NL_OK) {
        return status;
    }
    if (bundle != NULL) {
        view_bundle(&known, bundle);
    }
    if (encode != NULL) {
        view_encode(&known, encode);
    }
    if (info != NULL) {
        describe_image(&known, info);
    }
    return Q25_NL_OK;
}

/* ---- Tokens ------------------------------------------------------------------------------------ */

/* The record of an id below n_tokens: where its bytes begin, and length | type << 16. */
static uint32_t token_start(const q25_nl_bundle_view *bundle, uint32_t id)
{
    return ((const word *)bundle->token_index)[2 * (size_t)id];
}

static uint32_t token_length(const q25_nl_bundle_view *bundle, uint32_t id)
{
    return ((const word *)bundle->token_index)[2 * (size_t)id + 1] & 0xFFFFu;
}

static uint32_t token_type(const q25_nl_bundle_view *bundle, uint32_t id)
{
    return ((const word *)bundle->token_index)[2 * (size_t)id + 1] >> 16;
}

/* The bytes of an id below n_tokens, or NULL where its record points beyond the token bytes. */
static const uint8_t *token_text(const q25_nl_bundle_view *bundle, uint32_t id)
{
    uint32_t start = token_start(bundle, id);
    if (start > bundle->token_bytes_length
        || token_length(bundle, id) > bundle->token_bytes_length - start) {
        return NULL;
    }
    return bundle->token_bytes + start;
}

/* ---- The merge-pair index ---------------------------------------------------------------------- */

#define ROW_BITS 18
#define ROW_MASK 0x3FFFFu /* of a slot: row + 1 */

/* The low bits of a pair's hash are its home slot, those from ROW_BITS up its fingerprint. */
static uint32_t pair_hash(uint64_t seed, uint32_t left, uint32_t right)
{
    uint64_t mixed = ((uint64_t)left << 32 | right) * seed;
    mixed ^= mixed >> 32;
    mixed *= 0xD6E8FEB86659FD93u;
    return (uint32_t)(mixed >> 32);
}

/* ---- Verifying an image ------------------------------------------------------------------------ */

static q25_nl_status fault_at(q25_nl_fault *fault, const sections *known, uint32_t kind, uint32_t row,
                              uint32_t offset, q25_nl_status status)
{
    fault->section = kind;
    fault->row = row;
    fault->offset = offset + (kind != 0 ? section_field(known, kind, E_OFFSET) : 0);
    return status;
}

/* Padding, and the checksum of every section, of those not known here too. */
static q25_nl_status verify_digests(const sections *known, q25_nl_fault *fault)
{
    const uint8_t *image = known->image;
    uint32_t count = word_at(image, H_SECTION_COUNT);
    uint32_t end = HEADER_BYTES + count * ENTRY_BYTES;
    uint32_t number;
    for (number = 0; number <= count; number++) {
        const uint8_t *entry = image + HEADER_BYTES + number * ENTRY_BYTES;
        uint32_t next = number < count ? word_at(entry, E_OFFSET) : word_at(image, H_TOTAL_BYTES);
        uint32_t length;
        for (; end < next; end++) {
            if (image[end] != 0) {
                return fault_at(fault, known, 0, 0, end, Q25_NL_BAD_PADDING);
            }
        }
        if (number == count) {
            break;
        }
        length = word_at(entry, E_LENGTH);
        if (crc32_of(0, image + next, length) != word_at(entry, E_CRC32)) {
            fault_at(fault, known, 0, 0, next, Q25_NL_BAD_SECTION_CRC);
            fault->section = word_at(entry, E_KIND);
            return Q25_NL_BAD_SECTION_CRC;
        }
        end = next + length;
    }
    return Q25_NL_OK;
}

static q25_nl_status verify_tokens(const sections *known, const q25_nl_bundle_view *bundle,
                                   q25_nl_fault *fault)
{
    const uint8_t *image = known->image;
    uint32_t id, n_base = 0, longest = 0;
    uint64_t sum = 0;
    for (id = 0; id < bundle->n_tokens; id++) {
        uint32_t type = token_type(bundle, id);
        uint32_t length = token_length(bundle, id);
        uint32_t offset = id * TOKEN_RECORD_BYTES;
        if (type < TYPE_NORMAL || type > TYPE_LAST) {
            return fault_at(fault, known, Q25_NL_TOKEN_INDEX, id, offset + 6, Q25_NL_BAD_TOKEN_TYPE);
        }
        if (token_start(bundle, id) != sum) {
            return fault_at(fault, known, Q25_NL_TOKEN_INDEX, id, offset, Q25_NL_BAD_TOKEN_OFFSET);
        }
        if (type == TYPE_NORMAL && id >= bundle->first_pad_id) {
            return fault_at(fault, known, Q25_NL_TOKEN_INDEX, id, offset + 6, Q25_NL_NORMAL_PAD);
        }
        n_base += type == TYPE_NORMAL;
        longest = length > longest ? length : longest;
        sum += length;
    }
    if (sum != bundle->token_bytes_length) {
        return fault_at(fault, known, Q25_NL_TOKEN_BYTES, 0, 0, Q25_NL_BAD_TOKEN_BYTES);
    }
    if (n_base != word_at(image, H_N_BASE)) {
        return fault_at(fault, known, 0, 0, H_N_BASE, Q25_NL_WRONG_N_BASE);
    }
    if (longest != word_at(image, H_MAX_TOKEN_BYTES)) {
        return fault_at(fault, known, 0, 0, H_MAX_TOKEN_BYTES, Q25_NL_WRONG_MAX_TOKEN_BYTES);
    }
    return Q25_NL_OK;
}

static int is_joined(const q25_nl_bundle_view *bundle, const word *merge)
{
    const uint8_t *left = token_text(bundle, merge[0]);
    const uint8_t *right = token_text(bundle, merge[1]);
    const uint8_t *out = token_text(bundle, merge[2]);
    uint32_t left_length = token_length(bundle, merge[0]);
    uint32_t right_length = token_length(bundle, merge[1]);
    uint32_t at;
    if (left == NULL || right == NULL || out == NULL
        || left_length + right_length != token_length(bundle, merge[2])) {
        return 0;
    }
    for (at = 0; at < left_length; at++) {
        if (out[at] != left[at]) {
            return 0;
        }
    }
    for (at = 0; at < right_length; at++) {
        if (out[left_length + at] != right[at]) {
            return 0;
        }
    }
    return 1;
}

static q25_nl_status verify_merges(const sections *known, const q25_nl_bundle_view *bundle,
                                   const q25_nl_encode_view *encode, q25_nl_fault *fault)
{
    uint32_t flags = word_at(known->image, H_FLAGS);
    uint32_t by_id = FLAG_RANK_IS_OUT_ID;
    uint32_t row, field;
    for (row = 0; row < encode->n_merges; row++) {
        const word *merge = (const word *)encode->merge_table + (size_t)4 * row;
        uint32_t offset = row * MERGE_RECORD_BYTES;
        if (merge[3] != row) {
            return fault_at(fault, known, Q25_NL_MERGE_TABLE, row, offset + 12, Q25_NL_BAD_MERGE_RANK);
        }
        for (field = 0; field < 3; field++) {
            if (merge[field] >= bundle->n_tokens || token_type(bundle, merge[field]) != TYPE_NORMAL) {
                return fault_at(fault, known, Q25_NL_MERGE_TABLE, row, offset + 4 * field,
                                Q25_NL_BAD_MERGE_ID);
            }
        }
        if (!is_joined(bundle, merge)) {
            return fault_at(fault, known, Q25_NL_MERGE_TABLE, row, offset + 8, Q25_NL_BAD_MERGE_BYTES);
        }
        if (merge[2] != row + 256) {
            by_id = 0;
        }
    }
    if ((flags & FLAG_RANK_IS_OUT_ID) != by_id) {
        return fault_at(fault, known, 0, 0, H_FLAGS, Q25_NL_WRONG_RANK_FLAG);
    }
    return Q25_NL_OK;
}

static q25_nl_status verify_byte_tokens(const sections *known, const q25_nl_bundle_view *bundle,
                                        const q25_nl_encode_view *encode, q25_nl_fault *fault)
{
    const word *map = (const word *)encode->byte_tokens;
    uint32_t byte, id;
    for (byte = 0; byte < 256; byte++) {
        id = map[byte];
        if (id != NONE
            && (id >= bundle->n_tokens || token_type(bundle, id) != TYPE_NORMAL
                || token_length(bundle, id) != 1 || *token_text(bundle, id) != byte)) {
            return fault_at(fault, known, Q25_NL_BYTE_TOKEN_MAP, byte, 4 * byte, Q25_NL_BAD_BYTE_TOKEN);
        }
    }
    for (id = 0; id < bundle->n_tokens; id++) {
        if (token_type(bundle, id) == TYPE_NORMAL && token_length(bundle, id) == 1) {
            byte = *token_text(bundle, id);
            if (map[byte] > id) {
                return fault_at(fault, known, Q25_NL_BYTE_TOKEN_MAP, byte, 4 * byte,
                                Q25_NL_BAD_BYTE_TOKEN);
            }
        }
    }
    return Q25_NL_OK;
}

/* The arrangement is canonical: entries by (home, row), each in the first free slot at or after its
 * home. Rows strictly ascend among those of one home, so as many entries as merges are all merges.
 * Equal pairs have one home, so they lie among at most max_probe slots. */
static q25_nl_status verify_pair_index(const sections *known, const q25_nl_encode_view *encode,
                                       q25_nl_fault *fault)
{
    const word *slots = (const word *)encode->pair_slots;
    const word *merges = (const word *)encode->merge_table;
    uint32_t at, found = 0, free = 0, last_home = 0, last_row = 0, probe = 1, used;
    for (at = 0; at < encode->n_pair_slots; at++) {
        uint32_t row, hash, home, back;
        const word *merge;
        if (slots[at] == 0) {
            continue;
        }
        row = (slots[at] & ROW_MASK) - 1;
        if (row >= encode->n_merges) {
            return fault_at(fault, known, Q25_NL_MERGE_PAIR_INDEX, at, 4 * at, Q25_NL_BAD_PAIR_SLOT);
        }
        merge = merges + (size_t)4 * row;
        hash = pair_hash(encode->hash_seed, merge[0], merge[1]);
        home = hash & encode->home_mask;
        if (slots[at] != ((hash >> ROW_BITS) << ROW_BITS | (row + 1)) || at != (home > free ? home : free)
            || (found != 0 && (home < last_home || (home == last_home && row <= last_row)))) {
            return fault_at(fault, known, Q25_NL_MERGE_PAIR_INDEX, at, 4 * at, Q25_NL_BAD_PAIR_SLOT);
        }
        if (at - home + 1 > encode->max_probe) {
            return fault_at(fault, known, Q25_NL_MERGE_PAIR_INDEX, at, 4 * at, Q25_NL_WRONG_MAX_PROBE);
        }
        for (back = home; back < at; back++) {
            const word *other = merges + (size_t)4 * ((slots[back] & ROW_MASK) - 1);
            if (other[0] == merge[0] && other[1] == merge[1]) {
                return fault_at(fault, known, Q25_NL_MERGE_PAIR_INDEX, at, 4 * at, Q25_NL_REPEATED_PAIR);
            }
        }
        probe = at - home + 1 > probe ? at - home + 1 : probe;
        found++;
        free = at + 1;
        last_home = home;
        last_row = row;
    }
    if (found != encode->n_merges) {
        return fault_at(fault, known, Q25_NL_MERGE_PAIR_INDEX, 0, 0, Q25_NL_MISSING_PAIR);
    }
    if (probe != encode->max_probe) {
        return fault_at(fault, known, 0, 0, H_MAX_PROBE, Q25_NL_WRONG_MAX_PROBE);
    }
    /* At least one empty slot behind the last entry, rounded up to 16 slots. */
    used = (free + 1 + 15) & ~15u;
    if (encode->n_pair_slots != (used > encode->home_mask ? used : encode->home_mask + 1)) {
        return fault_at(fault, known, Q25_NL_MERGE_PAIR_INDEX, 0, 0, Q25_NL_BAD_PAIR_SLOTS);
    }
    return Q25_NL_OK;
}

static int is_added(const q25_nl_bundle_view *bundle, uint32_t id)
{
    uint32_t type = token_type(bundle, id);
    return id < bundle->first_pad_id && type >= TYPE_UNKNOWN && type <= TYPE_USER_DEFINED;
}

static q25_nl_status verify_specials(const sections *known, const q25_nl_bundle_view *bundle,
                                     const q25_nl_encode_view *encode, q25_nl_fault *fault)
{
    const word *ids = (const word *)encode->special_ids;
    uint32_t bitmap[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    uint32_t row, id, n_added = 0, last_byte = 0, last_length = 0, last_id = 0;
    for (row = 0; row < encode->n_specials; row++) {
        uint32_t byte, length;
        uint32_t offset = BITMAP_BYTES + 4 * row;
        id = ids[row];
        if (id >= bundle->n_tokens || !is_added(bundle, id) || token_length(bundle, id) == 0) {
            return fault_at(fault, known, Q25_NL_SPECIAL_TOKEN_INDEX, row, offset, Q25_NL_BAD_SPECIAL_ID);
        }
        byte = *token_text(bundle, id);
        length = token_length(bundle, id);
        if (row != 0
            && (byte < last_byte
                || (byte == last_byte
                    && (length > last_length || (length == last_length && id <= last_id))))) {
            return fault_at(fault, known, Q25_NL_SPECIAL_TOKEN_INDEX, row, offset,
                            Q25_NL_BAD_SPECIAL_ORDER);
        }
        bitmap[byte >> 5] |= 1u << (byte & 31);
        last_byte = byte;
        last_length = length;
        last_id = id;
    }
    for (id = 0; id < bundle->n_tokens; id++) {
        n_added += (uint32_t)is_added(bundle, id);
    }
    if (n_added != encode->n_specials) {
        return fault_at(fault, known, Q25_NL_SPECIAL_TOKEN_INDEX, 0, 0, Q25_NL_MISSING_SPECIAL);
    }
    for (row = 0; row < 8; row++) {
        if (word_at(encode->special_first_bytes, (size_t)4 * row) != bitmap[row]) {
            return fault_at(fault, known, Q25_NL_SPECIAL_TOKEN_INDEX, 0, 4 * row,
                            Q25_NL_BAD_SPECIAL_BITMAP);
        }
    }
    return Q25_NL_OK;
}

q25_nl_status q25_nl_tokenizer_runtime_image_verify(const void *image, size_t image_bytes,
                                                    q25_nl_fault *fault)
{
    sections known;
    q25_nl_bundle_view bundle;
    q25_nl_encode_view encode;
    q25_nl_fault ignored;
    q25_nl_status status;
    if (image == NULL) {
        return Q25_NL_BAD_ARGUMENT;
    }
    if (fault == NULL) {
        fault = &ignored;
    }
    fault->section = fault->row = fault->offset = 0;
    status = check_image((const uint8_t *)image, image_bytes, &known);
    if (status != Q25_NL_OK) {
        return status;
    }
    view_bundle(&known, &bundle);
    view_encode(&known, &encode);
    status = verify_digests(&known, fault);
    if (status == Q25_NL_OK) {
        status = verify_tokens(&known, &bundle, fault);
    }
    if (status == Q25_NL_OK) {
        status = verify_merges(&known, &bundle, &encode, fault);
    }
    if (status == Q25_NL_OK) {
        status = verify_byte_tokens(&known, &bundle, &encode, fault);
    }
    if (status == Q25_NL_OK) {
        status = verify_pair_index(&known, &encode, fault);
    }
    if (status == Q25_NL_OK) {
        status = verify_specials(&known, &bundle, &encode, fault);
    }
    return status;
}

/* ---- UTF-8 ------------------------------------------------------------------------------------- */

#define INVALID 0xFFFFFFFFu
#define REPLACEMENT 0xFFFDu

/* Decodes one character of at most `left` bytes, left > 0; gives its length. What is no character gives
 * INVALID and the length of its maximal subpart: as many bytes as could begin one, at least 1. */
static size_t decode(const uint8_t *at, size_t left, uint32_t *code)
{
    uint32_t lead = at[0];
    uint32_t low = 0x80, high = 0xBF;
    size_t length, place;
    if (lead < 0x80) {
        *code = lead;
        return 1;
    }
    *code = INVALID;
    if (lead < 0xC2 || lead > 0xF4) {
        return 1;
    }
    length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead == 0xE0) {
        low = 0xA0;
    } else if (lead == 0xED) {
        high = 0x9F;
    } else if (lead == 0xF0) {
        low = 0x90;
    } else if (lead == 0xF4) {
        high = 0x8F;
    }
    lead &= 0x7Fu >> length;
    for (place = 1; place < length; place++) {
        if (place == left || at[place] < low || at[place] > high) {
            return place;
        }
        lead = lead << 6 | (at[place] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *code = lead;
    return length;
}

/* Decodes a character of UTF-8 known to be valid. */
static uint32_t decode_valid(const uint8_t *at, size_t length)
{
    uint32_t code = at[0];
    if (length == 1) {
        return code;
    }
    code = (code & (0x7Fu >> length)) << 6 | (at[1] & 0x3Fu);
    if (length == 2) {
        return code;
    }
    code = code << 6 | (at[2] & 0x3Fu);
    if (length == 3) {
        return code;
    }
    return code << 6 | (at[3] & 0x3Fu);
}

static size_t utf8_length(uint32_t code)
{
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

static size_t put_utf8(uint8_t *to, uint32_t code)
{
    size_t length = utf8_length(code);
    size_t place;
    if (length == 1) {
        to[0] = (uint8_t)code;
        return 1;
    }
    for (place = length - 1; place > 0; place--) {
        to[place] = (uint8_t)(0x80u | (code & 0x3Fu));
        code >>= 6;
    }
    to[0] = (uint8_t)((0xF00u >> length & 0xFFu) | code);
    return length;
}

/* ---- Character classes and the Qwen2 rule ------------------------------------------------------ */

/* As in the tables. MIXED is what a lead byte says that begins characters of several classes. */
enum { OTHER = 0, LETTER = 1, NUMBER = 2, WHITE = 3, LINE_END = 4, BLANK = 5, MIXED = 6 };

static uint32_t class_of(uint32_t code)
{
    uint32_t block, low;
    if (code >= Q25_NL_CLASS_LIMIT) {
        return OTHER;
    }
    block = q25_nl_class_block[code >> Q25_NL_CLASS_BLOCK_BITS];
    low = code & ((1u << Q25_NL_CLASS_BLOCK_BITS) - 1);
    return q25_nl_class_bits[(block << (Q25_NL_CLASS_BLOCK_BITS - 2)) + (low >> 2)] >> 2 * (low & 3) & 3u;
}

/* The class of a character of valid UTF-8, and its length. */
static uint32_t class_at(const uint8_t *at, size_t *length)
{
    uint32_t lead = q25_nl_lead[*at];
    *length = lead >> 3;
    if ((lead & 7u) != MIXED) {
        return lead & 7u;
    }
    return class_of(decode_valid(at, *length));
}

static size_t skip_class(const uint8_t *text, size_t at, size_t end, uint32_t wanted)
{
    while (at < end) {
        size_t length;
        if (class_at(text + at, &length) != wanted) {
            break;
        }
        at += length;
        Q25_NL_STEP();
    }
    return at;
}

/* The bytes of s, t, re, ve, m, ll or d after a quote, in either case; U+017F is an s. 0: none. */
static size_t contraction_length(const uint8_t *at, size_t left)
{
    uint32_t first = at[0] | 0x20u;
    uint32_t second = left > 1 ? at[1] : 0u;
    if (first == 's' || first == 't' || first == 'm' || first == 'd') {
        return 1;
    }
    if (at[0] == 0xC5 && second == 0xBF) {
        return 2;
    }
    second |= 0x20u;
    if (((first == 'r' || first == 'v') && second == 'e') || (first == 'l' && second == 'l')) {
        return 2;
    }
    return 0;
}

/* The end of a piece that begins with white space: at the last line end of the run, or before its last
 * character where something follows, or at its end. */
static size_t white_end(const uint8_t *text, size_t at, size_t end)
{
    size_t start = at, last = at, line = at;
    while (at < end) {
        size_t length;
        uint32_t found = class_at(text + at, &length);
        if (found < WHITE) {
            break;
        }
        last = at;
        at += length;
        if (found == LINE_END) {
            line = at;
        }
        Q25_NL_STEP();
    }
    if (line != start) {
        return line;
    }
    return at == end || last == start ? at : last;
}

/* The end of the piece that begins at `at`, by the first of these that fits:
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)
 *   [^\r\n\p{L}\p{N}]?\p{L}+
 *   \p{N}
 *   ` ?[^\s\p{L}\p{N}]+[\r\n]*`
 *   \s*[\r\n]+
 *   \s+(?!\S)
 *   \s+
 *
 * Each character is looked at no more than three times. */
static size_t piece_end(const uint8_t *text, size_t at, size_t end)
{
    size_t length, second_length;
    uint32_t first = class_at(text + at, &length);
    size_t next = at + length;
    if (first == LETTER) {
        return skip_class(text, next, end, LETTER);
    }
    if (first == NUMBER) {
        return next;
    }
    if (next < end && first != LINE_END) {
        uint32_t second = class_at(text + next, &second_length);
        if (text[at] == '\'') {
            size_t contraction = contraction_length(text + next, end - next);
            if (contraction != 0) {
                return next + contraction;
            }
        }
        if (second == LETTER) {
            return skip_class(text, next + second_length, end, LETTER);
        }
        if (first == BLANK && second == OTHER) {
            first = OTHER;
            next += second_length;
        }
    }
    if (first == OTHER) {
        return skip_class(text, skip_class(text, next, end, OTHER), end, LINE_END);
    }
    return white_end(text, at, end);
}

/* ---- NFC --------------------------------------------------------------------------------------- */

/* A code point's kind: 0, a starter that is itself; then the mark records (what joins or reorders with
 * the character before it); from FIRST_DECOMPOSED what comes apart for good; from FIRST_COMPOSITE what
 * comes apart and is composed again. Hangul syllables are of the last sort by arithmetic. */
static uint32_t kind_of(uint32_t code)
{
    uint32_t block;
    if (code >= Q25_NL_NFC_LIMIT) {
        return 0;
    }
    block = q25_nl_nfc_block[code >> Q25_NL_NFC_BLOCK_BITS];
    return q25_nl_nfc_kind[(block << Q25_NL_NFC_BLOCK_BITS)
                           + (code & ((1u << Q25_NL_NFC_BLOCK_BITS) - 1))];
}

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
static uint32_t composite_of(uint32_t first, uint32_t second)
{
    uint32_t kind, low, high, wanted;
    if (second - HANGUL_V < HANGUL_V_COUNT) {
        return first - HANGUL_L < HANGUL_L_COUNT
                   ? HANGUL_S
                         + ((first - HANGUL_L) * HANGUL_V_COUNT + (second - HANGUL_V)) * HANGUL_T_COUNT
                   : 0;
    }
    if (second - (HANGUL_T + 1) < HANGUL_T_COUNT - 1) {
        return first - HANGUL_S < HANGUL_S_COUNT && (first - HANGUL_S) % HANGUL_T_COUNT == 0
                   ? first + (second - HANGUL_T)
                   : 0;
    }
    kind = kind_of(second);
    if (kind == 0 || kind >= Q25_NL_FIRST_DECOMPOSED || first >> 16 != second >> 16) {
        return 0;
    }
    low = q25_nl_mark_pairs[kind];
    high = q25_nl_mark_pairs[kind + 1];
    wanted = first & 0xFFFFu;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (q25_nl_pair_first[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
        Q25_NL_STEP();
    }
    if (low == q25_nl_mark_pairs[kind + 1] || q25_nl_pair_first[low] != wanted) {
        return 0;
    }
    return (first & 0xFFFF0000u) | q25_nl_pair_composite[low];
}

/* A decomposed character: its code point, and above it the order of its combining class. */
#define ORDER_SHIFT 21
#define CODE_MASK 0x1FFFFFu

static word with_order(uint32_t code)
{
    uint32_t kind = kind_of(code);
    uint32_t order = kind < Q25_NL_FIRST_DECOMPOSED ? q25_nl_mark_order[kind] : 0u;
    return order << ORDER_SHIFT | code;
}

#define MAX_PARTS 4u

/* Puts the full decomposition of a character, at most MAX_PARTS; gives their number. */
static uint32_t decompose(uint32_t code, word *to)
{
    uint32_t kind, count = 0, at, end;
    if (code - HANGUL_S < HANGUL_S_COUNT) {
        uint32_t index = code - HANGUL_S;
        to[0] = HANGUL_L + index / (HANGUL_V_COUNT * HANGUL_T_COUNT);
        to[1] = HANGUL_V + index / HANGUL_T_COUNT % HANGUL_V_COUNT;
        if (index % HANGUL_T_COUNT == 0) {
            return 2;
        }
        to[2] = HANGUL_T + index % HANGUL_T_COUNT;
        return 3;
    }
    kind = kind_of(code);
    if (kind < Q25_NL_FIRST_DECOMPOSED) {
        to[0] = with_order(code);
        return 1;
    }
    at = q25_nl_decomposed_at[kind - Q25_NL_FIRST_DECOMPOSED];
    end = q25_nl_decomposed_at[kind - Q25_NL_FIRST_DECOMPOSED + 1];
    while (at < end) {
        uint32_t part = q25_nl_decomposed[at++];
        if (part >> 10 == 0xD800u >> 10) { /* the first half of a surrogate pair */
            part = 0x10000u + ((part & 0x3FFu) << 10 | (q25_nl_decomposed[at++] & 0x3FFu));
        }
        to[count++] = with_order(part);
    }
    return count;
}

/* Sorts marks by class, equal ones in their old order, by counting: linear, however many there are.
 * `spare` has room for as many again. */
static void sort_marks(word *marks, size_t count, word *spare)
{
    uint32_t starts[Q25_NL_MARK_ORDERS];
    uint32_t order, start = 0;
    size_t at;
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
        uint32_t here = starts[order];
        starts[order] = start;
        start += here;
        Q25_NL_STEP();
    }
    for (at = 0; at < count; at++) {
        marks[starts[spare[at] >> ORDER_SHIFT]++] = spare[at];
        Q25_NL_STEP();
    }
}

/* Brings the marks of a unit in order; gives the number of words behind it that are needed to do so,
 * and does nothing where that is more than `room`. */
static size_t order_marks(word *unit, size_t count, size_t room)
{
    size_t at, start = 0, needed = 0;
    int sorted = 1;
    for (at = 0; at <= count; at++) {
        if (at == count || unit[at] >> ORDER_SHIFT == 0) {
            if (!sorted) {
                needed = at - start > needed ? at - start : needed;
                if (needed > room) {
                    return needed;
                }
                sort_marks(unit + start, at - start, unit + count);
                sorted = 1;
            }
            start = at + 1;
        } else if (at > start && unit[at] >> ORDER_SHIFT < unit[at - 1] >> ORDER_SHIFT) {
            sorted = 0;
        }
        Q25_NL_STEP();
    }
    return needed;
}

/* Composes a unit of decomposed characters in place; gives their number afterwards. */
static size_t compose(word *unit, size_t count)
{
    size_t at, kept = 0, starter = count;
    uint32_t last = 0;
    for (at = 0; at < count; at++) {
        uint32_t order = unit[at] >> ORDER_SHIFT;
        /* A mark is cut off from the starter by one of its own class or a higher one; a second starter
         * joins only directly behind the first. */
        if (starter != count && (last < order || (last == 0 && starter + 1 == kept))) {
            uint32_t joined = composite_of(unit[starter], unit[at] & CODE_MASK);
            if (joined != 0) {
                unit[starter] = joined;
                continue;
            }
        }
        if (order == 0) {
            starter = kept;
        }
        last = order;
        unit[kept++] = unit[at];
        Q25_NL_STEP();
    }
    return kept;
}

/* ---- Encoding: what all its parts share -------------------------------------------------------- */

typedef struct job {
    const q25_nl_bundle_view *bundle;
    const q25_nl_encode_view *encode;
    const uint8_t *text;
    size_t text_bytes;
    uint8_t *scratch;      /* on a multiple of 4 */
    size_t scratch_bytes;  /* from there on */
    size_t scratch_used;   /* by the text that is being encoded, a multiple of 4 */
    uint32_t *ids;
    size_t id_capacity;
    uint32_t flags;
    int lacks_scratch;
    uint32_t special_byte;  /* the byte with which all specials begin, or NONE */
    uint32_t run_byte;      /* the byte whose run of specials was looked up last, or NONE */
    uint32_t run_begin;
    uint32_t run_end;
    q25_nl_encode_statistics done;
} job;

#define SCRATCH_ALIGN 4u

/* Notes that so many bytes of scratch are needed; says whether they are there. */
static int reserve(job *work, size_t bytes)
{
    size_t needed = bytes + (SCRATCH_ALIGN - 1); /* wherever the caller's scratch begins */
    if (needed > work->done.scratch_needed) {
        work->done.scratch_needed = needed;
    }
    if (bytes > work->scratch_bytes) {
        work->lacks_scratch = 1;
        return 0;
    }
    return 1;
}

static void put_id(job *work, uint32_t id)
{
    if (work->done.n_ids < work->id_capacity) {
        work->ids[work->done.n_ids] = id;
    }
    work->done.n_ids++;
}

/* ---- Special tokens ---------------------------------------------------------------------------- */

/* Whether the text at a place begins with a special token, and how many bytes of it that takes. Compares
 * characters, so that U+FFFD in a special equals what is replaced, and bytes that are no UTF-8 equal
 * nothing. */
static size_t special_match(const job *work, size_t at, const uint8_t *special, size_t length)
{
    const uint8_t *text = work->text;
    size_t start = at, place = 0;
    while (place < length) {
        uint32_t wanted, found;
        Q25_NL_STEP();
        if (at == work->text_bytes) {
            return 0;
        }
        if (special[place] < 0x80) {
            if (special[place] != text[at]) {
                return 0;
            }
            place++;
            at++;
            continue;
        }
        place += decode(special + place, length - place, &wanted);
        at += decode(text + at, work->text_bytes - at, &found);
        if (found == INVALID && (work->flags & Q25_NL_REPLACE_INVALID) != 0) {
            found = REPLACEMENT;
        }
        if (wanted == INVALID || wanted != found) {
            return 0;
        }
    }
    return at - start;
}

/* The first byte of a special, or 256 where it has none. */
static uint32_t special_first(const job *work, uint32_t row)
{
    uint32_t id = ((const word *)work->encode->special_ids)[row];
    const uint8_t *text;
    if (id >= work->bundle->n_tokens || token_length(work->bundle, id) == 0) {
        return 256;
    }
    text = token_text(work->bundle, id);
    return text == NULL ? 256u : *text;
}

/* The first special, in their order, that does not begin with a lower byte. */
static uint32_t special_bound(const job *work, uint32_t byte)
{
    uint32_t low = 0, high = work->encode->n_specials;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (special_first(work, middle) < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
        Q25_NL_STEP();
    }
    return low;
}

/* The longest special at a place whose first byte, after replacement, is given; 0 where there is none. */
static size_t special_at(job *work, size_t at, uint32_t byte, uint32_t *id)
{
    uint32_t row;
    if (byte != work->run_byte) {
        work->run_byte = byte;
        work->run_begin = special_bound(work, byte);
        work->run_end = special_bound(work, byte + 1);
    }
    for (row = work->run_begin; row < work->run_end; row++) {
        const uint8_t *special;
        size_t length;
        *id = ((const word *)work->encode->special_ids)[row];
        if (*id >= work->bundle->n_tokens) {
            continue;
        }
        special = token_text(work->bundle, *id);
        if (special != NULL) {
            length = special_match(work, at, special, token_length(work->bundle, *id));
            if (length != 0) {
                return length;
            }
        }
    }
    return 0;
}

static int begins_special(const job *work, uint32_t byte)
{
    return work->encode->special_first_bytes[byte >> 3] >> (byte & 7u) & 1;
}

/* Sets special_byte: with one first byte only, the search skips eight bytes at a time. */
static void prepare_specials(job *work)
{
    uint32_t byte;
    work->run_byte = NONE;
    work->special_byte = NONE;
    for (byte = 0; byte < 256; byte++) {
        if (begins_special(work, byte)) {
            if (work->special_byte != NONE) {
                work->special_byte = NONE;
                return;
            }
            work->special_byte = byte;
        }
    }
}

/* The first place at or after `at` that holds the byte. */
static size_t find_byte(const uint8_t *text, size_t at, size_t end, uint32_t byte)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    while (at < end && ((uintptr_t)(text + at) & 7u) != 0) {
        if (text[at] == byte) {
            return at;
        }
        at++;
    }
    while (end - at >= 8) {
        uint64_t same = *(const two_words *)(const void *)(text + at) ^ byte * ones;
        if (((same - ones) & ~same & tops) != 0) {
            break;
        }
        at += 8;
        Q25_NL_STEP();
    }
    while (at < end && text[at] != byte) {
        at++;
        Q25_NL_STEP();
    }
    return at;
}

/* The next special token to be taken as one: where it begins and ends, and its id. */
typedef struct special {
    size_t begin;
    size_t end;
    uint32_t id;
} special;

static void find_special(job *work, size_t at, special *found)
{
    uint32_t setting = work->flags & ~Q25_NL_REPLACE_INVALID;
    int replace = (work->flags & Q25_NL_REPLACE_INVALID) != 0;
    found->begin = found->end = work->text_bytes;
    found->id = NONE;
    if (setting == Q25_NL_SPECIALS_NONE || work->encode->n_specials == 0) {
        return;
    }
    while (at < work->text_bytes) {
        uint32_t byte, id = 0;
        size_t length;
        Q25_NL_STEP();
        if (work->special_byte < 0x80) {
            at = find_byte(work->text, at, work->text_bytes, work->special_byte);
            if (at == work->text_bytes) {
                return;
            }
        }
        byte = work->text[at];
        if (byte >= 0x80 && replace) {
            /* What is replaced begins with the first byte of U+FFFD. */
            uint32_t code;
            size_t skipped = decode(work->text + at, work->text_bytes - at, &code);
            if (code == INVALID) {
                byte = 0xEF;
            }
            if (!begins_special(work, byte)) {
                at += skipped;
                continue;
            }
        }
        if (!begins_special(work, byte)) {
            at++;
            continue;
        }
        length = special_at(work, at, byte, &id);
        if (length == 0) {
            at++;
            continue;
        }
        /* All are looked for together: text of a control token stays ordinary where only user-defined
         * ones are taken, even if one of those overlaps it. */
        if (setting == Q25_NL_SPECIALS_ALL || token_type(work->bundle, id) == TYPE_USER_DEFINED) {
            found->begin = at;
            found->end = at + length;
            found->id = id;
            return;
        }
        at += length;
    }
}

/* ---- Merges ------------------------------------------------------------------------------------ */

#define NEVER 0xFFFFFFFFu /* what no merge is: it ranks behind every one */

/* Bounds the row + 1 of the merge of two tokens from below, or gives NEVER if there surely is none. Slots
 * are compared by fingerprint only: rows are compared when a merge is to be made. */
static uint32_t guess_merge(const q25_nl_encode_view *encode, uint32_t left, uint32_t right)
{
    uint32_t hash = pair_hash(encode->hash_seed, left, right);
    uint32_t home = hash & encode->home_mask;
    const word *slot = (const word *)encode->pair_slots + home;
    uint32_t left_slots = encode->n_pair_slots - home;
    const word *end = slot + (encode->max_probe < left_slots ? encode->max_probe : left_slots);
    uint32_t best = NEVER;
    for (; slot != end && *slot != 0; slot++) {
        if ((*slot ^ hash) >> ROW_BITS == 0 && (*slot & ROW_MASK) < best) {
            best = *slot & ROW_MASK;
        }
        Q25_NL_STEP();
    }
    return best;
}

static int is_merge_of(const q25_nl_encode_view *encode, uint32_t row_plus_1, uint32_t left,
                       uint32_t right)
{
    const word *merge = (const word *)encode->merge_table + (size_t)4 * (row_plus_1 - 1);
    return row_plus_1 - 1 < encode->n_merges && merge[0] == left && merge[1] == right;
}

/* The row + 1 of the merge of two tokens, or NEVER. */
static uint32_t find_merge(const q25_nl_encode_view *encode, uint32_t left, uint32_t right)
{
    uint32_t hash = pair_hash(encode->hash_seed, left, right);
    uint32_t home = hash & encode->home_mask;
    uint32_t at;
    for (at = home; at < encode->n_pair_slots && at - home < encode->max_probe; at++) {
        uint32_t slot = ((const word *)encode->pair_slots)[at];
        if (slot == 0) {
            break;
        }
        if ((slot ^ hash) >> ROW_BITS == 0 && is_merge_of(encode, slot & ROW_MASK, left, right)) {
            return slot & ROW_MASK;
        }
        Q25_NL_STEP();
    }
    return NEVER;
}

/* The tokens of a piece lie in a word for each of its bytes: a token's id at its first byte, and at its
 * second and its last byte, where it has more than one, its length with the top bit set. So the
 * neighbours of a token are one look away. A zero follows the last byte. */
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

static void put_token(word *tokens, size_t at, size_t end, uint32_t id)
{
    word mark = LENGTH_MARK | (word)(end - at);
    tokens[at] = id;
    tokens[at + 1] = mark;
    tokens[end - 1] = mark;
}

static q25_nl_status start_tokens(const job *work, const uint8_t *piece, size_t length, word *tokens)
{
    const word *map = (const word *)work->encode->byte_tokens;
    size_t at;
    for (at = 0; at < length; at++) {
        uint32_t id = map[piece[at]];
        if (id >= work->bundle->n_tokens) {
            return id == NONE ? Q25_NL_BYTE_WITHOUT_TOKEN : Q25_NL_IMAGE_DAMAGED;
        }
        tokens[at] = id;
        Q25_NL_STEP();
    }
    tokens[length] = 0;
    return Q25_NL_OK;
}

static void put_tokens(job *work, const word *tokens, size_t length)
{
    size_t at = 0;
    while (at < length) {
        put_id(work, tokens[at]);
        at = token_end(tokens, at);
        Q25_NL_STEP();
    }
}

/* Pieces of up to so many bytes are merged on the stack, searching all places for the lowest rank. */
#define SHORT_PIECE 32u
#define PLACE_BITS 5

/* A key is (row + 1) << PLACE_BITS | place, so that the lowest is the lowest rank, then the leftmost. */
static uint32_t short_key(const q25_nl_encode_view *encode, const word *tokens, size_t at, size_t next)
{
    uint32_t found = guess_merge(encode, tokens[at], tokens[next]);
    return found == NEVER ? NEVER : found << PLACE_BITS | (uint32_t)at;
}

static Q25_NL_NOINLINE q25_nl_status merge_short(job *work, const uint8_t *piece, size_t length)
{
    const q25_nl_encode_view *encode = work->encode;
    word tokens[SHORT_PIECE + 1];
    uint32_t keys[SHORT_PIECE];
    size_t at;
    q25_nl_status status = start_tokens(work, piece, length, tokens);
    if (status != Q25_NL_OK) {
        return status;
    }
    for (at = 0; at + 1 < length; at++) {
        keys[at] = short_key(encode, tokens, at, at + 1);
    }
    for (;;) {
        uint32_t best = NEVER, row_plus_1, out;
        size_t next, end;
        for (at = 0; at + 1 < length; at++) {
            best = keys[at] < best ? keys[at] : best;
            Q25_NL_STEP();
        }
        if (best == NEVER) {
            break;
        }
        at = best & ((1u << PLACE_BITS) - 1);
        row_plus_1 = best >> PLACE_BITS;
        next = token_end(tokens, at);
        if (!is_merge_of(encode, row_plus_1, tokens[at], tokens[next])) {
            row_plus_1 = find_merge(encode, tokens[at], tokens[next]);
            keys[at] = row_plus_1 == NEVER ? NEVER : row_plus_1 << PLACE_BITS | (uint32_t)at;
            continue;
        }
        out = ((const word *)encode->merge_table)[(size_t)4 * (row_plus_1 - 1) + 2];
        if (out >= work->bundle->n_tokens) {
            return Q25_NL_IMAGE_DAMAGED;
        }
        work->done.n_merges++;
        end = token_end(tokens, next);
        put_token(tokens, at, end, out);
        if (next + 1 < length) {
            keys[next] = NEVER;
        }
        if (end < length) {
            keys[at] = short_key(encode, tokens, at, end);
        } else {
            keys[at] = NEVER;
        }
        if (at > 0) {
            size_t before = token_before(tokens, at);
            keys[before] = short_key(encode, tokens, before, at);
        }
    }
    put_tokens(work, tokens, length);
    return Q25_NL_OK;
}

/* The ranks of a long piece, as a tree: each level has the lowest of every eight of the one below, down to
 * level 0 with one for each byte. A level is filled up with NEVER to a multiple of eight. */
#define TREE_WIDTH 8u
#define MAX_LEVELS 10 /* 8 * 8^9 is more than thrice Q25_NL_MAX_TEXT_BYTES */

typedef struct tree {
    word *level[MAX_LEVELS];
    uint32_t top;
} tree;

static size_t filled_up(size_t count)
{
    return (count + (TREE_WIDTH - 1)) & ~(size_t)(TREE_WIDTH - 1);
}

/* Words that a piece of so many bytes takes: its tokens, a zero, and the tree. */
static size_t long_piece_words(size_t length)
{
    size_t words = length + 1, level = filled_up(length);
    words += level;
    while (level > TREE_WIDTH) {
        level = filled_up(level / TREE_WIDTH);
        words += level;
    }
    return words;
}

static uint32_t lowest_of_block(const word *block)
{
    uint32_t lowest = block[0];
    uint32_t at;
    for (at = 1; at < TREE_WIDTH; at++) {
        lowest = block[at] < lowest ? block[at] : lowest;
    }
    Q25_NL_STEP();
    return lowest;
}

/* Lays out the tree in `words`, and fills in all levels but the lowest, of which `length` are filled in. */
static void tree_build(tree *ranks, word *words, size_t length)
{
    size_t count = length, at;
    ranks->top = 0;
    ranks->level[0] = words;
    for (;;) {
        word *level = ranks->level[ranks->top];
        size_t full = filled_up(count);
        for (at = count; at < full; at++) {
            level[at] = NEVER;
            Q25_NL_PLAIN_LOOP();
        }
        if (full <= TREE_WIDTH) {
            return;
        }
        ranks->top++;
        ranks->level[ranks->top] = level + full;
        count = full / TREE_WIDTH;
        for (at = 0; at < count; at++) {
            level[full + at] = lowest_of_block(level + TREE_WIDTH * at);
        }
    }
}

/* The leftmost place of the lowest rank, which is given too. */
static size_t tree_lowest(const tree *ranks, uint32_t *rank)
{
    uint32_t level = ranks->top;
    size_t at = 0;
    *rank = lowest_of_block(ranks->level[level]);
    if (*rank == NEVER) {
        return 0;
    }
    for (;;) {
        const word *place = ranks->level[level] + at;
        while (*place != *rank) {
            place++;
        }
        at = (size_t)(place - ranks->level[level]);
        Q25_NL_STEP();
        if (level == 0) {
            return at;
        }
        level--;
        at *= TREE_WIDTH;
    }
}

static void tree_set(const tree *ranks, size_t at, uint32_t rank)
{
    uint32_t level;
    for (level = 0;; level++) {
        word *place = ranks->level[level] + at;
        uint32_t old = *place, above;
        *place = rank;
        if (level == ranks->top) {
            return;
        }
        above = ranks->level[level + 1][at / TREE_WIDTH];
        if (rank >= above) {
            if (old != above) {
                return; /* the lowest of the block is another one */
            }
            rank = lowest_of_block(ranks->level[level] + (at & ~(size_t)(TREE_WIDTH - 1)));
            if (rank == above) {
                return;
            }
        }
        at /= TREE_WIDTH;
        Q25_NL_STEP();
    }
}

static Q25_NL_NOINLINE q25_nl_status merge_long(job *work, const uint8_t *piece, size_t length)
{
    const q25_nl_encode_view *encode = work->encode;
    word *tokens = (word *)(void *)(work->scratch + work->scratch_used);
    tree ranks;
    size_t at;
    q25_nl_status status;
    if (!reserve(work, work->scratch_used + 4 * long_piece_words(length))) {
        return Q25_NL_OK; /* reported in the end, with what the rest of the text needs */
    }
    status = start_tokens(work, piece, length, tokens);
    if (status != Q25_NL_OK) {
        return status;
    }
    for (at = 0; at + 1 < length; at++) {
        tokens[length + 1 + at] = guess_merge(encode, tokens[at], tokens[at + 1]);
    }
    tokens[length + length] = NEVER;
    tree_build(&ranks, tokens + length + 1, length);
    for (;;) {
        uint32_t row_plus_1, out;
        size_t next, end;
        at = tree_lowest(&ranks, &row_plus_1);
        if (row_plus_1 == NEVER) {
            break;
        }
        next = token_end(tokens, at);
        if (!is_merge_of(encode, row_plus_1, tokens[at], tokens[next])) {
            tree_set(&ranks, at, find_merge(encode, tokens[at], tokens[next]));
            continue;
        }
        out = ((const word *)encode->merge_table)[(size_t)4 * (row_plus_1 - 1) + 2];
        if (out >= work->bundle->n_tokens) {
            return Q25_NL_IMAGE_DAMAGED;
        }
        work->done.n_merges++;
        end = token_end(tokens, next);
        put_token(tokens, at, end, out);
        tree_set(&ranks, next, NEVER);
        tree_set(&ranks, at, end < length ? guess_merge(encode, out, tokens[end]) : NEVER);
        if (at > 0) {
            size_t before = token_before(tokens, at);
            tree_set(&ranks, before, guess_merge(encode, tokens[before], out));
        }
    }
    put_tokens(work, tokens, length);
    return Q25_NL_OK;
}

/* ---- Encoding ---------------------------------------------------------------------------------- */

static q25_nl_status encode_pieces(job *work, const uint8_t *text, size_t at, size_t end)
{
    while (at < end) {
        size_t next = piece_end(text, at, end);
        size_t length = next - at;
        q25_nl_status status = length <= SHORT_PIECE ? merge_short(work, text + at, length)
                                                     : merge_long(work, text + at, length);
        if (status != Q25_NL_OK) {
            work->done.error_offset = at;
            return status;
        }
        if (length > work->done.longest_piece) {
            work->done.longest_piece = length;
        }
        work->done.n_bytes += length;
        at = next;
    }
    return Q25_NL_OK;
}

/* The kind of a character to this image, which may do without NFC. */
static uint32_t kind_in_text(const job *work, uint32_t code)
{
    return work->encode->nfc != 0 ? kind_of(code) : 0u;
}

/* The first place at or after `at` that holds no ASCII. */
static size_t skip_ascii(const uint8_t *text, size_t at, size_t end)
{
    while (at < end && text[at] < 0x80) {
        if (((uintptr_t)(text + at) & 7u) == 0) {
            while (end - at >= 8
                   && (*(const two_words *)(const void *)(text + at) & 0x8080808080808080u) == 0) {
                at += 8;
                Q25_NL_STEP();
            }
            if (at == end || text[at] >= 0x80) {
                break;
            }
        }
        at++;
        Q25_NL_STEP();
    }
    return at;
}

/* Decodes a character of the text. Invalid UTF-8 is replaced or, where it is not to be, an error, of which
 * the place is noted. */
static q25_nl_status take(job *work, size_t at, size_t end, uint32_t *code, size_t *length)
{
    *length = decode(work->text + at, end - at, code);
    if (*code == INVALID) {
        if ((work->flags & Q25_NL_REPLACE_INVALID) == 0) {
            work->done.error_offset = at;
            return Q25_NL_INVALID_UTF8;
        }
        *code = REPLACEMENT;
    }
    return Q25_NL_OK;
}

/* Looks from `at` on for what must be changed before text is split: what NFC may change, or invalid
 * UTF-8. `change` is set to the start of the unit that it is in, or to `end`. */
static q25_nl_status find_change(job *work, size_t at, size_t end, size_t *change)
{
    uint32_t before = 0, last_order = 0;
    *change = at;
    while (at < end) {
        uint32_t code, kind, order;
        size_t length = skip_ascii(work->text, at, end) - at;
        if (length != 0) {
            at += length;
            *change = at - 1;
            before = work->text[at - 1];
            last_order = 0;
            continue;
        }
        length = decode(work->text + at, end - at, &code);
        if (code == INVALID) {
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
            order = q25_nl_mark_order[kind];
            if (order == 0 ? composite_of(before, code) != 0
                           : order < last_order || q25_nl_mark_pairs[kind] != q25_nl_mark_pairs[kind + 1]) {
                return Q25_NL_OK;
            }
            last_order = order;
        }
        before = code;
        at += length;
        Q25_NL_STEP();
    }
    *change = end;
    return Q25_NL_OK;
}

/* What must be changed is changed in a copy, which should be short. Text may be cut behind a number, and
 * between a letter and what is no letter: the rule ends a piece there, whatever else the text holds.
 *
 * Gives the last such place in begin..at, where the text is valid and NFC. */
static size_t cut_before(const job *work, size_t begin, size_t at)
{
    uint32_t next_class = LETTER; /* that of the character at `at` may change */
    while (at > begin) {
        size_t length, start = at - 1;
        uint32_t found;
        while ((work->text[start] & 0xC0u) == 0x80) {
            start--;
        }
        found = class_at(work->text + start, &length);
        if (found == NUMBER || (found == LETTER && next_class != LETTER)) {
            return at;
        }
        next_class = found;
        at = start;
        Q25_NL_STEP();
    }
    return begin;
}

/* Sets `cut` to the first such place behind `at`, where a unit begins that must be changed. The characters
 * on both sides must be units by themselves, or they may change. */
static q25_nl_status cut_after(job *work, size_t at, size_t end, size_t *cut)
{
    uint32_t before = OTHER; /* class of the character before; OTHER where it may change */
    int behind_letter = 0;   /* *cut is behind a letter and before no letter */
    while (at < end) {
        uint32_t code;
        size_t length;
        q25_nl_status status = take(work, at, end, &code, &length);
        if (status != Q25_NL_OK) {
            return status;
        }
        if (!is_boundary(kind_in_text(work, code))) {
            behind_letter = 0;
            before = OTHER;
        } else {
            uint32_t found = class_of(code);
            if (behind_letter) {
                return Q25_NL_OK;
            }
            if (before == NUMBER || (before == LETTER && found != LETTER)) {
                *cut = at;
                if (before == NUMBER) {
                    return Q25_NL_OK;
                }
                behind_letter = 1;
            }
            before = found;
        }
        at += length;
        Q25_NL_STEP();
    }
    if (!behind_letter) {
        *cut = end;
    }
    return Q25_NL_OK;
}

/* Copies a part of the text into the scratch, replacing invalid UTF-8 and composing, a unit at a time: a
 * boundary character with what follows up to the next one. Gives the length of the copy, whose last
 * unit is decomposed behind what is written: a character takes a word there and no more bytes when it
 * is written, so what is written never reaches what is still to be read. */
static int copy_changed(job *work, size_t at, size_t end, size_t *copied)
{
    size_t written = 0;
    while (at < end) {
        size_t begin = (written + (SCRATCH_ALIGN - 1)) & ~(size_t)(SCRATCH_ALIGN - 1);
        word *unit = (word *)(void *)(work->scratch + begin);
        size_t count = 0, number, spare;
        do {
            word parts[MAX_PARTS];
            uint32_t code, n_parts, part;
            size_t length;
            take(work, at, end, &code, &length); /* invalid text was refused when the cut was sought */
            if (count != 0 && is_boundary(kind_in_text(work, code))) {
                break;
            }
            n_parts = 1;
            if (work->encode->nfc != 0) {
                n_parts = decompose(code, parts);
            } else {
                parts[0] = code;
            }
            if (!reserve(work, begin + 4 * (count + n_parts))) {
                return 0;
            }
            for (part = 0; part < n_parts; part++) {
                unit[count++] = parts[part];
                Q25_NL_PLAIN_LOOP();
            }
            at += length;
            Q25_NL_STEP();
        } while (at < end);
        spare = order_marks(unit, count, work->scratch_bytes / 4 - begin / 4 - count);
        if (!reserve(work, begin + 4 * (count + spare))) {
            return 0;
        }
        count = compose(unit, count);
        for (number = 0; number < count; number++) {
            written += put_utf8(work->scratch + written, unit[number] & CODE_MASK);
            Q25_NL_STEP();
        }
    }
    *copied = written;
    return 1;
}

static q25_nl_status encode_changed(job *work, size_t at, size_t end)
{
    size_t copied;
    q25_nl_status status;
    if (!copy_changed(work, at, end, &copied)) {
        size_t enough = Q25_NL_SCRATCH_BYTES(end - at);
        if (work->done.scratch_needed < enough) {
            work->done.scratch_needed = enough;
        }
        return Q25_NL_OK; /* reported in the end, with what the rest of the text needs */
    }
    work->scratch_used = (copied + (SCRATCH_ALIGN - 1)) & ~(size_t)(SCRATCH_ALIGN - 1);
    status = encode_pieces(work, work->scratch, 0, copied);
    work->scratch_used = 0;
    if (status != Q25_NL_OK) {
        work->done.error_offset = at;
    }
    return status;
}

/* Encodes text between special tokens. */
static q25_nl_status encode_stretch(job *work, size_t at, size_t end)
{
    while (at < end) {
        size_t change, cut;
        q25_nl_status status = find_change(work, at, end, &change);
        if (status != Q25_NL_OK) {
            return status;
        }
        cut = change == end ? end : cut_before(work, at, change);
        status = encode_pieces(work, work->text, at, cut);
        if (status != Q25_NL_OK || change == end) {
            return status;
        }
        status = cut_after(work, change, end, &at);
        if (status == Q25_NL_OK) {
            status = encode_changed(work, cut, at);
        }
        if (status != Q25_NL_OK) {
            return status;
        }
    }
    return Q25_NL_OK;
}

static q25_nl_status encode_text(job *work)
{
    size_t at = 0;
    while (at < work->text_bytes) {
        special next;
        q25_nl_status status;
        find_special(work, at, &next);
        status = encode_stretch(work, at, next.begin);
        if (status != Q25_NL_OK) {
            return status;
        }
        if (next.id != NONE) {
            put_id(work, next.id);
            work->done.n_bytes += token_length(work->bundle, next.id);
        }
        at = next.end;
    }
    if (work->lacks_scratch) {
        return Q25_NL_SCRATCH_TOO_SMALL;
    }
    return work->done.n_ids > work->id_capacity ? Q25_NL_OUTPUT_TOO_SMALL : Q25_NL_OK;
}

size_t q25_nl_tokenizer_scratch_bytes(size_t text_bytes)
{
    return Q25_NL_SCRATCH_BYTES(text_bytes);
}

q25_nl_status q25_nl_tokenizer_bundle_encode_bpe_bounded(
    const q25_nl_bundle_view *bundle, const q25_nl_encode_view *encode, const uint8_t *text,
    size_t text_bytes, uint32_t flags, void *scratch, size_t scratch_bytes, uint32_t *ids,
    size_t id_capacity, q25_nl_encode_statistics *statistics)
{
    job work;
    q25_nl_status status;
    size_t skipped;
    work.done.n_ids = work.done.n_merges = work.done.n_bytes = 0;
    work.done.longest_piece = work.done.scratch_needed = work.done.error_offset = 0;
    if (statistics != NULL) {
        *statistics = work.done;
    }
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
    skipped = (SCRATCH_ALIGN - ((uintptr_t)scratch & (SCRATCH_ALIGN - 1))) & (SCRATCH_ALIGN - 1);
    work.scratch = (uint8_t *)scratch + skipped;
    /* As if the caller's scratch began at the worst place, so that what is needed is the same anywhere. */
    work.scratch_bytes = scratch_bytes < SCRATCH_ALIGN - 1 ? 0 : scratch_bytes - (SCRATCH_ALIGN - 1);
    work.scratch_used = 0;
    work.ids = ids;
    work.id_capacity = id_capacity;
    work.flags = flags;
    work.lacks_scratch = 0;
    prepare_specials(&work);
    status = encode_text(&work);
    if (status != Q25_NL_OK && status != Q25_NL_OUTPUT_TOO_SMALL) {
        work.done.n_ids = 0;
    }
    if (statistics != NULL) {
        *statistics = work.done;
    }
    return status;
}

/* ---- Detokenizing ------------------------------------------------------------------------------ */

int q25_nl_tokenizer_is_end_id(const q25_nl_bundle_view *bundle, uint32_t id)
{
    uint32_t at;
    for (at = 0; at < bundle->n_end_ids && at < Q25_NL_MAX_END_IDS; at++) {
        if (bundle->end_ids[at] == id) {
            return 1;
        }
    }
    return 0;
}

/* The bytes of an id, none for padding and for what is to be left out. */
static q25_nl_status shown_text(const q25_nl_bundle_view *bundle, uint32_t id, uint32_t flags,
                                const uint8_t **text, uint32_t *length)
{
    uint32_t type;
    *text = NULL;
    *length = 0;
    if (id >= bundle->n_tokens) {
        return Q25_NL_UNKNOWN_ID;
    }
    type = token_type(bundle, id);
    if (id >= bundle->first_pad_id
        || ((flags & Q25_NL_SKIP_CONTROL) != 0 && (type == TYPE_CONTROL || type == TYPE_UNKNOWN))) {
        return Q25_NL_OK;
    }
    *text = token_text(bundle, id);
    if (*text == NULL) {
        return Q25_NL_IMAGE_DAMAGED;
    }
    *length = token_length(bundle, id);
    return Q25_NL_OK;
}

q25_nl_status q25_nl_tokenizer_bundle_detokenize(const q25_nl_bundle_view *bundle,
                                                 const uint32_t *ids, size_t n_ids, uint32_t flags,
                                                 uint8_t *text, size_t text_capacity,
                                                 q25_nl_detokenize_statistics *statistics)
{
    q25_nl_detokenize_statistics ignored;
    q25_nl_detokenize_statistics *done = statistics != NULL ? statistics : &ignored;
    size_t at, free = text_capacity;
    done->n_bytes = 0;
    done->n_read = 0;
    if (bundle == NULL || (ids == NULL && n_ids != 0) || (text == NULL && text_capacity != 0)
        || flags > (Q25_NL_SKIP_CONTROL | Q25_NL_STOP_AT_END)) {
        return Q25_NL_BAD_ARGUMENT;
    }
    for (at = 0; at < n_ids; at++) {
        const uint8_t *bytes;
        uint32_t length, place;
        q25_nl_status status;
        if ((flags & Q25_NL_STOP_AT_END) != 0 && q25_nl_tokenizer_is_end_id(bundle, ids[at])) {
            break;
        }
        status = shown_text(bundle, ids[at], flags, &bytes, &length);
        if (status != Q25_NL_OK) {
            done->n_bytes = 0;
            done->n_read = at;
            return status;
        }
        /* Whole tokens only, and none behind one that did not fit. */
        free = length <= free ? free : 0;
        for (place = 0; place < length && free != 0; place++) {
            text[done->n_bytes + place] = bytes[place];
            Q25_NL_PLAIN_LOOP();
        }
        free -= length <= free ? length : 0;
        done->n_bytes += length;
    }
    done->n_read = at;
    return done->n_bytes > text_capacity ? Q25_NL_OUTPUT_TOO_SMALL : Q25_NL_OK;
}

/* How many bytes at the end, 0 to 3, begin a character that is not all there. `byte` gives the byte that is
 * so many places before the end: [0] is the last one. */
static uint32_t unfinished(const uint8_t byte[3], uint32_t count)
{
    uint32_t length;
    for (length = 1; length <= count && length <= 3; length++) {
        uint32_t lead = byte[length - 1];
        uint32_t whole = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        uint8_t begun[3];
        uint32_t place, code;
        if ((lead & 0xC0) == 0x80) {
            continue; /* it goes on a character: the lead byte lies further back */
        }
        for (place = 0; place < length; place++) {
            begun[place] = byte[length - 1 - place];
        }
        return length < whole && lead >= 0xC2 && decode(begun, length, &code) == length ? length : 0;
    }
    return 0;
}

q25_nl_status q25_nl_tokenizer_stream_id(const q25_nl_bundle_view *bundle, q25_nl_text_stream *stream,
                                         uint32_t id, uint32_t flags, uint8_t *text,
                                         size_t text_capacity, size_t *n_bytes)
{
    const uint8_t *bytes;
    uint8_t last[3];
    uint32_t length, total, ready, at;
    q25_nl_status status;
    if (bundle == NULL || stream == NULL || n_bytes == NULL || (text == NULL && text_capacity != 0)
        || flags > Q25_NL_SKIP_CONTROL || stream->n_held > 3) {
        return Q25_NL_BAD_ARGUMENT;
    }
    *n_bytes = 0;
    status = shown_text(bundle, id, flags, &bytes, &length);
    if (status != Q25_NL_OK) {
        return status;
    }
    total = stream->n_held + length;
    for (at = 0; at < 3 && at < total; at++) {
        last[at] = at < length ? bytes[length - 1 - at] : stream->held[total - 1 - at];
    }
    ready = total - unfinished(last, total < 3 ? total : 3);
    *n_bytes = ready;
    if (ready > text_capacity) {
        return Q25_NL_OUTPUT_TOO_SMALL;
    }
    for (at = 0; at < ready; at++) {
        text[at] = at < stream->n_held ? stream->held[at] : bytes[at - stream->n_held];
        Q25_NL_PLAIN_LOOP();
    }
    for (at = 0; at < total - ready; at++) {
        stream->held[at] = last[total - ready - 1 - at];
    }
    stream->n_held = (uint8_t)(total - ready);
    return Q25_NL_OK;
}

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
    }
    stream->n_held = 0;
    return Q25_NL_OK;
}

/* ---- Without an image -------------------------------------------------------------------------- */

/* GPT-2 numbers the bytes that can be printed first (0x21..0x7E, 0xA1..0xAC, 0xAE..0xFF), then the
 * others, each part in ascending order. */
static uint32_t byte_id(uint32_t byte)
{
    if (byte < 0x21) {
        return byte + 188;
    }
    if (byte < 0x7F) {
        return byte - 0x21;
    }
    if (byte < 0xA1) {
        return byte - 0x7F + 221;
    }
    if (byte == 0xAD) {
        return 255;
    }
    return byte < 0xAD ? byte - 0xA1 + 94 : byte - 0xAE + 106;
}

/* The way back, for ids below 256. */
static uint32_t byte_of_id(uint32_t id)
{
    if (id < 94) {
        return id + 0x21;
    }
    if (id < 106) {
        return id - 94 + 0xA1;
    }
    if (id < 188) {
        return id - 106 + 0xAE;
    }
    if (id < 221) {
        return id - 188;
    }
    return id == 255 ? 0xAD : id - 221 + 0x7F;
}

q25_nl_status q25_tokenize_utf8_bytes(const char *text, uint32_t *ids, size_t id_capacity,
                                      size_t *n_ids)
{
    size_t at;
    if (text == NULL || n_ids == NULL || (ids == NULL && id_capacity != 0)) {
        return Q25_NL_BAD_ARGUMENT;
    }
    for (at = 0; text[at] != 0; at++) {
        if (at < id_capacity) {
            ids[at] = byte_id((uint8_t)text[at]);
        }
    }
    *n_ids = at;
    return at > id_capacity ? Q25_NL_OUTPUT_TOO_SMALL : Q25_NL_OK;
}

q25_nl_status q25_detokenize_utf8_bytes(const uint32_t *ids, size_t n_ids, char *text,
                                        size_t text_capacity, size_t *n_bytes)
{
    size_t at;
    if (n_bytes == NULL || (ids == NULL && n_ids != 0) || (text == NULL && text_capacity != 0)) {
        return Q25_NL_BAD_ARGUMENT;
    }
    for (at = 0; at < n_ids; at++) {
        uint32_t byte;
        *n_bytes = at;
        if (ids[at] >= 256) {
            return Q25_NL_NOT_A_BYTE_TOKEN;
        }
        byte = byte_of_id(ids[at]);
        if (byte == 0) {
            return Q25_NL_NUL_BYTE;
        }
        if (at + 1 < text_capacity) {
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

const char *q25_nl_status_name(q25_nl_status status)
{
#define Q25_NL_NAME(name) \
    case Q25_NL_##name: \
        return #name;
    switch (status) {
        Q25_NL_NAME(OK)
        Q25_NL_NAME(BAD_ARGUMENT)
        Q25_NL_NAME(TEXT_TOO_LONG)
        Q25_NL_NAME(INVALID_UTF8)
        Q25_NL_NAME(SCRATCH_TOO_SMALL)
        Q25_NL_NAME(OUTPUT_TOO_SMALL)
        Q25_NL_NAME(UNKNOWN_PRETOKENIZER)
        Q25_NL_NAME(OTHER_UNICODE_TABLES)
        Q25_NL_NAME(BYTE_WITHOUT_TOKEN)
        Q25_NL_NAME(UNKNOWN_ID)
        Q25_NL_NAME(NOT_A_BYTE_TOKEN)
        Q25_NL_NAME(NUL_BYTE)
        Q25_NL_NAME(IMAGE_DAMAGED)
        Q25_NL_NAME(IMAGE_MISALIGNED)
        Q25_NL_NAME(IMAGE_TOO_SMALL)
        Q25_NL_NAME(BAD_MAGIC)
        Q25_NL_NAME(BAD_MAJOR_VERSION)
        Q25_NL_NAME(BAD_HEADER_BYTES)
        Q25_NL_NAME(BAD_TOTAL_BYTES)
        Q25_NL_NAME(BAD_SECTION_COUNT)
        Q25_NL_NAME(BAD_DIRECTORY_SIZE)
        Q25_NL_NAME(BAD_HEADER_CRC)
        Q25_NL_NAME(BAD_PROFILE)
        Q25_NL_NAME(BAD_FLAGS)
        Q25_NL_NAME(BAD_SECTION_ALIGN)
        Q25_NL_NAME(BAD_TOTAL_ALIGN)
        Q25_NL_NAME(BAD_N_TOKENS)
        Q25_NL_NAME(BAD_N_BASE)
        Q25_NL_NAME(BAD_N_ADDED)
        Q25_NL_NAME(BAD_N_MERGES)
        Q25_NL_NAME(BAD_MAX_TOKEN_BYTES)
        Q25_NL_NAME(BAD_MAX_PROBE)
        Q25_NL_NAME(BAD_HASH_SEED)
        Q25_NL_NAME(BAD_PRE_NAME)
        Q25_NL_NAME(BAD_BOS_ID)
        Q25_NL_NAME(BAD_EOS_ID)
        Q25_NL_NAME(BAD_PAD_ID)
        Q25_NL_NAME(BAD_N_END_IDS)
        Q25_NL_NAME(BAD_END_ID)
        Q25_NL_NAME(BAD_FIRST_PAD_ID)
        Q25_NL_NAME(BAD_HEADER_RESERVED)
        Q25_NL_NAME(BAD_ENTRY_FLAGS)
        Q25_NL_NAME(BAD_ENTRY_RESERVED)
        Q25_NL_NAME(BAD_SECTION_OFFSET)
        Q25_NL_NAME(BAD_SECTION_LENGTH)
        Q25_NL_NAME(UNKNOWN_SECTION)
        Q25_NL_NAME(REPEATED_SECTION)
        Q25_NL_NAME(BAD_RECORD_BYTES)
        Q25_NL_NAME(BAD_RECORD_COUNT)
        Q25_NL_NAME(MISSING_SECTION)
        Q25_NL_NAME(BAD_IMAGE_END)
        Q25_NL_NAME(BAD_PADDING)
        Q25_NL_NAME(BAD_SECTION_CRC)
        Q25_NL_NAME(BAD_TOKEN_OFFSET)
        Q25_NL_NAME(BAD_TOKEN_TYPE)
        Q25_NL_NAME(BAD_TOKEN_BYTES)
        Q25_NL_NAME(WRONG_N_BASE)
        Q25_NL_NAME(WRONG_MAX_TOKEN_BYTES)
        Q25_NL_NAME(NORMAL_PAD)
        Q25_NL_NAME(BAD_MERGE_RANK)
        Q25_NL_NAME(BAD_MERGE_ID)
        Q25_NL_NAME(BAD_MERGE_BYTES)
        Q25_NL_NAME(WRONG_RANK_FLAG)
        Q25_NL_NAME(BAD_BYTE_TOKEN)
        Q25_NL_NAME(BAD_PAIR_SLOTS)
        Q25_NL_NAME(BAD_PAIR_SLOT)
        Q25_NL_NAME(REPEATED_PAIR)
        Q25_NL_NAME(MISSING_PAIR)
        Q25_NL_NAME(WRONG_MAX_PROBE)
        Q25_NL_NAME(BAD_SPECIAL_ID)
        Q25_NL_NAME(BAD_SPECIAL_ORDER)
        Q25_NL_NAME(MISSING_SPECIAL)
        Q25_NL_NAME(BAD_SPECIAL_BITMAP)
    }
#undef Q25_NL_NAME
    return "UNKNOWN_STATUS";
}
