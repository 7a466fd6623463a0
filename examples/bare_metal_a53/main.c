/* Verifies the image at image_start, encodes each line of text, prints its ids, and proves that they
 * stand for the line. Ends with 0: all good, 1: a line is at fault, 2: image or text cannot be used. */
#include <stddef.h>
#include <stdint.h>

#include "finish.h"
#include "lines.h"
#include "measure.h"
#include "memory.h"
#include "print.h"
#include "q25_nl_tokenizer.h"
#include "uart.h"

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

/* From link.ld. */
extern const uint8_t image_start[];
extern const uint8_t image_room_end[];
extern const uint8_t text_start[];

/* An image that is open, and what the work on it has cost so far. */
typedef struct session {
    q25_nl_bundle_view bundle;
    q25_nl_encode_view encode;
    size_t image_bytes;
    uint32_t n_lines, n_failed;
    size_t n_bytes, n_ids, most_scratch;
    cost verifying, opening, encoding, decoding;
} session;

/* ---- The image --------------------------------------------------------------------------------- */

/* What the header says. Where that cannot be, all the room there is: opening then says what is wrong. */
static size_t image_size(void)
{
    const size_t room = (uintptr_t)image_room_end - (uintptr_t)image_start;
    const size_t stated = ((const q25_nl_header *)(const void *)image_start)->total_bytes;
    return stated >= sizeof(q25_nl_header) && stated <= room ? stated : room;
}

static const char *section_name(uint32_t kind)
{
    static const char *const names[Q25_NL_SECTION_KINDS] = {
        "header",         "token_index",      "token_bytes",         "merge_table",
        "byte_token_map", "merge_pair_index", "special_token_index",
    };
    return kind < Q25_NL_SECTION_KINDS ? names[kind] : "unknown section";
}

static void print_image_fault(q25_nl_status status, const q25_nl_fault *fault)
{
    print("image at 0x");
    print_hex((uintptr_t)image_start, 8);
    print(": ");
    print(q25_nl_status_name(status));
    print(" in ");
    print(section_name(fault->section));
    print(", row ");
    print_number(fault->row);
    print(", offset ");
    print_number(fault->offset);
    print(" (0x");
    print_hex(fault->offset, 8);
    print(")\n");
}

/* Whether the image is good; says so, or what is wrong. */
static int open_image(session *now)
{
    q25_nl_fault fault = {0, 0, 0};
    q25_nl_status status;
    cost begin;
    now->image_bytes = image_size();
    begin = measure_now();
    status = q25_nl_tokenizer_runtime_image_verify(image_start, now->image_bytes, &fault);
    measure_add(&now->verifying, &begin);
    if (status == Q25_NL_OK) {
        begin = measure_now();
        status = q25_nl_tokenizer_runtime_image_open(image_start, now->image_bytes, &now->bundle,
                                                     &now->encode, NULL);
        measure_add(&now->opening, &begin);
    }
    if (status == Q25_NL_OK) {
        status = now->encode.readiness;
    }
    if (status != Q25_NL_OK) {
        print_image_fault(status, &fault);
        return 0;
    }
    print("image: ");
    print_number(now->image_bytes);
    print(" bytes, ");
    print_number(now->bundle.n_tokens);
    print(" tokens, ");
    print_number(now->encode.n_merges);
    print(" merges, verified\n");
    return 1;
}

/* ---- Lines ------------------------------------------------------------------------------------- */

static q25_nl_status encode(session *now, text line, uint32_t *out, q25_nl_encode_statistics *done)
{
    return q25_nl_tokenizer_bundle_encode_bpe_bounded(&now->bundle, &now->encode, line.bytes, line.length,
                                                      SPECIALS, scratch, sizeof scratch, out,
                                                      LONGEST_TEXT, done);
}

/* Shows ids one by one, as a display gets them, into `shown`. Returns the bytes shown, or more than there
 * is room for where that fails. */
static size_t show(const session *now, size_t n_ids)
{
    q25_nl_text_stream stream = {{0, 0, 0, 0}, 0};
    size_t length = 0, more = 0, at;
    for (at = 0; at < n_ids; at++) {
        if (q25_nl_tokenizer_stream_id(&now->bundle, &stream, ids[at], 0, shown + length,
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

/* Proves that `ids` stand for the line. Returns NULL, or what is wrong. Where they stand for other bytes,
 * which only NFC may have changed, those are printed, and must have the same ids.
 *
 * (A special token that holds a sign which NFC makes of another, as ';' of U+037E, would be a false alarm
 * there. Qwen has none.) */
static const char *check_ids(session *now, text line, const q25_nl_encode_statistics *encoded)
{
    q25_nl_detokenize_statistics done;
    q25_nl_encode_statistics again;
    text back = {decoded, 0}, stream = {shown, 0};
    size_t at;
    const cost begin = measure_now();
    const q25_nl_status status = q25_nl_tokenizer_bundle_detokenize(
        &now->bundle, ids, encoded->n_ids, 0, decoded, sizeof decoded, &done);
    measure_add(&now->decoding, &begin);
    if (status != Q25_NL_OK) {
        return q25_nl_status_name(status);
    }
    back.length = done.n_bytes;
    if (back.length != encoded->n_bytes) {
        return "the ids stand for more or fewer bytes than were encoded";
    }
    stream.length = show(now, encoded->n_ids);
    if (!same(back, stream)) {
        return "shown one by one, the ids give other bytes";
    }
    if (same(back, line)) {
        return NULL;
    }
    print("   NFC ");
    for (at = 0; at < back.length; at++) {
        print_hex(back.bytes[at], 2);
    }
    print("\n");
    if (is_nfc_for_certain(line)) {
        return "the ids stand for other bytes";
    }
    if (encode(now, back, ids_again, &again) != Q25_NL_OK || again.n_ids != encoded->n_ids
        || memcmp(ids, ids_again, again.n_ids * sizeof ids[0]) != 0) {
        return "what the ids stand for has other ids";
    }
    return NULL;
}

static void print_failure(const char *what)
{
    print("   FAILED: ");
    print(what);
}

/* Encodes a line and prints its ids. Returns whether all is as it must be. */
static int check_line(session *now, text line)
{
    q25_nl_encode_statistics done;
    q25_nl_status status;
    const char *wrong;
    size_t at;
    cost begin;
    print_number(now->n_lines);
    print(":");
    if (line.length > LONGEST_LINE) {
        print("\n");
        print_failure("the line is longer than LONGEST_LINE\n");
        return 0;
    }
    begin = measure_now();
    status = encode(now, line, ids, &done);
    measure_add(&now->encoding, &begin);
    if (status != Q25_NL_OK) {
        print("\n");
        print_failure(q25_nl_status_name(status));
        print(" at byte ");
        print_number(done.error_offset);
        print("\n");
        return 0;
    }
    for (at = 0; at < done.n_ids; at++) {
        print(" ");
        print_number(ids[at]);
    }
    print("\n");
    now->n_bytes += line.length;
    now->n_ids += done.n_ids;
    if (done.scratch_needed > now->most_scratch) {
        now->most_scratch = done.scratch_needed;
    }
    wrong = check_ids(now, line, &done);
    if (wrong != NULL) {
        print_failure(wrong);
        print("\n");
    }
    return wrong == NULL;
}

/* ---- All of it --------------------------------------------------------------------------------- */

/* How many, and how many for each byte, to a tenth. */
static void print_count(const char *before, uint64_t count, const char *what, size_t bytes)
{
    print(before);
    print_number(count);
    print(what);
    if (bytes != 0) {
        print(" (");
        print_number(count / bytes);
        print(".");
        print_number(count % bytes * 10 / bytes);
        print(" a byte)");
    }
}

static void print_cost(const char *what, const cost *spent, size_t bytes)
{
    print_count(what, spent->instructions, " instructions", bytes);
    if (spent->cycles != spent->instructions) { /* QEMU knows no cycles and gives instructions */
        print_count(", ", spent->cycles, " cycles", bytes);
    }
    print("\n");
}

static void print_costs(const session *now)
{
    print_cost("verify: ", &now->verifying, now->image_bytes);
    print_cost("open:   ", &now->opening, 0);
    print_cost("encode: ", &now->encoding, now->n_bytes);
    print_cost("decode: ", &now->decoding, now->n_bytes);
    print("stack:  ");
    print_number(measure_stack());
    print(" of ");
    print_number(measure_stack_room());
    print(" bytes; scratch: ");
    print_number(now->most_scratch);
    print(" bytes needed\n");
}

int main(void)
{
    static session now; /* all zero */
    const int counts = measure_open();
    const char *wrong;
    text left, line;
    uart_open();
    if (!open_image(&now)) {
        return BAD_INPUT;
    }
    wrong = text_find(&left);
    print("text: ");
    print_number(left.length);
    if (left.bytes == text_start) {
        print(" bytes at 0x");
        print_hex((uintptr_t)text_start, 8);
        print("\n");
    } else {
        print(" bytes, linked in\n");
    }
    if (wrong != NULL) {
        print_failure(wrong);
        print("\n");
        return BAD_INPUT;
    }
    while (text_next_line(&left, &line)) {
        now.n_lines++;
        now.n_failed += !check_line(&now, line);
    }
    print_number(now.n_lines);
    print(" lines, ");
    print_number(now.n_ids);
    print(" ids, ");
    print_number(now.n_failed);
    print(" failed\n");
    if (counts) {
        print_costs(&now);
    }
    return now.n_lines == 0 || now.n_failed != 0 ? LINE_FAILED : GOOD;
}
