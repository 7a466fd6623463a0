/* Text and numbers on the serial port. */
#ifndef PRINT_H
#define PRINT_H

#include <stdint.h>

/* A newline is sent as a carriage return and a newline. */
void print(const char *text);

void print_number(uint64_t value);

/* In 2 to 16 digits. */
void print_hex(uint64_t value, int digits);

#endif
