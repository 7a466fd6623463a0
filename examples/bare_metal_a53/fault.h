/* What start.S calls when an exception arrives. */
#ifndef FAULT_H
#define FAULT_H

#include <stdint.h>

/* Prints what the exception was, and returns what to finish with.
 *
 * `entry` is the vector's number; the others are ESR, ELR and FAR of the exception level. */
int report_fault(uint64_t entry, uint64_t syndrome, uint64_t instruction, uint64_t address, uint64_t level);

#endif
