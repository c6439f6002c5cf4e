/* The interrupt controller (PLIC) of a chip, for a program on hart 0, in machine mode or as INTERRUPT_CONTEXT says. */
#ifndef INTERRUPTS_H
#define INTERRUPTS_H

#include <stdint.h>

/* Hart 0 in machine mode is context 0, in supervisor mode context 1. */
#ifndef INTERRUPT_CONTEXT
#define INTERRUPT_CONTEXT 0
#endif

/* A word of its registers: SiFive Interrupt Cookbook 1.0, chapter 5. */
static inline volatile uint32_t *interrupt_controller(uint64_t offset)
{
  return (volatile uint32_t *)(uintptr_t)(0x0c000000 + offset);
}

/* Lets the interrupt `number` (below 32) through to the hart. */
static inline void let_through(uint32_t number)
{
  *interrupt_controller(4 * number) = 1;                                             /* its priority */
  *interrupt_controller(0x2000 + 0x80 * INTERRUPT_CONTEXT) |= UINT32_C(1) << number; /* enabled */
  *interrupt_controller(0x200000 + 0x1000 * INTERRUPT_CONTEXT) = 0;                  /* the threshold of priorities */
}

/* The interrupt that waits longest, 0 if there is none; `complete` lets it be raised again. */
static inline volatile uint32_t *claimed(void) { return interrupt_controller(0x200004 + 0x1000 * INTERRUPT_CONTEXT); }
static inline uint32_t claim(void) { return *claimed(); }
static inline void complete(uint32_t number) { *claimed() = number; }

#endif
