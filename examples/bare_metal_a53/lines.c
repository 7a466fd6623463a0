#include "lines.h"

/* From link.ld. */
extern const volatile uint32_t text_length[2];
extern const uint8_t text_start[];
extern const uint8_t ram_end[];

/* From linked_text.S. */
extern const uint8_t linked_text[];
extern const uint8_t linked_text_end[];

const char *text_find(text *found)
{
    if (text_length[1] != TEXT_IS_LOADED) {
        found->bytes = linked_text;
        found->length = (uintptr_t)linked_text_end - (uintptr_t)linked_text;
        return NULL;
    }
    found->bytes = text_start;
    found->length = text_length[0];
    return found->length <= (uintptr_t)ram_end - (uintptr_t)text_start
               ? NULL
               : "longer than the memory behind its address";
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
