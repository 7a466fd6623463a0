#include "lines.h"

#include "print.h"

/* From link.ld. */
extern const volatile uint32_t text_length[2];
extern const uint8_t text_start[];
extern const uint8_t ram_end[];

/* From linked_text.S. */
extern const uint8_t linked_text[];
extern const uint8_t linked_text_end[];

int text_find(text *found)
{
    const int is_loaded = text_length[1] == TEXT_IS_LOADED;
    const size_t room = (uintptr_t)ram_end - (uintptr_t)text_start;
    found->bytes = is_loaded ? text_start : linked_text;
    found->length = is_loaded ? text_length[0] : (uintptr_t)linked_text_end - (uintptr_t)linked_text;
    print("text: ");
    print_number(found->length);
    if (!is_loaded) {
        print(" bytes, linked in\n");
        return 1;
    }
    print(" bytes at 0x");
    print_hex((uintptr_t)text_start, 8);
    print(found->length <= room ? "\n" : ", more than the memory there\n");
    return found->length <= room;
}

int text_next_line(text *left, text *line)
{
    size_t length = 0;
    if (left->length == 0) {
        return 0;
    }
    while (length < left->length && left->bytes[length] != '\n') {
        length++;
    }
    line->bytes = left->bytes;
    line->length = length;
    length += length < left->length; /* the newline */
    left->bytes += length;
    left->length -= length;
    return 1;
}
