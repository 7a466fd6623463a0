#include "measure.h"

/* From link.ld. */
extern uint64_t stack_bottom[];
extern uint64_t stack_top[];

#define PAINT 0x5A5A5A5A5A5A5A5Au /* of stack that nobody used yet */

#define INSTRUCTIONS_RETIRED 0x08u
#define ALSO_AT_EL2 (1u << 27)
#define ENABLE_RESET_LONG 0x47u /* PMCR: enable, reset all, 64 bits of cycles */
#define CYCLES_AND_FIRST 0x80000001u

static void paint_stack(void)
{
    volatile uint64_t *at = stack_bottom;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0) - 256;
    for (; (uintptr_t)at < here; at++) {
        *at = PAINT;
    }
}

int measure_open(void)
{
    cost begin;
    paint_stack();
    __asm__ volatile("msr pmevtyper0_el0, %0" : : "r"((uint64_t)(INSTRUCTIONS_RETIRED | ALSO_AT_EL2)));
    __asm__ volatile("msr pmccfiltr_el0, %0" : : "r"((uint64_t)ALSO_AT_EL2));
    __asm__ volatile("msr pmcntenset_el0, %0" : : "r"((uint64_t)CYCLES_AND_FIRST));
    __asm__ volatile("msr pmcr_el0, %0\n\tisb" : : "r"((uint64_t)ENABLE_RESET_LONG));
    begin = measure_now();
    return measure_now().instructions != begin.instructions;
}

cost measure_now(void)
{
    cost now;
    __asm__ volatile("isb\n\tmrs %0, pmevcntr0_el0\n\tmrs %1, pmccntr_el0"
                     : "=r"(now.instructions), "=r"(now.cycles)
                     :
                     : "memory");
    return now;
}

void measure_add(cost *sum, const cost *begin)
{
    const cost now = measure_now();
    sum->instructions += (uint32_t)(now.instructions - begin->instructions);
    sum->cycles += now.cycles - begin->cycles;
}

size_t measure_stack(void)
{
    const volatile uint64_t *at = stack_bottom;
    while ((uintptr_t)at < (uintptr_t)stack_top && *at == PAINT) {
        at++;
    }
    return (uintptr_t)stack_top - (uintptr_t)at;
}

size_t measure_stack_room(void)
{
    return (uintptr_t)stack_top - (uintptr_t)stack_bottom;
}
