/* The lines of text to encode. */
#ifndef LINES_H
#define LINES_H

#include <stddef.h>
#include <stdint.h>

/* Text that is left, to be taken line by line. */
typedef struct text {
    const uint8_t *bytes;
    size_t length;
} text;

#define TEXT_IS_LOADED 0x54353251u /* "Q25T" */

/* Finds the text: what was loaded at text_start, or lines.txt, which is linked in.
 *
 * The 8 bytes before text_start say whether something was loaded there: a length in bytes and the word
 * TEXT_IS_LOADED, both of 32 bits. Says what was found; returns 0 where the length cannot be right. */
int text_find(text *found);

/* Whether there is one more line; takes it off. A line ends with a newline, which is not part of it; the last
 * one may do without. */
int text_next_line(text *left, text *line);

#endif
