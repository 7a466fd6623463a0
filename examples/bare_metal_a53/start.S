/* The first instructions: one core, level by level what C needs, a stack, cleared variables, main. Behind
 * them the exception vectors: whatever arrives is a fault, and is reported. */

/* Runs at the exception level that it is entered at (3, 2 or 1) and stays there.
 *
 * SCTLR.A makes every unaligned access a fault. With the MMU off all of memory is device memory, where
 * a Cortex-A53 refuses such an access anyway; some emulators only do where this bit is set. The MMU and
 * the data cache stay as they are: the image may still be in the cache of who loaded it. */
.macro settle level
    adrp    x0, vectors
    add     x0, x0, :lo12:vectors
    msr     vbar_el\level, x0
    ic      iallu                   /* of what was there before this program */
    dsb     nsh
    mrs     x0, sctlr_el\level
    orr     x0, x0, #(1 << 1)       /* A: alignment is checked */
    orr     x0, x0, #(1 << 12)      /* I: instructions are cached */
    msr     sctlr_el\level, x0
    isb
.endm

.macro what_happened level
    mrs     x1, esr_el\level
    mrs     x2, elr_el\level
    mrs     x3, far_el\level
.endm

    .section .text.start, "ax"
    .global start
start:
    msr     daifset, #15
    mrs     x0, mpidr_el1
    tst     x0, #0xff
    b.ne    park                    /* the other cores */

    mrs     x1, currentel
    cmp     x1, #(2 << 2)
    b.eq    at_el2
    b.lo    at_el1
    settle  3
    msr     cptr_el3, xzr           /* vector registers do not trap */
    mov     x0, #(1 << 17)
    msr     mdcr_el3, x0            /* SPME: events are counted here too */
    b       settled
at_el2:
    settle  2
    mov     x0, #0x33ff
    msr     cptr_el2, x0            /* vector registers do not trap */
    b       settled
at_el1:
    settle  1
    mov     x0, #(3 << 20)
    msr     cpacr_el1, x0           /* vector registers do not trap */
settled:
    isb
    msr     spsel, #1
    adrp    x0, stack_top
    add     x0, x0, :lo12:stack_top
    mov     sp, x0

    adrp    x0, bss_start           /* both on a multiple of 16 */
    add     x0, x0, :lo12:bss_start
    adrp    x1, bss_end
    add     x1, x1, :lo12:bss_end
1:  cmp     x0, x1
    b.hs    2f
    stp     xzr, xzr, [x0], #16
    b       1b
2:  msr     daifclr, #4             /* a late bus error is reported too */
    bl      main
    b       finish                  /* with what main returned */

park:
    wfe
    b       park

/* Sixteen entries of 128 bytes: four kinds, from four places. */
    .section .text.vectors, "ax"
    .balign 2048
vectors:
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .balign 128
    mov     x0, #\number
    b       fault
    .endr

/* On a stack of its own, as the other one may be what is wrong. A fault while one is reported, as where the
 * serial port is not there, ends without a word; one while that ends parks the core. */
    .balign 128
fault:
    msr     daifset, #15
    adrp    x4, faults_seen
    add     x4, x4, :lo12:faults_seen
    ldr     w5, [x4]
    add     w6, w5, #1
    str     w6, [x4]
    cmp     w5, #1
    b.hi    park
    adrp    x6, fault_stack_top
    add     x6, x6, :lo12:fault_stack_top
    mov     sp, x6
    b.eq    fault_again
    mrs     x4, currentel
    lsr     x4, x4, #2
    cmp     x4, #2
    b.eq    fault_at_el2
    b.lo    fault_at_el1
    what_happened 3
    b       fault_report
fault_at_el2:
    what_happened 2
    b       fault_report
fault_at_el1:
    what_happened 1
fault_report:
    bl      report_fault            /* (number, ESR, ELR, FAR, level) */
    b       finish                  /* with what it returned */
fault_again:
    mov     w0, #2                  /* BAD_INPUT */
    b       finish_at_once

    .section .bss.faults_seen, "aw", %nobits
    .balign 4
faults_seen:
    .zero   4

    .section .note.GNU-stack, "", %progbits
