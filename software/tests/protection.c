/* Physical memory protection: which pages the modes may use, and for what. */
#include "privileged.h"

enum { PAGE = 4096, READ = 1, WRITE = 2, EXECUTE = 4, TOP_OF_RANGE = 1 << 3, NATURAL = 3 << 3, LOCKED = 1 << 7 };
enum { FETCH_FAULT = 1, LOAD_FAULT = 5, STORE_FAULT = 7 };

static uint64_t __attribute__((aligned(PAGE))) pages[4][PAGE / 8];
static const uint32_t ECALL = 0x73;

/* A region of one page, as the address register of a region has it. */
static uint64_t page_alone(unsigned page) { return ADDRESS(pages[page]) / 4 | (PAGE / 8 - 1); }

static void set(uint64_t configurations) {
  WRITE_CSR(pmpcfg0, configurations);
  __asm__ volatile("sfence.vma" ::: "memory");
}

/* Page 0 may be read, pages 1 and 2 executed, the rest is open. */
static int kinds_of_regions(void) {
  WRITE_CSR(pmpaddr0, page_alone(0));
  WRITE_CSR(pmpaddr1, ADDRESS(pages[1]) / 4);
  WRITE_CSR(pmpaddr2, ADDRESS(pages[3]) / 4);
  WRITE_CSR(pmpaddr3, -1);
  set((uint64_t)(NATURAL | READ | WRITE | EXECUTE) << 24 | (TOP_OF_RANGE | EXECUTE) << 16 | NATURAL | READ);
  for (unsigned page = 0; page < 4; page++) pages[page][1] = 10 + page;
  CHECK(load(ADDRESS(&pages[0][1]), SUPERVISOR, 0) == 10 && trap_cause == NO_TRAP);
  store(ADDRESS(&pages[0][1]), 1, SUPERVISOR);
  CHECK(trap_cause == STORE_FAULT && trap_value == ADDRESS(&pages[0][1]) && pages[0][1] == 10);
  store(ADDRESS(&pages[0][1]), 1, MACHINE);
  CHECK(trap_cause == NO_TRAP && pages[0][1] == 1);
  for (unsigned page = 1; page < 3; page++) {
    load(ADDRESS(&pages[page][1]), USER, 0);
    CHECK(trap_cause == LOAD_FAULT && trap_value == ADDRESS(&pages[page][1]));
  }
  CHECK(load(ADDRESS(&pages[3][1]), USER, 0) == 13 && trap_cause == NO_TRAP);
  return 0;
}

static int execution(void) {
  for (unsigned page = 0; page < 4; page++) *(uint32_t *)pages[page] = ECALL;
  __asm__ volatile("fence.i" ::: "memory");
  run_in(SUPERVISOR, ADDRESS(pages[0]), 0);
  CHECK(trap_cause == FETCH_FAULT && trap_pc == ADDRESS(pages[0]));
  run_in(SUPERVISOR, ADDRESS(pages[2]), 0);
  CHECK(trap_cause == 9);
  run_in(MACHINE, ADDRESS(pages[0]), 0);
  CHECK(trap_cause == 11);
  return 0;
}

/* Page tables are read with the supervisor's rights, whatever the access is for. */
static int walks(void) {
  uint64_t *root = pages[1];
  root[2] = 0x80000000 / PAGE << 10 | 0xcf;
  WRITE_CSR(satp, 8ul << 60 | ADDRESS(root) / PAGE);
  store(ADDRESS(pages[3]), 1, SUPERVISOR);
  CHECK(trap_cause == STORE_FAULT && trap_value == ADDRESS(pages[3]));
  set((uint64_t)(NATURAL | READ | WRITE | EXECUTE) << 24 | NATURAL | READ);
  store(ADDRESS(pages[3]), 1, SUPERVISOR);
  CHECK(trap_cause == NO_TRAP && pages[3][0] == 1);
  store(ADDRESS(pages[0]), 1, SUPERVISOR);
  CHECK(trap_cause == STORE_FAULT);
  WRITE_CSR(satp, 0);
  return 0;
}

static int no_region(void) {
  set(0);
  load(ADDRESS(pages[3]), SUPERVISOR, 0);
  CHECK(trap_cause == LOAD_FAULT);
#ifndef QEMU /* which does not leave machine mode then */
  run_in(USER, ADDRESS(do_ecall), 0);
  CHECK(trap_cause == FETCH_FAULT && trap_pc == ADDRESS(do_ecall));
#endif
  CHECK(probe_load(ADDRESS(pages[3]), 0) == 1 && trap_cause == NO_TRAP);
  return 0;
}

static int registers(void) {
#ifndef QEMU /* whose regions may be of four bytes */
  WRITE_CSR(pmpaddr0, -1);
  CHECK(READ_CSR(pmpaddr0) == (1ul << 54) - PAGE / 4);
#endif
  set(NATURAL | READ);
  CHECK(READ_CSR(pmpcfg0) == (NATURAL | READ));
  CHECK(READ_CSR(pmpcfg2) == 0 && READ_CSR(pmpaddr15) == 0);
  return 0;
}

/* What is locked stays until reset, and binds machine mode. */
static int locks(void) {
  WRITE_CSR(pmpaddr0, page_alone(0));
  set(LOCKED | NATURAL | READ);
  pages[1][0] = 5;
  CHECK(pages[1][0] == 5);
  probe_store(ADDRESS(pages[0]), 1, 0);
  CHECK(trap_cause == STORE_FAULT);
  set(0);
  WRITE_CSR(pmpaddr0, 0);
  CHECK(READ_CSR(pmpcfg0) == (LOCKED | NATURAL | READ) && READ_CSR(pmpaddr0) == page_alone(0));
  return 0;
}

int main(void) {
  int status = 0;
  privileged_start();
  int (*const parts[])(void) = {kinds_of_regions, execution, walks, no_region, registers, locks};
  for (unsigned part = 0; part < sizeof parts / sizeof *parts && status == 0; part++) status = parts[part]();
  return finish(status);
}
