/* The second hart of a chip: it waits in the boot ROM until the program of the first one starts it. */
#ifndef SECOND_HART_H
#define SECOND_HART_H

#include "bare.h"

/* What the second hart does; it does not return. */
static void second(void);

/* A register for each hart that raises its software interrupt (CLINT), for which it waits in the boot ROM. */
static volatile uint32_t *const software_interrupts = (volatile uint32_t *)0x02000000;

__attribute__((used)) static uint8_t second_stack[4096] __attribute__((aligned(16)));

__attribute__((naked)) static void second_start(void)
{
  __asm__(".option push\n.option norelax\nlla gp, __global_pointer$\n.option pop\n"
          "lla sp, second_stack + 4096\nj second");
}

/* Harts enter memory at its first byte, where the first hart's program is, which has begun: a jump takes its place. */
static void start_second_hart(void)
{
  uint64_t start = (uintptr_t)second_start;
  /* Their difference would be an address that no instruction reaches. */
  __asm__("" : "+r"(start));
  const uint64_t entry = 0x80000000, ahead = start - entry;
  const uint32_t jal = 0x6f | (ahead >> 12 & 0xff) << 12 | (ahead >> 11 & 1) << 20 | (ahead >> 1 & 0x3ff) << 21;
  *(volatile uint32_t *)entry = jal;
  __asm__ volatile("fence" ::: "memory");
  software_interrupts[1] = 1;
}

#endif
