/* In supervisor mode: the copy unit of supervisor.yaml beside the hart has virtual addresses, and its page faults,
 * `sfence.vma` and the interrupt of the DMA on the buses are as a kernel needs them. The exit status is the line of the
 * first check that fails.
 *
 * `hart0.h` and `bus.h` are the chip's. */
#define INTERRUPT_CONTEXT 1
#include "bare.h"
#include "bus.h"
#include "hart0.h"
#include "interrupts.h"
#include "rackwright/process.h"
#include "rackwright/rocc.h"
#include "rackwright/status.h"

#define CHECK(condition)              \
  do {                                \
    if (!(condition)) exit(__LINE__); \
  } while (0)

enum { V = 1, R = 2, W = 4, X = 8, A = 64, D = 128, DATA = V | R | W | A | D };
enum { PAGE = 4096, SUPERVISOR_EXTERNAL = 1 << 9, START = 1, DONE = 2 };

/* What the leaves map, and the unit is told: the program itself and devices are where they are. */
#define WINDOW 0x40000000ul

#define PAGES __attribute__((aligned(PAGE)))
static uint64_t root[512] PAGES, middle[512] PAGES, leaves[512] PAGES;
static uint8_t memory[8][PAGE] PAGES;

static uint64_t entry(const void *target, uint64_t flags) { return (uintptr_t)target / PAGE << 10 | flags; }

/* A unit may still use what it knew: it ends before the tables change for it. */
static void flush(void)
{
  rackwright_fence();
  __asm__ volatile("sfence.vma" ::: "memory");
}

static void map(unsigned index, const void *page, uint64_t flags)
{
  leaves[index] = entry(page, flags);
  flush();
}

static void fill(uint8_t *bytes, uint64_t count, uint8_t seed)
{
  for (uint64_t place = 0; place < count; place++) bytes[place] = (uint8_t)(seed + place * 7 + (place >> 8));
}

static int is_equal(const uint8_t *one, const uint8_t *other, uint64_t count)
{
  for (uint64_t place = 0; place < count; place++)
    if (one[place] != other[place]) return 0;
  return 1;
}

static uint64_t cycles(void)
{
  uint64_t value;
  __asm__ volatile("rdcycle %0" : "=r"(value)::"memory");
  return value;
}

/* Copies from one offset in the window to another; gives how it ended. */
static uint64_t copy(uint64_t from, uint64_t to, uint64_t bytes)
{
  rackwright_fence();
  RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_SRC, WINDOW + from, bytes);
  RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_LIMIT, bytes, 0);
  RACKWRIGHT_COMMAND(STREAM_COPY_CUSTOM, STREAM_COPY_DEST_AND_START, WINDOW + to, 0);
  (void)RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_CHECK_COMPLETION);
  rackwright_fence();
  return RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, STREAM_COPY_STATUS);
}

static uint64_t fault(void) { return RACKWRIGHT_QUERY(STREAM_COPY_CUSTOM, RACKWRIGHT_FAULT); }

/* Pages that follow each other in the window, and nowhere else. */
static void virtual_addresses(void)
{
  map(0, memory[5], DATA);
  map(1, memory[2], DATA);
  map(2, memory[4], DATA);
  map(3, memory[1], DATA);
  fill(memory[5], PAGE, 1);
  fill(memory[2], PAGE, 2);
  const uint64_t start = cycles();
  CHECK(copy(16, 2 * PAGE + 16, 2 * PAGE - 16) == RACKWRIGHT_OK);
  print_number(cycles() - start);
  print_text(" cycles for 8176 bytes\n");
  CHECK(fault() == 0);
  CHECK(is_equal(memory[4] + 16, memory[5] + 16, PAGE - 16) && is_equal(memory[1], memory[2], PAGE));
  CHECK(memory[4][15] == 0 && memory[4][16] == memory[5][16]);
}

static void page_faults(void)
{
  map(1, memory[2], 0);
  CHECK(copy(0, 2 * PAGE, 2 * PAGE) == RACKWRIGHT_ACCESS_FAULT);
  CHECK(fault() == ((WINDOW + PAGE) | RACKWRIGHT_FAULT_KNOWN));
  map(1, memory[2], DATA);
  map(3, memory[1], V | R | A);
  CHECK(copy(0, 2 * PAGE, 2 * PAGE) == RACKWRIGHT_ACCESS_FAULT);
  CHECK(fault() == ((WINDOW + 3 * PAGE) | RACKWRIGHT_FAULT_KNOWN | RACKWRIGHT_FAULT_WRITE));
  map(3, memory[1], DATA);
  fill(memory[2], PAGE, 3);
  CHECK(copy(0, 2 * PAGE, 2 * PAGE) == RACKWRIGHT_OK && fault() == 0);
  CHECK(is_equal(memory[4], memory[5], PAGE) && is_equal(memory[1], memory[2], PAGE));
  /* Not in the tables at all, and memory for the hart but not by its tables. */
  CHECK(copy(1ul << 30, 0, 64) == RACKWRIGHT_OK);
  CHECK(copy(1ul << 37, 0, 64) == RACKWRIGHT_ACCESS_FAULT);
}

/* The unit knows where a page is until the hart says that it may not be there any more. */
static void fences(void)
{
  fill(memory[6], PAGE, 4);
  map(0, memory[5], DATA);
  CHECK(copy(0, 2 * PAGE, PAGE) == RACKWRIGHT_OK && is_equal(memory[4], memory[5], PAGE));
  leaves[0] = entry(memory[6], DATA);
  rackwright_fence();
  CHECK(copy(0, 2 * PAGE, PAGE) == RACKWRIGHT_OK && is_equal(memory[4], memory[5], PAGE));
  flush();
  CHECK(copy(0, 2 * PAGE, PAGE) == RACKWRIGHT_OK && is_equal(memory[4], memory[6], PAGE));
}

static volatile uint32_t taken, raised_by;

__attribute__((interrupt("supervisor"), aligned(4))) static void on_interrupt(void)
{
  raised_by = claim();
  taken++;
  __asm__ volatile("csrc sie, %0" : : "r"(SUPERVISOR_EXTERNAL));
  complete(raised_by);
}

static volatile uint32_t *dma(uint64_t offset) { return (volatile uint32_t *)(uintptr_t)(COPY_DMA_REGISTERS + offset); }

static void interrupts(void)
{
  let_through(COPY_DMA_INTERRUPT);
  *(volatile uint64_t *)dma(COPY_DMA_SOURCE) = (uintptr_t)memory[5];
  *(volatile uint64_t *)dma(COPY_DMA_DESTINATION) = (uintptr_t)memory[7];
  *dma(COPY_DMA_BYTES) = PAGE;
  *dma(COPY_DMA_CONTROL) = START;
  __asm__ volatile("csrw stvec, %0; csrs sie, %1; csrsi sstatus, 2" : : "r"(on_interrupt), "r"(SUPERVISOR_EXTERNAL));
  while (taken == 0) __asm__ volatile("nop");
  CHECK(raised_by == COPY_DMA_INTERRUPT && *dma(COPY_DMA_CONTROL) & DONE);
  rackwright_fence();
  CHECK(is_equal(memory[7], memory[5], PAGE));
}

static void supervisor(void)
{
  virtual_addresses();
  page_faults();
  fences();
  interrupts();
  exit(0);
}

int main(void)
{
  enum { GIGABYTE_LEAF = DATA | X };
  root[0] = entry((void *)0, GIGABYTE_LEAF);
  root[1] = entry(middle, V);
  root[2] = entry((void *)0x80000000, GIGABYTE_LEAF);
  middle[0] = entry(leaves, V);
  const uint64_t satp = 8ul << 60 | (uintptr_t)root / PAGE, to_supervisor = 1 << 11, machine = 3 << 11;
  __asm__ volatile("csrw pmpaddr0, %0; csrw pmpcfg0, %1" : : "r"(-1l), "r"(0x1f));
  __asm__ volatile("csrw mideleg, %0; csrw mcounteren, %1" : : "r"(SUPERVISOR_EXTERNAL), "r"(7));
  __asm__ volatile("csrw satp, %0; sfence.vma" : : "r"(satp) : "memory");
  __asm__ volatile("csrc mstatus, %0; csrs mstatus, %1" : : "r"(machine), "r"(to_supervisor));
  __asm__ volatile("csrw mepc, %0; mret" : : "r"(supervisor) : "memory");
  return 1;
}
