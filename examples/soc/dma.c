/* Copies by the two units of dma.yaml: the DMA raises its interrupt when it has ended, the copy unit is asked.
 *
 * `units.h` is the chip's bus.h. */
#include "bare.h"
#include "interrupts.h"
#include "rackwright/registers.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "units.h"

enum { BYTES = 4096, START = 1, DONE = 2, ERROR = 8, EXTERNAL = 1 << 11 };

static volatile uint32_t taken, raised_by;

/* Takes what the interrupt controller has. The DMA holds its line until the next copy, so that one interrupt is let
 * through at a time. */
__attribute__((interrupt, aligned(4))) static void on_interrupt(void)
{
  raised_by = claim();
  taken++;
  __asm__ volatile("csrc mie, %0" : : "r"(EXTERNAL));
  complete(raised_by);
}

static volatile uint32_t *dma(uint64_t offset)
{
  return (volatile uint32_t *)(uintptr_t)(COPY_DMA_REGISTERS + offset);
}

/* Waits for the interrupt that ends a copy, as the line of the one before may still have been high; gives what the DMA
 * says of it. */
static uint32_t copy_by_dma(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
  rackwright_fence();
  *(volatile uint64_t *)dma(COPY_DMA_SOURCE) = (uintptr_t)from; /* two registers by one store */
  *dma(COPY_DMA_DESTINATION) = (uint32_t)(uintptr_t)to;
  *dma(COPY_DMA_DESTINATION_HIGH) = 0;
  *dma(COPY_DMA_BYTES) = bytes;
  *dma(COPY_DMA_CONTROL) = START;
  do {
    const uint32_t before = taken;
    __asm__ volatile("csrs mie, %0" : : "r"(EXTERNAL));
    while (taken == before) __asm__ volatile("nop");
  } while (!(*dma(COPY_DMA_CONTROL) & DONE));
  rackwright_fence();
  return *dma(COPY_DMA_CONTROL);
}

static uint64_t ask(uint64_t funct)
{
  return rackwright_register_query(STREAM_COPY_REGISTERS, STREAM_COPY_CUSTOM, funct);
}

static uint64_t copy_by_unit(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
  rackwright_fence();
  rackwright_register_command(STREAM_COPY_REGISTERS, STREAM_COPY_CUSTOM, STREAM_COPY_SRC, (uintptr_t)from, bytes);
  rackwright_register_command(STREAM_COPY_REGISTERS, STREAM_COPY_CUSTOM, STREAM_COPY_LIMIT, bytes, 0);
  rackwright_register_command(STREAM_COPY_REGISTERS, STREAM_COPY_CUSTOM, STREAM_COPY_DEST_AND_START, (uintptr_t)to, 0);
  (void)ask(STREAM_COPY_CHECK_COMPLETION);
  rackwright_fence();
  return ask(STREAM_COPY_STATUS);
}

static int is_equal(const uint8_t *one, const uint8_t *other)
{
  for (uint64_t place = 0; place < BYTES; place++)
    if (one[place] != other[place]) return 0;
  return 1;
}

static void say(const char *who, uint64_t start)
{
  const uint64_t cycles = read_cycles() - start;
  print_text(who);
  print_text(" in ");
  print_number(cycles);
  print_text(" cycles\n");
}

int main(void)
{
  uint8_t *source = free_memory, *by_dma = free_memory + BYTES, *by_unit = free_memory + 2 * BYTES;
  for (uint64_t place = 0; place < BYTES; place++) source[place] = (uint8_t)((place * 0x9e3779b97f4a7c15u) >> 56);
  __asm__ volatile("csrw mtvec, %0; csrsi mstatus, 8" : : "r"(on_interrupt));
  let_through(COPY_DMA_INTERRUPT);

  uint64_t start = read_cycles();
  if (copy_by_dma(by_dma, source, BYTES) != (DONE | 4)) return 2;
  say("DMA", start);
  if (taken != 1 || raised_by != COPY_DMA_INTERRUPT) return 3;
  if (!is_equal(source, by_dma)) return 4;

  start = read_cycles();
  if (copy_by_unit(by_unit, source, BYTES) != RACKWRIGHT_OK) return 5;
  say("copy unit", start);
  if (!is_equal(source, by_unit)) return 6;

  /* What neither of them can do ends with what they say, and never stops the bus; nor does a part of a register. */
  (void)*(volatile uint32_t *)(uintptr_t)STREAM_COPY_REGISTERS;
  if (!(copy_by_dma(by_dma, (const uint8_t *)0x40000000, BYTES) & ERROR)) return 7;
  if (copy_by_unit(by_unit, (const uint8_t *)0x40000000, BYTES) != RACKWRIGHT_ACCESS_FAULT) return 8;
  return is_equal(source, by_dma) && taken >= 2 ? 0 : 9;
}
