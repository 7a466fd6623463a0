/* The four functions that a compiler may call on its own, as for a copy of a struct, whatever it is told
 * of libraries that are not there. They are here for that: simple, not fast. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t length);
void *memmove(void *to, const void *from, size_t length);
void *memset(void *to, int byte, size_t length);
int memcmp(const void *left, const void *right, size_t length);

#endif
