#include "image.h"

#include <stdint.h>

#include "print.h"

/* From link.ld. */
extern const uint8_t image_start[];
extern const uint8_t image_room_end[];

/* What the header says. Where that cannot be, all the room there is: opening then says what is wrong. */
static size_t stated_size(void)
{
    const size_t room = (uintptr_t)image_room_end - (uintptr_t)image_start;
    const size_t stated = ((const q25_nl_header *)(const void *)image_start)->total_bytes;
    return stated >= sizeof(q25_nl_header) && stated <= room ? stated : room;
}

static const char *section_name(uint32_t kind)
{
    static const char *const names[Q25_NL_SECTION_KINDS] = {
        "header",           "token_index",        "token_bytes",         "merge_table",
        "byte_token_map",   "merge_pair_index",   "special_token_index", "token_trie",
        "token_prefixes",   "merge_pair_bitmap",  NULL,                  NULL,
        NULL,               NULL,                 NULL,                  NULL,
        "merge_low_bits",   "merge_high_bits",    "pair_multipliers",    "pair_rows",
        "stored_token_index", "stored_token_bytes", "byte_values",
    };
    return kind < Q25_NL_SECTION_KINDS && names[kind] != NULL ? names[kind] : "unknown section";
}

static void print_fault(q25_nl_status status, const q25_nl_fault *fault)
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

int image_open(image *opened)
{
    q25_nl_fault fault = {0, 0, 0};
    q25_nl_status status;
    cost begin;
    opened->bytes = stated_size();
    begin = measure_now();
    status = q25_nl_tokenizer_runtime_image_verify(image_start, opened->bytes, &fault);
    measure_add(&opened->verifying, &begin);
    if (status == Q25_NL_OK) {
        begin = measure_now();
        status = q25_nl_tokenizer_runtime_image_open(image_start, opened->bytes, &opened->bundle,
                                                     &opened->encode, NULL);
        measure_add(&opened->opening, &begin);
    }
    if (status == Q25_NL_OK) {
        status = opened->encode.readiness;
    }
    if (status != Q25_NL_OK) {
        print_fault(status, &fault);
        return 0;
    }
    print("image: ");
    print_number(opened->bytes);
    print(" bytes, ");
    print_number(opened->bundle.n_tokens);
    print(" tokens, ");
    print_number(opened->encode.n_merges);
    print(" merges, verified\n");
    return 1;
}
