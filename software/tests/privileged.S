# Support of the self-checking programs; privileged.h describes it.
#define MPP (3 << 11)
#define MPRV_SUM_MXR (7 << 17)
#define MPIE (1 << 7)
#define MIE 8

    .data
    .balign 8
    .globl trap_cause, trap_value, trap_pc, trap_mode
trap_cause: .dword -2
trap_value: .dword 0
trap_pc:    .dword 0
trap_mode:  .dword 0
resume:     .dword 0

    .text
    .globl privileged_start
privileged_start:
    la t0, machine_handler + 1
    csrw mtvec, t0
    la t0, supervisor_handler
    csrw stvec, t0
    li t0, -1
    csrw pmpaddr0, t0
    li t0, 0x1f
    csrw pmpcfg0, t0
    ret

# Notes a trap that machine mode took, unless it is the supervisor's ecall after its own; goes on in machine mode,
# interrupts off, at `resume`. Vectored, so that interrupts have entries of their own.
    .balign 256
machine_handler:
    .option push
    .option norvc
    .rept 16
    j machine_note
    .endr
    .option pop
machine_note:
    la t1, trap_cause
    ld t0, 24(t1)
    bnez t0, to_machine
    csrr t0, mcause
    sd t0, 0(t1)
    csrr t0, mtval
    sd t0, 8(t1)
    csrr t0, mepc
    sd t0, 16(t1)
    li t0, 3
    sd t0, 24(t1)
to_machine:
    li t0, MPRV_SUM_MXR | MPIE
    csrc mstatus, t0
    li t0, MPP
    csrs mstatus, t0
    ld t0, 32(t1)
    csrw mepc, t0
    mret

# The same for a trap that supervisor mode took; an ecall leads on to machine mode.
    .balign 4
supervisor_handler:
    la t1, trap_cause
    csrr t0, scause
    sd t0, 0(t1)
    csrr t0, stval
    sd t0, 8(t1)
    csrr t0, sepc
    sd t0, 16(t1)
    li t0, 1
    sd t0, 24(t1)
    ecall

# Forgets the last trap; the next one leads to \label.
.macro expect label
    la t1, trap_cause
    li t0, -2
    sd t0, 0(t1)
    sd zero, 24(t1)
    la t0, \label
    sd t0, 32(t1)
.endm

    .globl probe_load
probe_load:
    expect 1f
    csrs mstatus, a1
    ld a0, 0(a0)
    csrc mstatus, a1
1:  ret

    .globl probe_store
probe_store:
    expect 1f
    csrs mstatus, a2
    sd a1, 0(a0)
    csrc mstatus, a2
1:  ret

# Waits with interrupts on until one comes.
    .globl await_interrupt
await_interrupt:
    expect 1f
    csrsi mstatus, MIE
0:  wfi
    j 0b
1:  ret

    .globl run_in
run_in:
    expect 1f
    csrw mepc, a1
    li t0, MPP
    csrc mstatus, t0
    slli a0, a0, 11
    csrs mstatus, a0
    mv a0, a2
    mret
1:  ret

    .globl do_ecall, do_ebreak, do_illegal, do_read_mstatus, do_write_cycle, do_read_cycle, do_read_satp
    .globl do_sret, do_wfi, do_float, do_load, do_amo_misaligned, do_invalidate
    .balign 4
do_ecall:           ecall
    .option push
    .option norvc
do_ebreak:          ebreak
    .option pop
    .balign 4
do_illegal:         .word 0xffffffff
do_read_mstatus:    csrr a0, mstatus
                    ecall
do_write_cycle:     csrw cycle, zero
                    ecall
do_read_cycle:      csrr a0, cycle
                    ecall
do_read_satp:       csrr a0, satp
                    ecall
do_sret:            sret
                    ecall
do_wfi:             wfi
                    ecall
do_float:           fmv.d.x fa0, a0
                    ecall
do_load:            ld a0, 0(a0)
                    ecall
do_amo_misaligned:  amoadd.d a1, a1, (a0)
                    ecall
do_invalidate:      .word 0x16050073    # sinval.vma a0, zero
                    ecall

    .globl finish
finish:
#ifdef QEMU
    li t0, 0x5555
    beqz a0, 1f
    slli a0, a0, 16
    li t0, 0x3333
    or t0, t0, a0
1:  li t1, 0x100000
    sw t0, 0(t1)
2:  j 2b
#else
    ret
#endif
