# Between the modes: machine mode enters the supervisor and waits for it, the supervisor takes the user's traps.

    .equ STACK_LOG2, 12             # HART_STACK of paging.h
    .section .text

# Where all harts enter; those behind the first when they are called.
    .globl every_hart
every_hart:
    bnez a0, further_hart
    j _start
further_hart:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, hart_stacks
    addi t0, a0, 1
    slli t0, t0, STACK_LOG2
    add sp, sp, t0
    li t0, 1 << 13                  # floating point on
    csrs mstatus, t0
    csrw fcsr, zero
    la t0, unexpected
    csrw mtvec, t0
    call machine_called
    call further_hart_begins

    .globl enter_supervisor
enter_supervisor:                   # a0: satp, a1: where to
    csrw satp, a0
    sfence.vma
    li t0, -1                       # the modes below may use all of memory
    csrw pmpaddr0, t0
    li t0, 0x1f
    csrw pmpcfg0, t0
    la t0, machine_trap
    csrw mtvec, t0
    csrr t0, mhartid
    slli t0, t0, 5
    la t1, machine_words
    add t0, t0, t1
    csrw mscratch, t0
    csrwi mie, 1 << 3               # other harts may stop this one
    li t0, 0xb1ff                   # exceptions of user mode, and page faults of the supervisor
    csrw medeleg, t0
    li t0, 7                        # cycle, time, instret
    csrw mcounteren, t0
    csrw scounteren, t0
    la t0, supervisor_trap
    csrw stvec, t0
    csrw sscratch, zero
    li t0, 3 << 11                  # MPP = supervisor; SUM, so that it may use the user's pages
    csrc mstatus, t0
    li t0, 1 << 11 | 1 << 18
    csrs mstatus, t0
    csrw mepc, a1
    mret

# Calls of the supervisor: a1 = 1 waits for the NIC's interrupt or the time in a0, 0 until the word at a0 is not 0 or
# another hart calls.
    .balign 4
machine_trap:
    csrrw sp, mscratch, sp
    sd t0, 0(sp)
    sd t1, 8(sp)
    sd ra, 16(sp)
    csrr t0, mcause
    bltz t0, machine_interrupt
    addi t0, t0, -9
    bnez t0, unexpected
    beqz a1, wait_for_word
    csrr t0, mhartid
    slli t0, t0, 3
    li t1, 0x02004000
    add t0, t0, t1
    sd a0, 0(t0)
    li t0, 1 << 11 | 1 << 7
    csrs mie, t0
    wfi
    csrc mie, t0
waited:
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
machine_return:
    ld t0, 0(sp)
    ld t1, 8(sp)
    ld ra, 16(sp)
    csrrw sp, mscratch, sp
    mret
wait_for_word:
    ld t0, 0(a0)
    bnez t0, waited
    wfi
    j waited

# Another hart has called: stands still as long as that wants it, and forgets what it knew of memory.
machine_interrupt:
    call machine_called
    lw t0, hart_stop
    beqz t0, machine_return
    csrr t0, mhartid
    slli t0, t0, 2
    la t1, hart_stopped
    add t1, t1, t0
    li t0, 1
    fence
    sw t0, 0(t1)
stands_still:
    lw t0, hart_stop
    bnez t0, stands_still
    sfence.vma
    fence.i
    fence
    sw zero, 0(t1)
    j machine_return

# Takes its own software interrupt back; uses t0 and t1.
machine_called:
    csrr t0, mhartid
    slli t0, t0, 2
    li t1, 0x02000000
    add t0, t0, t1
    sw zero, 0(t0)
    ret

    .balign 4
unexpected:
    csrr a0, mcause
    andi a0, a0, 63
    addi a0, a0, 128
    slli a0, a0, 1
    ori a0, a0, 1
    li t0, 0x10001000
    sd a0, 0(t0)
    j unexpected

    .globl wait_until_time
wait_until_time:
    li a1, 1
    ecall
    ret

    .globl wait_until_nonzero
wait_until_nonzero:
    li a1, 0
    ecall
    ret

# struct registers: pc, status, ra, sp, gp, t0-t6, a0-a7, s0-s11. What C keeps of itself is only there in a call that
# makes a thread or a process, which needs it.
    .equ FRAME, 32 * 8
    .equ CLONE, 220
    .balign 4
supervisor_trap:
    csrrw sp, sscratch, sp
    bnez sp, from_user
    csrr sp, sscratch
from_user:
    addi sp, sp, -FRAME
    sd ra, 16(sp)
    sd gp, 32(sp)
    sd t0, 40(sp)
    sd t1, 48(sp)
    sd t2, 56(sp)
    sd t3, 64(sp)
    sd t4, 72(sp)
    sd t5, 80(sp)
    sd t6, 88(sp)
    sd a0, 96(sp)
    sd a1, 104(sp)
    sd a2, 112(sp)
    sd a3, 120(sp)
    sd a4, 128(sp)
    sd a5, 136(sp)
    sd a6, 144(sp)
    sd a7, 152(sp)
    li t0, CLONE
    bne a7, t0, kept_by_callees
    sd s0, 160(sp)
    sd s1, 168(sp)
    sd s2, 176(sp)
    sd s3, 184(sp)
    sd s4, 192(sp)
    sd s5, 200(sp)
    sd s6, 208(sp)
    sd s7, 216(sp)
    sd s8, 224(sp)
    sd s9, 232(sp)
    sd s10, 240(sp)
    sd s11, 248(sp)
kept_by_callees:
    csrrw t0, sscratch, zero
    sd t0, 24(sp)
    csrr t1, sepc
    sd t1, 0(sp)
    csrr t2, sstatus
    sd t2, 8(sp)
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    mv a0, sp
    csrr a1, scause
    csrr a2, stval
    call trap
back_to_user:
    ld t1, 0(sp)
    csrw sepc, t1
    ld t2, 8(sp)
    csrw sstatus, t2
    andi t2, t2, 1 << 8             # SPP: back into the supervisor
    bnez t2, restore
    addi t0, sp, FRAME
    csrw sscratch, t0
restore:
    ld ra, 16(sp)
    ld gp, 32(sp)
    ld t0, 40(sp)
    ld t1, 48(sp)
    ld t2, 56(sp)
    ld t3, 64(sp)
    ld t4, 72(sp)
    ld t5, 80(sp)
    ld t6, 88(sp)
    ld a0, 96(sp)
    ld a1, 104(sp)
    ld a2, 112(sp)
    ld a3, 120(sp)
    ld a4, 128(sp)
    ld a5, 136(sp)
    ld a6, 144(sp)
    ld a7, 152(sp)
    ld sp, 24(sp)
    sret

# A thread's first turn: struct registers lies at its stack pointer.
    .globl thread_first
thread_first:
    call kernel_leave
    j back_to_user

    .globl user_status
user_status:                        # what sstatus is in user mode
    csrr a0, sstatus
    li t0, 1 << 8
    not t0, t0
    and a0, a0, t0
    ret

# struct switched: ra, s0-s11, tp, f0-f31, fcsr.
    .equ SWITCHED, 48 * 8
    .macro each_kept do, fdo
    \do ra, 0(sp)
    \do s0, 8(sp)
    \do s1, 16(sp)
    \do s2, 24(sp)
    \do s3, 32(sp)
    \do s4, 40(sp)
    \do s5, 48(sp)
    \do s6, 56(sp)
    \do s7, 64(sp)
    \do s8, 72(sp)
    \do s9, 80(sp)
    \do s10, 88(sp)
    \do s11, 96(sp)
    \do tp, 104(sp)
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \fdo f\number, 112 + 8 * \number (sp)
    .endr
    .endm

    .globl switch_context
switch_context:                     # a0: where to leave this one, a1: the other
    addi sp, sp, -SWITCHED
    each_kept sd, fsd
    csrr t0, fcsr
    sd t0, 368(sp)
    sd sp, 0(a0)
    mv sp, a1
    ld t0, 368(sp)
    csrw fcsr, t0
    each_kept ld, fld
    addi sp, sp, SWITCHED
    ret

    .globl keep_floating
keep_floating:                      # a0: struct switched
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fsd f\number, 112 + 8 * \number (a0)
    .endr
    csrr t0, fcsr
    sd t0, 368(a0)
    ret

    .section .rodata
    .globl file_archive, file_archive_end
    .balign 512
file_archive:
    .incbin FILES
file_archive_end:

    .section .bss
    .balign 16
machine_words:
    .zero 32 * 8                    # of each hart: t0, t1, ra
