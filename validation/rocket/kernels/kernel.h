/* A kernel is one source file that defines these two; main.c measures it. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Called once, unmeasured. */
void setup(void);

/* Called twice: once to warm the caches and predictors, once measured. The result keeps the compiler from
   removing the work. */
uint64_t kernel(void);

/* A generator of numbers without pattern; the same ones in every run. */
static inline uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* Repeats `text` in the assembler's output. */
#define REPEAT(count, text) ".rept " #count "\n" text "\n.endr\n"

#endif
