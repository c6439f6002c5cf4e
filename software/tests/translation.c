/* Sv39: what may be reached through page tables, and what they say afterwards. */
#include "privileged.h"

enum { V = 1, R = 2, W = 4, X = 8, U = 16, A = 64, D = 128 };
enum { PAGE = 4096, LOAD_FAULT = 13, STORE_FAULT = 15, FETCH_FAULT = 12 };

#define TABLE static uint64_t __attribute__((aligned(PAGE)))
TABLE root[512];
TABLE middle[512];
TABLE leaves[512];
static uint8_t __attribute__((aligned(PAGE))) pages[4][PAGE];

/* The window that the leaves map. */
#define WINDOW 0x40000000ul

static uint64_t entry(const void *target, uint64_t flags) { return ADDRESS(target) / PAGE << 10 | flags; }

static void flush(void) { __asm__ volatile("sfence.vma" ::: "memory"); }

/* Maps page `index` of the window. */
static void map(unsigned index, const void *page, uint64_t flags) {
  leaves[index] = entry(page, flags);
  flush();
}

static uint64_t *word(unsigned page, unsigned offset) { return (uint64_t *)(pages[page] + offset); }

static int reading_and_writing(void) {
  *word(0, 8) = 42;
  map(0, pages[0], V | R | W | A | D);
  CHECK(load(WINDOW + 8, SUPERVISOR, 0) == 42 && trap_cause == NO_TRAP);
  store(WINDOW + 16, 43, SUPERVISOR);
  CHECK(trap_cause == NO_TRAP && *word(0, 16) == 43);
  map(0, pages[0], V | R | A | D);
  store(WINDOW + 16, 44, SUPERVISOR);
  CHECK(trap_cause == STORE_FAULT && trap_value == WINDOW + 16 && *word(0, 16) == 43);
  map(0, pages[0], R | W | A | D);
  load(WINDOW, SUPERVISOR, 0);
  CHECK(trap_cause == LOAD_FAULT && trap_value == WINDOW);
  map(0, pages[0], V | W | A | D);
  load(WINDOW, SUPERVISOR, 0);
  CHECK(trap_cause == LOAD_FAULT);
  load(WINDOW | 1ul << 45, SUPERVISOR, 0);
  CHECK(trap_cause == LOAD_FAULT);
  return 0;
}

static int who_may(void) {
  *word(0, 0) = 7;
  map(0, pages[0], V | R | W | U | A | D);
  CHECK(load(WINDOW, USER, 0) == 7 && trap_cause == NO_TRAP);
  load(WINDOW, SUPERVISOR, 0);
  CHECK(trap_cause == LOAD_FAULT);
  CHECK(load(WINDOW, SUPERVISOR, MSTATUS_SUM) == 7 && trap_cause == NO_TRAP);
  map(0, pages[0], V | R | W | A | D);
  load(WINDOW, USER, 0);
  CHECK(trap_cause == LOAD_FAULT);
  map(0, pages[0], V | X | A | D);
  load(WINDOW, SUPERVISOR, 0);
  CHECK(trap_cause == LOAD_FAULT);
  CHECK(load(WINDOW, SUPERVISOR, MSTATUS_MXR) == 7 && trap_cause == NO_TRAP);
  /* Machine mode itself is not translated. */
  CHECK(probe_load(ADDRESS(pages[0]), 0) == 7 && trap_cause == NO_TRAP);
  return 0;
}

static int marks(void) {
  map(0, pages[0], V | R | W);
  load(WINDOW, SUPERVISOR, 0);
  CHECK(trap_cause == NO_TRAP && (leaves[0] & (A | D)) == A);
  store(WINDOW, 1, SUPERVISOR);
  CHECK(trap_cause == NO_TRAP && (leaves[0] & (A | D)) == (A | D));
  return 0;
}

static int remapping(void) {
  *word(0, 0) = 100;
  *word(1, 0) = 101;
  map(0, pages[0], V | R | W | A | D);
  CHECK(load(WINDOW, SUPERVISOR, 0) == 100);
  map(0, pages[1], V | R | W | A | D);
  CHECK(load(WINDOW, SUPERVISOR, 0) == 101);
  leaves[0] = 0;
  flush();
  load(WINDOW, SUPERVISOR, 0);
  CHECK(trap_cause == LOAD_FAULT);
  return 0;
}

/* The same in the three instructions of Svinval. */
static int invalidating(void) {
  *word(0, 0) = 102;
  *word(1, 0) = 103;
  map(0, pages[0], V | R | W | A | D);
  CHECK(load(WINDOW, SUPERVISOR, 0) == 102);
  leaves[0] = entry(pages[1], V | R | W | A | D);
  __asm__ volatile("li t0, %0\n.word 0x18000073, 0x16028073, 0x18100073" ::"i"(WINDOW) : "t0", "memory");
  CHECK(load(WINDOW, SUPERVISOR, 0) == 103);
  run_in(SUPERVISOR, ADDRESS(do_invalidate), WINDOW);
  CHECK(trap_cause == 9);
  return 0;
}

static int across_pages(void) {
  map(0, pages[2], V | R | W | A | D);
  map(1, pages[0], V | R | W | A | D);
  store(WINDOW + PAGE - 3, 0x1122334455667788, SUPERVISOR);
  CHECK(trap_cause == NO_TRAP && pages[2][PAGE - 1] == 0x66 && pages[0][0] == 0x55 && pages[0][4] == 0x11);
  CHECK(load(WINDOW + PAGE - 3, SUPERVISOR, 0) == 0x1122334455667788);
  leaves[1] = 0;
  flush();
  load(WINDOW + PAGE - 3, SUPERVISOR, 0);
  CHECK(trap_cause == LOAD_FAULT);
  store(WINDOW + PAGE - 3, 0, SUPERVISOR);
  CHECK(trap_cause == STORE_FAULT);
  return 0;
}

static int superpages(void) {
  uint64_t base = ADDRESS(pages) & ~0x1ffffful;
  middle[1] = entry((void *)base, V | R | W | A | D);
  flush();
  *word(3, 0) = 55;
  CHECK(load(WINDOW + 0x200000 + (ADDRESS(pages[3]) - base), SUPERVISOR, 0) == 55 && trap_cause == NO_TRAP);
  middle[1] = entry((void *)(base + PAGE), V | R | W | A | D);
  flush();
  load(WINDOW + 0x200000, SUPERVISOR, 0);
  CHECK(trap_cause == LOAD_FAULT);
  return 0;
}

static int running(void) {
  uint64_t page = ADDRESS(do_load) & -(uint64_t)PAGE;
  uint64_t code = WINDOW + (ADDRESS(do_load) - page);
  *word(1, 0) = 77;
  map(1, pages[1], V | R | U | A | D);
  map(0, (void *)page, V | R | X | U | A | D);
  CHECK(run_in(USER, code, WINDOW + PAGE) == 77 && trap_cause == 8);
  run_in(SUPERVISOR, code, 0);
  CHECK(trap_cause == FETCH_FAULT && trap_value == code && trap_pc == code);
  map(0, (void *)page, V | R | U | A | D);
  run_in(USER, code, 0);
  CHECK(trap_cause == FETCH_FAULT);
  map(0, (void *)page, V | R | X | A | D);
  run_in(USER, code, 0);
  CHECK(trap_cause == FETCH_FAULT);
  map(1, pages[1], V | R | A | D);
  CHECK(run_in(SUPERVISOR, code, WINDOW + PAGE) == 77 && trap_cause == 9);
  run_in(SUPERVISOR, code, WINDOW + 2 * PAGE);
  CHECK(trap_cause == LOAD_FAULT && trap_pc == code);
  return 0;
}

/* An instruction whose halves lie in pages that are mapped apart: `lui a0, n` over the border, then `ecall`. */
static int instruction_across_pages(void) {
  for (uint32_t value = 0; value < 2; value++) {
    uint32_t instruction = value << 16 | 0x1537;
    uint16_t *first = (uint16_t *)(pages[2] + PAGE - 2), *second = (uint16_t *)pages[value];
    *first = (uint16_t)instruction;
    second[0] = (uint16_t)(instruction >> 16);
    second[1] = 0x73;
    second[2] = 0;
    map(0, pages[2], V | R | X | A | D);
    map(1, pages[value], V | R | X | A | D);
    __asm__ volatile("fence.i" ::: "memory");
    CHECK(run_in(SUPERVISOR, WINDOW + PAGE - 2, 0) == (value << 16 | 0x1000) && trap_cause == 9);
  }
  return 0;
}

int main(void) {
  privileged_start();
  root[WINDOW >> 30] = entry(middle, V);
  root[2] = entry((void *)0x80000000, V | R | W | X | A | D);
  middle[0] = entry(leaves, V);
  WRITE_CSR(satp, 8ul << 60 | ADDRESS(root) / PAGE);
  flush();
  int status = 0;
  int (*const parts[])(void) = {reading_and_writing, who_may,    marks,   remapping,               invalidating,
                                across_pages,        superpages, running, instruction_across_pages};
  for (unsigned part = 0; part < sizeof parts / sizeof *parts && status == 0; part++) status = parts[part]();
  return finish(status);
}
