# Where every hart starts, in machine mode: on a stack of its own, of 4 KiB. At the end it waits for interrupts for ever.

    .section .text.start, "ax"
    .globl _start
_start:
    csrr a0, mhartid
    la sp, stacks
    addi t0, a0, 1
    slli t0, t0, 12
    add sp, sp, t0
    call run
done:
    wfi
    j done
