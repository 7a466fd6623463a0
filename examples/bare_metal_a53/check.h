/* A line of text to ids and back. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "image.h"
#include "lines.h"
#include "measure.h"

/* What all lines came to. Begin with all zero. */
typedef struct checked {
    uint32_t n_lines;
    uint32_t n_failed;
    size_t n_bytes;      /* of the lines that were encoded */
    size_t n_ids;
    size_t most_scratch; /* bytes that a line needed */
    cost encoding;
    cost decoding;
} checked;

/* Encodes a line, prints its ids, and proves that they stand for the line. Prints what is wrong, if anything. */
void check_line(const image *opened, text line, checked *sum);

#endif
