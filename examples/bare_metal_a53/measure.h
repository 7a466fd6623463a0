/* What work costs: instructions and cycles by the core's own counters, and stack. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cost {
    uint64_t instructions;
    uint64_t cycles;
} cost;

/* Starts counting. Returns 0 where instructions are not counted, as by QEMU without -icount. */
int measure_open(void);

/* What was counted up to now. Instructions wrap at 2^32: take differences of 32 bits. */
cost measure_now(void);

/* Adds what was counted since `begin`. */
void measure_add(cost *sum, const cost *begin);

/* The most bytes of the stack that were in use since measure_open. */
size_t measure_stack(void);
size_t measure_stack_room(void);

#endif
