/* q25_nl_tokenizer: exact byte-level BPE from a Q25TOKRT image, read where it lies.
 *
 * Freestanding C99 (and C++11): only <stddef.h> and <stdint.h>, no allocation, no recursion, no
 * variables, no unaligned access, no floating point. Little-endian machines only. README.md says what
 * to copy, how much memory to set aside and what is guaranteed.
 *
 * Every function may be called from several threads at once on the same image.
 */
#ifndef Q25_NL_TOKENIZER_H
#define Q25_NL_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status codes ------------------------------------------------------------------------------ */

/* The values are part of the interface and do not change. */
typedef enum q25_nl_status {
    Q25_NL_OK = 0,

    /* Of any function. */
    Q25_NL_BAD_ARGUMENT = 1, /* a null pointer, or flags that mean nothing */

    /* Of encoding, detokenizing and the byte fallback. */
    Q25_NL_TEXT_TOO_LONG = 2,         /* more than Q25_NL_MAX_TEXT_BYTES */
    Q25_NL_INVALID_UTF8 = 3,          /* at error_offset */
    Q25_NL_SCRATCH_TOO_SMALL = 4,     /* scratch_needed bytes are enough */
    Q25_NL_OUTPUT_TOO_SMALL = 5,      /* the statistics say what is needed */
    Q25_NL_UNKNOWN_PRETOKENIZER = 6,  /* the image names a rule of splitting text that is not served */
    Q25_NL_OTHER_UNICODE_TABLES = 7,  /* the image was checked with tables of other Unicode versions */
    Q25_NL_BYTE_WITHOUT_TOKEN = 8,    /* the vocabulary has no token for a byte of the text */
    Q25_NL_UNKNOWN_ID = 9,            /* an id that the vocabulary does not have */
    Q25_NL_NOT_A_BYTE_TOKEN = 10,     /* an id that stands for no single byte */
    Q25_NL_NUL_BYTE = 11,             /* an id that stands for NUL, which a C string cannot hold */
    Q25_NL_IMAGE_DAMAGED = 12,        /* sections contradict each other: verify the image */
    Q25_NL_TOO_MANY_TOKENS = 13,      /* 2^22 or more: the image can be opened and detokenized only */

    /* Of opening an image. */
    Q25_NL_IMAGE_MISALIGNED = 32,     /* its address is no multiple of Q25_NL_IMAGE_ALIGN */
    Q25_NL_IMAGE_TOO_SMALL = 33,      /* shorter than a header */
    Q25_NL_BAD_MAGIC = 34,            /* not a Q25TOKRT image */
    Q25_NL_BAD_MAJOR_VERSION = 35,    /* of a version that this reader does not know */
    Q25_NL_BAD_HEADER_BYTES = 36,
    Q25_NL_BAD_TOTAL_BYTES = 37,      /* not the size that was given */
    Q25_NL_BAD_SECTION_COUNT = 38,
    Q25_NL_BAD_DIRECTORY_SIZE = 39,   /* header and directory do not fit the image */
    Q25_NL_BAD_HEADER_CRC = 40,       /* header or directory was changed */
    Q25_NL_BAD_PROFILE = 41,          /* of a profile that this reader does not serve */
    Q25_NL_BAD_FLAGS = 42,
    Q25_NL_BAD_SECTION_ALIGN = 43,
    Q25_NL_BAD_TOTAL_ALIGN = 44,      /* total_bytes is no multiple of section_align */
    Q25_NL_BAD_N_TOKENS = 45,
    Q25_NL_BAD_N_BASE = 46,
    Q25_NL_BAD_N_ADDED = 47,
    Q25_NL_BAD_N_MERGES = 48,
    Q25_NL_BAD_MAX_TOKEN_BYTES = 49,
    Q25_NL_BAD_MAX_PROBE = 50,
    Q25_NL_BAD_HASH_SEED = 51,
    Q25_NL_BAD_PRE_NAME = 52,
    Q25_NL_BAD_BOS_ID = 53,
    Q25_NL_BAD_EOS_ID = 54,
    Q25_NL_BAD_PAD_ID = 55,
    Q25_NL_BAD_N_END_IDS = 56,
    Q25_NL_BAD_END_ID = 57,
    Q25_NL_BAD_FIRST_PAD_ID = 58,
    Q25_NL_BAD_HEADER_RESERVED = 59,
    Q25_NL_BAD_ENTRY_FLAGS = 60,      /* from here on: of a directory entry */
    Q25_NL_BAD_ENTRY_RESERVED = 61,
    Q25_NL_BAD_SECTION_OFFSET = 62,   /* not the first aligned offset behind what comes before */
    Q25_NL_BAD_SECTION_LENGTH = 63,   /* reaches beyond the image */
    Q25_NL_UNKNOWN_SECTION = 64,      /* of unknown kind and not optional */
    Q25_NL_REPEATED_SECTION = 65,
    Q25_NL_BAD_RECORD_BYTES = 66,
    Q25_NL_BAD_RECORD_COUNT = 67,     /* does not fit the length or the header */
    Q25_NL_MISSING_SECTION = 68,
    Q25_NL_BAD_IMAGE_END = 69,        /* the last section does not end the image */

    /* Of verifying an image, besides those of opening it. */
    Q25_NL_BAD_PADDING = 96,          /* not zero between or behind sections */
    Q25_NL_BAD_SECTION_CRC = 97,
    Q25_NL_BAD_TOKEN_OFFSET = 98,     /* not the sum of the lengths before it */
    Q25_NL_BAD_TOKEN_TYPE = 99,
    Q25_NL_BAD_TOKEN_BYTES = 100,     /* their length is not the sum of the tokens' lengths */
    Q25_NL_WRONG_N_BASE = 101,        /* not the number of normal tokens */
    Q25_NL_WRONG_MAX_TOKEN_BYTES = 102, /* not the length of the longest token */
    Q25_NL_NORMAL_PAD = 103,          /* padding of type normal */
    Q25_NL_BAD_MERGE_RANK = 104,      /* not the row */
    Q25_NL_BAD_MERGE_ID = 105,        /* no token, or none of type normal */
    Q25_NL_BAD_MERGE_BYTES = 106,     /* the two tokens joined are not the token made */
    Q25_NL_WRONG_RANK_FLAG = 107,     /* bit 0 of the header's flags does not hold */
    Q25_NL_BAD_BYTE_TOKEN = 108,      /* not the lowest normal token that is this byte */
    Q25_NL_BAD_PAIR_SLOTS = 109,      /* not as many slots as the entries take */
    Q25_NL_BAD_PAIR_SLOT = 110,       /* not the entry that belongs there */
    Q25_NL_REPEATED_PAIR = 111,       /* two merges of the same pair */
    Q25_NL_MISSING_PAIR = 112,        /* fewer entries than merges */
    Q25_NL_WRONG_MAX_PROBE = 113,     /* not the longest way from home to an entry */
    Q25_NL_BAD_SPECIAL_ID = 114,      /* no added token, or an empty one */
    Q25_NL_BAD_SPECIAL_ORDER = 115,   /* not by first byte, length descending, id */
    Q25_NL_MISSING_SPECIAL = 116,     /* fewer entries than added tokens */
    Q25_NL_BAD_SPECIAL_BITMAP = 117,  /* not the first bytes of the entries */
    Q25_NL_BAD_DERIVATION = 118,      /* merging a token's bytes does not make it, which the profile needs */
    Q25_NL_BAD_TRIE_TOKEN = 119,      /* a token's bytes do not lead to it */
    Q25_NL_BAD_TRIE_SLOTS = 120,      /* more tokens than there are */
    Q25_NL_BAD_PREFIX = 121,          /* not the longest token that the token begins with */
    Q25_NL_BAD_BYTE_VALUE = 122,      /* not the byte whose token this is */
    Q25_NL_BAD_MERGE_DEPTH = 123,     /* more parts of a token wait than a reader keeps */
    Q25_NL_BAD_MADE_BYTES = 124,      /* more bytes of all tokens that merges make than may be */
    Q25_NL_BAD_PAIR_MULTIPLIER = 125, /* even */
    Q25_NL_BAD_PAIR_BITMAP = 126      /* the bit of a merge is not set, or more bits than merges are */
} q25_nl_status;

/* The name of a status without its prefix, such as "BAD_MAGIC"; "UNKNOWN_STATUS" for other values. */
const char *q25_nl_status_name(q25_nl_status status);

/* ---- The image --------------------------------------------------------------------------------- */

#define Q25_NL_IMAGE_ALIGN 8u /* bytes; the address of an image is a multiple of it */
#define Q25_NL_NONE 0xFFFFFFFFu /* an id that is not there */
#define Q25_NL_MAX_END_IDS 8

/* What an image is made for, as bits 8 to 11 of the header's flags have it. */
enum {
    Q25_NL_PROFILE_STANDARD = 0,
    Q25_NL_PROFILE_FAST = 1,   /* has a token trie and a bitmap of merged pairs besides */
    Q25_NL_PROFILE_COMPACT = 2 /* has of the tokens that merges make only the merges */
};

/* Kinds of sections. */
enum {
    Q25_NL_TOKEN_INDEX = 1,
    Q25_NL_TOKEN_BYTES = 2,
    Q25_NL_MERGE_TABLE = 3,
    Q25_NL_BYTE_TOKEN_MAP = 4,
    Q25_NL_MERGE_PAIR_INDEX = 5,
    Q25_NL_SPECIAL_TOKEN_INDEX = 6,
    Q25_NL_TOKEN_TRIE = 7,
    Q25_NL_TOKEN_PREFIXES = 8,
    Q25_NL_MERGE_PAIR_BITMAP = 9,
    Q25_NL_MERGE_LOW_BITS = 16, /* from here on: of profile compact */
    Q25_NL_MERGE_HIGH_BITS = 17,
    Q25_NL_PAIR_MULTIPLIERS = 18,
    Q25_NL_PAIR_ROWS = 19,
    Q25_NL_STORED_TOKEN_INDEX = 20,
    Q25_NL_STORED_TOKEN_BYTES = 21,
    Q25_NL_BYTE_VALUES = 22,
    Q25_NL_SECTION_KINDS = 23
};

/* An image is read as it lies, so these are its bytes. */
#if defined(__GNUC__)
#define Q25_NL_IN_IMAGE __attribute__((__may_alias__))
#else
#define Q25_NL_IN_IMAGE
#endif

typedef uint32_t Q25_NL_IN_IMAGE q25_nl_word;
typedef uint16_t Q25_NL_IN_IMAGE q25_nl_half_word;

/* The start of an image. */
typedef struct Q25_NL_IN_IMAGE q25_nl_header {
    uint8_t magic[8]; /* "Q25TOKRT" */
    uint16_t major;
    uint16_t minor;
    uint32_t header_bytes;
    uint32_t total_bytes;
    uint32_t flags;
    uint32_t section_count;
    uint32_t section_align;
    uint32_t n_tokens; /* padding included */
    uint32_t n_base;   /* of type normal */
    uint32_t n_added;  /* in the special-token index */
    uint32_t n_merges;
    uint32_t max_token_bytes;
    uint32_t max_probe;
    uint64_t hash_seed;
    char pre_name[32];     /* NUL-terminated */
    uint32_t class_tables; /* Unicode versions: major << 16 | minor << 8 | patch */
    uint32_t nfc_tables;
    uint32_t bos_id; /* these three Q25_NL_NONE where there is none */
    uint32_t eos_id;
    uint32_t pad_id;
    uint32_t n_end_ids;
    uint32_t end_ids[Q25_NL_MAX_END_IDS];
    uint8_t source_sha256[32]; /* of the GGUF blob */
    uint32_t first_pad_id;
    uint32_t reserved[16];
    uint32_t crc32; /* of what is before it, followed by the directory */
} q25_nl_header;

/* One entry of the directory, which follows the header. */
typedef struct Q25_NL_IN_IMAGE q25_nl_section {
    uint32_t kind;
    uint32_t flags;
    uint32_t record_bytes;
    uint32_t offset; /* bytes from the image's start */
    uint32_t length; /* bytes */
    uint32_t count;  /* records */
    uint32_t crc32;
    uint32_t reserved;
} q25_nl_section;

/* What the image says of itself. Points into it. */
typedef struct q25_nl_image_info {
    const q25_nl_header *header;
    const q25_nl_section *sections[Q25_NL_SECTION_KINDS]; /* by kind; NULL where the image has none */
} q25_nl_image_info;

/* What detokenizing reads. Points into the image. An image of profile compact has index and bytes of the ids
 * from first_stored on only; those below are single bytes up to 255, and what merges make. */
typedef struct q25_nl_bundle_view {
    const q25_nl_header *header;
    const q25_nl_word *token_index; /* for each id from there on: start of its bytes, length | type << 16 */
    const uint8_t *token_bytes;
    const q25_nl_word *merge_low_bits; /* for each merge: left | right << 16; their high bits are below */
    const uint8_t *merge_high_bits;    /* for two merges from 65280 on: 2 bits of left, right, left, right */
    const uint8_t *byte_values;        /* of the ids below 256; these three NULL but in profile compact */
    uint32_t token_bytes_length;
    uint32_t n_tokens;
    uint32_t first_pad_id;
    uint32_t first_stored; /* 0 but in profile compact, there 256 + n_merges */
} q25_nl_bundle_view;

/* What encoding reads besides. Points into the image. */
typedef struct q25_nl_encode_view {
    const q25_nl_word *merge_table; /* for each rank: left, right, out, rank; NULL in profile compact */
    const q25_nl_word *byte_tokens;
    const q25_nl_word *pair_slots; /* NULL in profile compact */
    const q25_nl_half_word *pair_multipliers; /* NULL but in profile compact, and so the next one */
    const uint8_t *pair_rows;                 /* in place of slots, 3 bytes each: row | check << 18 */
    const q25_nl_word *special_ids;
    const uint8_t *special_first_bytes; /* a bitmap */
    const q25_nl_word *trie;            /* these three NULL but in profile fast: text is merged */
    const q25_nl_word *prefixes;        /* for each id: the longest token it begins with, length << 21 | id */
    const uint8_t *pair_bitmap;         /* a pair whose bit is not set is not merged */
    uint64_t hash_seed;
    uint32_t n_merges;
    uint32_t n_pair_slots;
    uint32_t home_mask;
    uint32_t bucket_shift; /* of a hash, to the bucket of the multiplier */
    uint32_t max_probe;
    uint32_t n_specials;
    uint32_t n_trie_slots;
    uint32_t bitmap_shift;   /* of a hash, to the bit of a pair */
    uint32_t flags;          /* the header's */
    q25_nl_status readiness; /* what encoding answers where the image's rule cannot be served */
} q25_nl_encode_view;

/* Opens an image: checks the header and the directory, reads no section, copies nothing. Takes
 * constant time. Each of the three results may be NULL where it is not wanted. */
q25_nl_status q25_nl_tokenizer_runtime_image_open(const void *image, size_t image_bytes,
                                                  q25_nl_bundle_view *bundle,
                                                  q25_nl_encode_view *encode,
                                                  q25_nl_image_info *info);

/* Where verification failed. */
typedef struct q25_nl_fault {
    uint32_t section; /* its kind; 0: header, directory or padding */
    uint32_t row;     /* record of the section; 0 where it is no single one */
    uint32_t offset;  /* of that record, or of the section, in bytes from the image's start */
} q25_nl_fault;

/* Opens an image and proves it: checksums, padding, and that each section fits the others as the packer
 * makes them. What is spare is left to the checksums, which find damage but no forgery: the multiplier of an
 * empty bucket, and whether the trie and the bitmap hold more than they have to; `pipeline verify` proves
 * these too. One pass over the image, without scratch. `fault` may be NULL. */
q25_nl_status q25_nl_tokenizer_runtime_image_verify(const void *image, size_t image_bytes,
                                                    q25_nl_fault *fault);

/* ---- Text to ids ------------------------------------------------------------------------------- */

/* Flags of encode: one setting of special tokens, and what to do with invalid UTF-8. */
#define Q25_NL_SPECIALS_NONE 0u    /* all text is ordinary: for text from outside */
#define Q25_NL_SPECIALS_USER 1u    /* user-defined tokens only; control tokens are ordinary text */
#define Q25_NL_SPECIALS_ALL 2u     /* every special token: for templates */
#define Q25_NL_REPLACE_INVALID 4u  /* U+FFFD for each maximal invalid part, in place of an error */

#define Q25_NL_MAX_TEXT_BYTES 0x07FFFFFFu

/* Scratch that is enough for every text of n bytes. Ordinary text needs far less: nothing for pieces
 * (words, runs of signs or blanks) of up to 48 bytes, and 10 bytes for each byte of the longest one.
 * Up to Q25_NL_CACHE_BYTES more are used where they are there, for speed only. */
#define Q25_NL_CACHE_BYTES 65536u
#define Q25_NL_SCRATCH_BYTES(n) ((size_t)29 * (size_t)(n) + 512u)

/* The same as a function. */
size_t q25_nl_tokenizer_scratch_bytes(size_t text_bytes);

typedef struct q25_nl_encode_statistics {
    size_t n_ids;          /* ids of the text: what the output must hold */
    size_t n_merges;       /* merges made */
    size_t n_bytes;        /* bytes that the ids stand for: of the text after NFC and replacement */
    size_t longest_piece;  /* bytes of the longest piece that was merged */
    size_t scratch_needed; /* bytes */
    size_t error_offset;   /* of INVALID_UTF8 and BYTE_WITHOUT_TOKEN: where in the text */
} q25_nl_encode_statistics;

/* Encodes UTF-8 text (which may hold NUL). The ids are those of HuggingFace `tokenizers`.
 *
 * OK: all ids are in `ids`; scratch_needed is the least scratch with which this text succeeds.
 * OUTPUT_TOO_SMALL: n_ids is exactly what is needed; `ids` holds the first ones.
 * SCRATCH_TOO_SMALL: with scratch_needed bytes this text succeeds (perhaps with fewer); n_ids is 0.
 * Any other: the text or the image is at fault, n_ids is 0. What `ids` holds is then unspecified.
 * INVALID_UTF8 is reported whatever is too small, too little scratch before too little output.
 * `ids` and `scratch` may be NULL where their capacity is 0, `statistics` always. Nothing beyond a
 * capacity is touched. */
q25_nl_status q25_nl_tokenizer_bundle_encode_bpe_bounded(
    const q25_nl_bundle_view *bundle, const q25_nl_encode_view *encode, const uint8_t *text,
    size_t text_bytes, uint32_t flags, void *scratch, size_t scratch_bytes, uint32_t *ids,
    size_t id_capacity, q25_nl_encode_statistics *statistics);

/* ---- Ids to text ------------------------------------------------------------------------------- */

/* Flags of detokenize. */
#define Q25_NL_SKIP_CONTROL 1u /* leave out control and unknown tokens */
#define Q25_NL_STOP_AT_END 2u  /* end before the first id that ends a turn or a text */

typedef struct q25_nl_detokenize_statistics {
    size_t n_bytes; /* bytes of the text: what the output must hold */
    size_t n_read;  /* ids up to the end; of UNKNOWN_ID: its index */
} q25_nl_detokenize_statistics;

/* Gives the bytes of ids, which joined are the text after NFC. Padding decodes to nothing. One token
 * may hold part of a character only. OUTPUT_TOO_SMALL: `text` holds the first bytes. `text` may be NULL
 * where its capacity is 0, `statistics` always. */
q25_nl_status q25_nl_tokenizer_bundle_detokenize(const q25_nl_bundle_view *bundle,
                                                 const uint32_t *ids, size_t n_ids, uint32_t flags,
                                                 uint8_t *text, size_t text_capacity,
                                                 q25_nl_detokenize_statistics *statistics);

/* The bytes of an unfinished character, held back from a display. Begin with all zero. */
typedef struct q25_nl_text_stream {
    uint8_t held[4];
    uint32_t n_held; /* at most 3 */
} q25_nl_text_stream;

/* Gives what one more id makes ready to show: never part of a character that may still be finished.
 * `n_bytes` is set to the bytes given, or needed where the status is OUTPUT_TOO_SMALL; the stream is
 * then as before. Room for max_token_bytes + 3 is always enough. Flags: Q25_NL_SKIP_CONTROL. */
q25_nl_status q25_nl_tokenizer_stream_id(const q25_nl_bundle_view *bundle, q25_nl_text_stream *stream,
                                         uint32_t id, uint32_t flags, uint8_t *text,
                                         size_t text_capacity, size_t *n_bytes);

/* Gives the bytes that are still held, at most 3, and begins anew. */
q25_nl_status q25_nl_tokenizer_stream_finish(q25_nl_text_stream *stream, uint8_t *text,
                                             size_t text_capacity, size_t *n_bytes);

/* 1 where an id ends a turn or a text, else 0. */
int q25_nl_tokenizer_is_end_id(const q25_nl_bundle_view *bundle, uint32_t id);

/* ---- Without an image -------------------------------------------------------------------------- */

/* The token of each single byte of a C string, as Qwen numbers them (the place of the byte in the
 * byte alphabet of GPT-2: 'A' is 32, a space 220). Not BPE: a fallback that any model understands.
 * `n_ids` is set to the bytes of the text, which is what `ids` must hold. */
q25_nl_status q25_tokenize_utf8_bytes(const char *text, uint32_t *ids, size_t id_capacity,
                                      size_t *n_ids);

/* The way back. `n_bytes` is set to the bytes without the NUL at the end, for which there must be room;
 * of NOT_A_BYTE_TOKEN and NUL_BYTE: to the index of the id at fault. */
q25_nl_status q25_detokenize_utf8_bytes(const uint32_t *ids, size_t n_ids, char *text,
                                        size_t text_capacity, size_t *n_bytes);

#ifdef __cplusplus
}
#endif

#endif
