#include "memory.h"

#include <stdint.h>

/* Keeps the compiler from seeing that a loop is a memcpy, and calling it: this is memcpy. */
#define PLAIN_LOOP() __asm__ volatile("")

void *memcpy(void *to, const void *from, size_t length)
{
    uint8_t *out = (uint8_t *)to;
    const uint8_t *in = (const uint8_t *)from;
    size_t at;
    for (at = 0; at < length; at++) {
        out[at] = in[at];
        PLAIN_LOOP();
    }
    return to;
}

void *memmove(void *to, const void *from, size_t length)
{
    uint8_t *out = (uint8_t *)to;
    const uint8_t *in = (const uint8_t *)from;
    if ((uintptr_t)to - (uintptr_t)from >= length) { /* `to` is not inside `from` */
        return memcpy(to, from, length);
    }
    while (length-- > 0) {
        out[length] = in[length];
        PLAIN_LOOP();
    }
    return to;
}

void *memset(void *to, int byte, size_t length)
{
    uint8_t *out = (uint8_t *)to;
    size_t at;
    for (at = 0; at < length; at++) {
        out[at] = (uint8_t)byte;
        PLAIN_LOOP();
    }
    return to;
}

int memcmp(const void *left, const void *right, size_t length)
{
    const uint8_t *one = (const uint8_t *)left;
    const uint8_t *other = (const uint8_t *)right;
    size_t at;
    for (at = 0; at < length; at++) {
        if (one[at] != other[at]) {
            return one[at] < other[at] ? -1 : 1;
        }
        PLAIN_LOOP();
    }
    return 0;
}
