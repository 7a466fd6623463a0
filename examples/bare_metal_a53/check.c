#include "check.h"

#include "memory.h"
#include "print.h"

#ifndef LONGEST_LINE
#define LONGEST_LINE 65536u /* bytes */
#endif
#define LONGEST_TEXT (3u * LONGEST_LINE) /* a line after NFC; no text has more ids than bytes */

/* The lines are ours. Text from outside is encoded with Q25_NL_SPECIALS_NONE. */
#ifndef SPECIALS
#define SPECIALS Q25_NL_SPECIALS_ALL
#endif

/* Working memory. start.S does not clear it: nothing needs that. */
#define WORK __attribute__((section(".bss.work")))
static WORK uint64_t scratch[(Q25_NL_SCRATCH_BYTES(LONGEST_TEXT) + Q25_NL_CACHE_BYTES) / 8 + 1];
static WORK uint32_t ids[LONGEST_TEXT];
static WORK uint32_t ids_again[LONGEST_TEXT];
static WORK uint8_t decoded[LONGEST_TEXT];
static WORK uint8_t shown[LONGEST_TEXT];

static q25_nl_status encode(const image *opened, text line, uint32_t *out, q25_nl_encode_statistics *done)
{
    return q25_nl_tokenizer_bundle_encode_bpe_bounded(&opened->bundle, &opened->encode, line.bytes,
                                                      line.length, SPECIALS, scratch, sizeof scratch,
                                                      out, LONGEST_TEXT, done);
}

/* Shows ids one by one, as a display gets them, into `shown`. Returns the bytes shown, or more than there
 * is room for where that fails. */
static size_t show(const image *opened, size_t n_ids)
{
    q25_nl_text_stream stream = {{0, 0, 0, 0}, 0};
    size_t length = 0, more = 0, at;
    for (at = 0; at < n_ids; at++) {
        if (q25_nl_tokenizer_stream_id(&opened->bundle, &stream, ids[at], 0, shown + length,
                                       sizeof shown - length, &more)
            != Q25_NL_OK) {
            return sizeof shown + 1;
        }
        length += more;
    }
    if (q25_nl_tokenizer_stream_finish(&stream, shown + length, sizeof shown - length, &more)
        != Q25_NL_OK) {
        return sizeof shown + 1;
    }
    return length + more;
}

/* Text of code points below U+0300 only is its own NFC. So is much other text, but that takes tables to say. */
static int is_nfc_for_certain(text line)
{
    size_t at;
    for (at = 0; at < line.length; at++) {
        if (line.bytes[at] >= 0xCC) {
            return 0;
        }
    }
    return 1;
}

static int same(text left, text right)
{
    return left.length == right.length && memcmp(left.bytes, right.bytes, left.length) == 0;
}

static void print_nfc(text back)
{
    size_t at;
    print("   NFC ");
    for (at = 0; at < back.length; at++) {
        print_hex(back.bytes[at], 2);
    }
    print("\n");
}

/* Proves that `ids` stand for the line. Returns NULL, or what is wrong. Where they stand for other bytes,
 * which only NFC may have changed, those are printed, and must have the same ids.
 *
 * (A special token that holds a sign which NFC makes of another, as ';' of U+037E, would be a false alarm
 * there. Qwen has none.) */
static const char *check_ids(const image *opened, text line, const q25_nl_encode_statistics *encoded,
                             checked *sum)
{
    q25_nl_detokenize_statistics done;
    q25_nl_encode_statistics again;
    text back = {decoded, 0}, stream = {shown, 0};
    const cost begin = measure_now();
    const q25_nl_status status = q25_nl_tokenizer_bundle_detokenize(
        &opened->bundle, ids, encoded->n_ids, 0, decoded, sizeof decoded, &done);
    measure_add(&sum->decoding, &begin);
    if (status != Q25_NL_OK) {
        return q25_nl_status_name(status);
    }
    back.length = done.n_bytes;
    if (back.length != encoded->n_bytes) {
        return "the ids stand for more or fewer bytes than were encoded";
    }
    stream.length = show(opened, encoded->n_ids);
    if (!same(back, stream)) {
        return "shown one by one, the ids give other bytes";
    }
    if (same(back, line)) {
        return NULL;
    }
    print_nfc(back);
    if (is_nfc_for_certain(line)) {
        return "the ids stand for other bytes";
    }
    if (encode(opened, back, ids_again, &again) != Q25_NL_OK || again.n_ids != encoded->n_ids
        || memcmp(ids, ids_again, again.n_ids * sizeof ids[0]) != 0) {
        return "what the ids stand for has other ids";
    }
    return NULL;
}

static void print_ids(size_t n_ids)
{
    size_t at;
    for (at = 0; at < n_ids; at++) {
        print(" ");
        print_number(ids[at]);
    }
    print("\n");
}

/* Returns NULL, or what is wrong and in `at` the byte of the line where, if that is known. */
static const char *check(const image *opened, text line, checked *sum, size_t *at)
{
    q25_nl_encode_statistics done;
    q25_nl_status status;
    cost begin;
    if (line.length > LONGEST_LINE) {
        print_ids(0);
        return "the line is longer than LONGEST_LINE";
    }
    begin = measure_now();
    status = encode(opened, line, ids, &done);
    measure_add(&sum->encoding, &begin);
    if (status != Q25_NL_OK) {
        print_ids(0);
        *at = done.error_offset;
        return q25_nl_status_name(status);
    }
    print_ids(done.n_ids);
    sum->n_bytes += line.length;
    sum->n_ids += done.n_ids;
    if (done.scratch_needed > sum->most_scratch) {
        sum->most_scratch = done.scratch_needed;
    }
    return check_ids(opened, line, &done, sum);
}

void check_line(const image *opened, text line, checked *sum)
{
    const size_t nowhere = (size_t)-1;
    size_t at = nowhere;
    const char *wrong;
    sum->n_lines++;
    print_number(sum->n_lines);
    print(":");
    wrong = check(opened, line, sum, &at);
    if (wrong == NULL) {
        return;
    }
    sum->n_failed++;
    print("   FAILED: ");
    print(wrong);
    if (at != nowhere) {
        print(" at byte ");
        print_number(at);
    }
    print("\n");
}
