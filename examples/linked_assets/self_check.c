#include "self_check.h"

#include <stddef.h>
#include <stdint.h>

#include "print.h"
#include "q25_assets.h"

static const struct q25_assets_entry assets[] = Q25_ASSETS_ENTRIES;

/* CRC-32 as zlib's, by the processor's own instructions. Whole words only where they are aligned: with the MMU
 * off any other access is a fault. */
static uint32_t crc32_of(const unsigned char *bytes, uint64_t size)
{
    uint32_t crc = 0xFFFFFFFFu;
    uint64_t at = 0;
    while (at < size && ((uintptr_t)(bytes + at) & 7u) != 0) {
        __asm__("crc32b %w0, %w0, %w1" : "+r"(crc) : "r"(bytes[at]));
        at++;
    }
    for (; size - at >= 8; at += 8) {
        const uint64_t word = *(const uint64_t *)(const void *)(bytes + at);
        __asm__("crc32x %w0, %w0, %x1" : "+r"(crc) : "r"(word));
    }
    for (; at < size; at++) {
        __asm__("crc32b %w0, %w0, %w1" : "+r"(crc) : "r"(bytes[at]));
    }
    return ~crc;
}

/* A name that is padded with NULs, and may have none. */
static void print_name(const char *name, size_t most)
{
    char letter[2] = {0, 0};
    size_t at;
    for (at = 0; at < most && name[at] != '\0'; at++) {
        letter[0] = name[at];
        print(letter);
    }
}

static int holds(const char *what, const char *name, size_t most, const unsigned char *start, uint64_t size,
                 uint32_t stated)
{
    const uint32_t found = crc32_of(start, size);
    if (found == stated) {
        return 1;
    }
    print(what);
    print_name(name, most);
    print(" at 0x");
    print_hex((uintptr_t)start, 10);
    print(": expected CRC-32 0x");
    print_hex(stated, 8);
    print(", found 0x");
    print_hex(found, 8);
    print("\n");
    return 0;
}

static int sections_hold(void)
{
    const unsigned char *const image = q25_tokenizer_img_start;
    const struct q25tokrt_header *const header = (const void *)image;
    const struct q25tokrt_directory_entry *const directory = (const void *)(image + header->header_bytes);
    uint32_t at;
    for (at = 0; at < header->section_count; at++) {
        const char kind[2] = {(char)('0' + directory[at].kind % 10u), '\0'};
        if (!holds("section of kind ", kind, sizeof kind, image + directory[at].offset, directory[at].length,
                   directory[at].crc32)) {
            return 0;
        }
    }
    print("image: ");
    print_number(header->section_count);
    print(" sections hold\n");
    return 1;
}

static int tensors_hold(void)
{
    const struct model_table_header *const header = (const void *)model_table_bin_start;
    const struct model_table_tensor *const tensors =
        (const void *)(model_table_bin_start + header->header_bytes);
    uint64_t bytes = 0, end = 0;
    uint32_t at;
    for (at = 0; at < header->n_tensors; at++) {
        const uint64_t address = TENSORS_PACK_ADDRESS + tensors[at].offset;
        const unsigned char *const start = (const unsigned char *)(uintptr_t)address;
        if (!holds("tensor ", tensors[at].name, sizeof tensors[at].name, start, tensors[at].size,
                   tensors[at].crc32)) {
            return 0;
        }
        bytes += tensors[at].size;
        end = address + tensors[at].size;
    }
    print("model: ");
    print_number(header->n_tensors);
    print(" tensors of ");
    print_number(bytes);
    print(" bytes hold, 0x");
    print_hex(TENSORS_PACK_ADDRESS, 10);
    print(" to 0x");
    print_hex(end - 1, 10);
    print("\n");
    return 1;
}

int self_check(void)
{
    uint32_t at;
    /* The parts first: they say more exactly what is wrong. */
    if (!sections_hold() || !tensors_hold()) {
        return 0;
    }
    for (at = 0; at < Q25_ASSETS_COUNT; at++) {
        if (!holds("", assets[at].name, 64, assets[at].start, assets[at].size, assets[at].crc32)) {
            return 0;
        }
    }
    print_number(Q25_ASSETS_COUNT);
    print(" assets hold\n");
    return 1;
}
