# Between the modes: machine mode enters the supervisor and waits for it, the supervisor takes the user's traps.

    .section .text
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

# The only call of the supervisor: waits for the NIC's interrupt or the time in a0.
    .balign 4
machine_trap:
    csrw mscratch, t0
    csrr t0, mcause
    addi t0, t0, -9
    bnez t0, unexpected
    li t0, 0x02004000
    sd a0, 0(t0)
    li t0, 1 << 11 | 1 << 7
    csrs mie, t0
    wfi
    csrc mie, t0
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    csrr t0, mscratch
    mret
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
    ecall
    ret

# struct registers: pc, status, ra, sp, gp, t0-t6, a0-a7. What C keeps of itself is not saved.
    .equ FRAME, 20 * 8
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

    .globl enter_user
enter_user:                         # a0: pc, a1: sp
    csrw sepc, a0
    li t0, 1 << 8
    csrc sstatus, t0
    csrw sscratch, sp
    mv sp, a1
    .irp register, ra, gp, tp, t0, t1, t2, t3, t4, t5, t6, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, a0, a1, a2, a3, a4, a5, a6, a7
    mv \register, zero
    .endr
    sret

    .section .rodata
    .globl program_file, program_file_end
    .balign 4096
program_file:
    .incbin PROGRAM
program_file_end:

    .globl file_archive, file_archive_end
    .balign 512
file_archive:
    .incbin FILES
file_archive_end:
