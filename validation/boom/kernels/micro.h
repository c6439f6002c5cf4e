/* A microkernel: a loop around a few instructions, which starts on a line of its own. */
#ifndef MICRO_H
#define MICRO_H

#include "kernel.h"

/* What a microkernel may change, besides its counter. */
#define CHANGED \
  "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a2", "a3", "a4", "a5", "a6", "a7", "ft0", "ft1", "ft2", "ft3", "ft4", \
      "ft5", "fa0", "fa1", "fa2", "fa3", "memory"

/* Defines a kernel that runs `before` once and `body` so many times. The build makes a program of each. */
#define MICRO(name, times, before, body) MICRO_CHANGING(name, times, before, body, CHANGED)
#define MICRO_CHANGING(name, times, before, body, ...)                  \
  uint64_t __attribute__((aligned(64))) name(void) {                    \
    register uint64_t count __asm__("a0") = times;                      \
    __asm__ volatile(before ".balign 64\n3:\n" body                     \
                            "\naddi %0, %0, -1\nbnez %0, 3b"            \
                     : "+r"(count)                                      \
                     :                                                  \
                     : __VA_ARGS__);                                    \
    return count;                                                       \
  }

/* Small numbers in the integer registers, and the address of the buffer in a2. */
#define INTEGERS "li t0, 3\nli t1, 5\nli t2, 7\nli t3, 9\nli t4, 11\nli t5, 13\nla a2, buffer\n"

/* Numbers near one in the floating-point registers; those in fa0 to fa2 in single precision. */
#define FLOATS                                                              \
  "li t0, 0x3ff0000000100000\n.irp r, ft0, ft1, ft2, ft3, ft4, ft5\nfmv.d.x \\r, t0\n.endr\n" \
  "li t0, 0x3f800100\n.irp r, fa0, fa1, fa2\nfmv.w.x \\r, t0\n.endr\nla a2, buffer\n"

/* A line of assembly for each register of a list: EACH("addi \\r, \\r, 1", "t0, t1"). */
#define EACH(text, registers) "\n.irp r, " registers "\n" text "\n.endr\n"

/* The same, in instructions of four bytes. */
#define WIDE(text) "\n.option push\n.option norvc\n" text "\n.option pop\n"

/* Additions to so many registers that do not wait for each other. */
#define ADD(registers) EACH("addi \\r, \\r, 1", registers)

#endif
