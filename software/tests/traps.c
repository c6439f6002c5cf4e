/* Exceptions, delegation, interrupts, and the privileges of control registers. */
#include "privileged.h"

#define NOTHING_THERE 0x200000ul
#define SOFTWARE_INTERRUPT ((volatile uint32_t *)0x2000000)
#define TIME_COMPARE ((volatile uint64_t *)0x2004000)
#define TIME ((volatile uint64_t *)0x200bff8)
#define INTERRUPT (1ul << 63)

static uint64_t cause_in(uint64_t mode, const char *code) {
  run_in(mode, ADDRESS(code), 0);
  return trap_cause;
}

static int causes(void) {
  CHECK(cause_in(MACHINE, do_ecall) == 11 && trap_pc == ADDRESS(do_ecall) && trap_mode == MACHINE);
  CHECK(cause_in(SUPERVISOR, do_ecall) == 9);
  CHECK(cause_in(USER, do_ecall) == 8);
  CHECK(cause_in(MACHINE, do_ebreak) == 3 && trap_pc == ADDRESS(do_ebreak));
  CHECK(cause_in(USER, do_illegal) == 2 && trap_value == 0xffffffff);
  probe_load(NOTHING_THERE, 0);
  CHECK(trap_cause == 5 && trap_value == NOTHING_THERE);
  probe_store(NOTHING_THERE, 1, 0);
  CHECK(trap_cause == 7 && trap_value == NOTHING_THERE);
  run_in(MACHINE, NOTHING_THERE, 0);
  CHECK(trap_cause == 1 && trap_pc == NOTHING_THERE);
#ifndef QEMU /* which carries out misaligned atomics */
  uint64_t word[2] = {0, 0};
  run_in(MACHINE, ADDRESS(do_amo_misaligned), ADDRESS(word) + 1);
  CHECK(trap_cause == 6 && trap_value == ADDRESS(word) + 1);
#endif
  return 0;
}

static int delegation(void) {
  WRITE_CSR(medeleg, 1 << 8 | 1 << 3 | 1 << 2);
  CHECK(cause_in(USER, do_ecall) == 8 && trap_mode == SUPERVISOR);
  CHECK(READ_CSR(sepc) == ADDRESS(do_ecall) && READ_CSR(scause) == 8);
  CHECK(cause_in(USER, do_ebreak) == 3 && trap_mode == SUPERVISOR);
  CHECK(cause_in(SUPERVISOR, do_illegal) == 2 && trap_mode == SUPERVISOR);
  CHECK(cause_in(MACHINE, do_ebreak) == 3 && trap_mode == MACHINE);
  CHECK(cause_in(SUPERVISOR, do_ecall) == 9);
  WRITE_CSR(medeleg, 0);
  return 0;
}

static int privileges(void) {
  CHECK(cause_in(USER, do_read_mstatus) == 2);
  CHECK(cause_in(SUPERVISOR, do_read_mstatus) == 2);
  CHECK(cause_in(MACHINE, do_read_mstatus) == 11);
  CHECK(cause_in(MACHINE, do_write_cycle) == 2);
  WRITE_CSR(mcounteren, 0);
  WRITE_CSR(scounteren, 0);
  CHECK(cause_in(USER, do_read_cycle) == 2 && cause_in(SUPERVISOR, do_read_cycle) == 2);
  WRITE_CSR(mcounteren, 7);
  CHECK(cause_in(USER, do_read_cycle) == 2 && cause_in(SUPERVISOR, do_read_cycle) == 9);
  WRITE_CSR(scounteren, 7);
  CHECK(cause_in(USER, do_read_cycle) == 8);
  CHECK(cause_in(USER, do_read_satp) == 2 && cause_in(SUPERVISOR, do_read_satp) == 9);
  SET_CSR(mstatus, MSTATUS_TVM | MSTATUS_TSR | MSTATUS_TW);
  CHECK(cause_in(SUPERVISOR, do_read_satp) == 2);
  CHECK(cause_in(SUPERVISOR, do_invalidate) == 2);
  CHECK(cause_in(SUPERVISOR, do_sret) == 2);
  CHECK(cause_in(SUPERVISOR, do_wfi) == 2);
  CLEAR_CSR(mstatus, MSTATUS_TVM | MSTATUS_TSR | MSTATUS_TW);
  CHECK(cause_in(USER, do_sret) == 2);
  CHECK(cause_in(USER, do_invalidate) == 2 && cause_in(SUPERVISOR, do_invalidate) == 9);
  return 0;
}

static int registers(void) {
  CHECK((READ_CSR(misa) & 0x14112d) == 0x14112d && READ_CSR(misa) >> 62 == 2);
  CHECK(READ_CSR(mhartid) == 0);
  WRITE_CSR(mscratch, 0x123456789abcdef0);
  CHECK(READ_CSR(mscratch) == 0x123456789abcdef0);
#ifndef QEMU /* which keeps the lowest bit */
  WRITE_CSR(mepc, 0x80000001);
  CHECK(READ_CSR(mepc) == 0x80000000);
#endif
  CLEAR_CSR(mstatus, MSTATUS_FS);
  CHECK(cause_in(USER, do_float) == 2 && (READ_CSR(mstatus) >> 63) == 0);
  SET_CSR(mstatus, MSTATUS_FS);
  CHECK(cause_in(USER, do_float) == 8 && (READ_CSR(mstatus) >> 63) == 1);
  uint64_t before = READ_CSR(minstret);
  CHECK(READ_CSR(minstret) > before && READ_CSR(mcycle) > 0);
  return 0;
}

static int interrupts(void) {
  *TIME_COMPARE = -1;
  SET_CSR(mie, 1 << 7 | 1 << 3);
  *TIME_COMPARE = *TIME + 20;
  await_interrupt();
  CHECK(trap_cause == (INTERRUPT | 7) && *TIME >= *TIME_COMPARE);
  CHECK(READ_CSR(mip) >> 7 & 1);
  *TIME_COMPARE = -1;
  CHECK(!(READ_CSR(mip) >> 7 & 1));
  *SOFTWARE_INTERRUPT = 1;
  await_interrupt();
  CHECK(trap_cause == (INTERRUPT | 3));
  /* Machine interrupts come through in lower modes even when they are off in machine mode. */
  CHECK(cause_in(USER, do_ecall) == (INTERRUPT | 3));
  *SOFTWARE_INTERRUPT = 0;
  CHECK(cause_in(USER, do_ecall) == 8);
  /* A delegated one goes to the supervisor, unless it is in a higher mode. */
  WRITE_CSR(mideleg, 1 << 1);
  SET_CSR(mie, 1 << 1);
  SET_CSR(mip, 1 << 1);
  CHECK(cause_in(USER, do_ecall) == (INTERRUPT | 1) && trap_mode == SUPERVISOR);
  CHECK(cause_in(MACHINE, do_ecall) == 11);
  CLEAR_CSR(mip, 1 << 1);
  WRITE_CSR(mie, 0);
  return 0;
}

/* Code that is changed while the program runs: `li a0, n; ret`. */
static int changed_code(void) {
  static uint32_t code[2] __attribute__((aligned(8))) = {0x00100513, 0x00008067};
  for (uint32_t value = 1; value < 4; value++) {
    *(volatile uint32_t *)code = value << 20 | 0x513;
    __asm__ volatile("fence.i" ::: "memory");
    CHECK(((uint32_t(*)(void))code)() == value);
  }
  return 0;
}

int main(void) {
  int status = 0;
  privileged_start();
  int (*const parts[])(void) = {causes, delegation, privileges, registers, interrupts, changed_code};
  for (unsigned part = 0; part < sizeof parts / sizeof *parts && status == 0; part++) status = parts[part]();
  return finish(status);
}
