# Entry of a bare-metal program: one hart, machine mode, no interrupts.
# The loader (simulator or boot ROM) jumps here with a0 = hart number; nothing else is promised.

    .section .text.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, stack_top

    # Floating point on: mstatus.FS = initial.
    li t0, 1 << 13
    csrs mstatus, t0
    csrw fcsr, zero

    # A trap nobody expects ends the program with 128 + its cause.
    la t0, unexpected_trap
    csrw mtvec, t0

    la t0, bss_start
    la t1, bss_end
clear:
    bgeu t0, t1, cleared
    sd zero, 0(t0)
    addi t0, t0, 8
    j clear
cleared:

    call main

    # Falls through with main's result in a0.
    .globl exit
exit:
    slli a0, a0, 1
    ori a0, a0, 1
    la t0, tohost
    sd a0, 0(t0)
forever:
    j forever

    .balign 4
unexpected_trap:
    csrr a0, mcause
    andi a0, a0, 127
    addi a0, a0, 128
    j exit
