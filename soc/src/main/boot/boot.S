# What harts find at reset, in the boot ROM; the device tree follows it.
#
# Hart 0 enters memory at its first byte, others when their software interrupt is raised for the first time.
# At entry: a0 = hart number, a1 = address of the device tree, commands of units on (mstatus.XS).

    # What the linker relaxes leaves the padding of alignments too long, and the tree after its label.
    .option norelax
    .section .text
    .globl _start
_start:
    li t0, 3 << 15
    csrs mstatus, t0
    csrr a0, mhartid
    lla a1, device_tree
    bnez a0, sleep
enter:
    li t0, 1
    slli t0, t0, 31
    jr t0

sleep:
    csrwi mie, 1 << 3
wait:
    wfi
    csrr t0, mip
    andi t0, t0, 1 << 3
    beqz t0, wait
    csrwi mie, 0
    j enter

    .balign 64
device_tree:
