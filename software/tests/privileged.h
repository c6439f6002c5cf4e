/* Provoking traps and looking at them, from machine mode. */
#ifndef RACKWRIGHT_TESTS_PRIVILEGED_H
#define RACKWRIGHT_TESTS_PRIVILEGED_H

#include <stdint.h>

#define READ_CSR(name) ({ uint64_t value_; __asm__ volatile("csrr %0, " #name : "=r"(value_)::"memory"); value_; })
#define WRITE_CSR(name, value) __asm__ volatile("csrw " #name ", %0" ::"r"((uint64_t)(value)) : "memory")
#define SET_CSR(name, value) __asm__ volatile("csrs " #name ", %0" ::"r"((uint64_t)(value)) : "memory")
#define CLEAR_CSR(name, value) __asm__ volatile("csrc " #name ", %0" ::"r"((uint64_t)(value)) : "memory")

/* The program's status is the line of the first check that fails. */
#define CHECK(condition) \
  do { \
    if (!(condition)) return __LINE__; \
  } while (0)

enum { USER = 0, SUPERVISOR = 1, MACHINE = 3 };
enum {
  MSTATUS_MIE = 1 << 3,
  MSTATUS_FS = 3 << 13,
  MSTATUS_MPRV = 1 << 17,
  MSTATUS_SUM = 1 << 18,
  MSTATUS_MXR = 1 << 19,
  MSTATUS_TVM = 1 << 20,
  MSTATUS_TW = 1 << 21,
  MSTATUS_TSR = 1 << 22,
};

/* The last trap, whatever mode took it; a cause of NO_TRAP says that there was none. */
#define NO_TRAP ((uint64_t)-2)
extern uint64_t trap_cause, trap_value, trap_pc, trap_mode;

/* Installs the handlers, and opens all of memory to all modes. */
void privileged_start(void);

/* One access with `status` set in mstatus meanwhile; what a load read, or anything after a trap. */
uint64_t probe_load(uint64_t address, uint64_t status);
void probe_store(uint64_t address, uint64_t value, uint64_t status);

/* One access as `mode` does it. */
static inline uint64_t load(uint64_t address, uint64_t mode, uint64_t status) {
  CLEAR_CSR(mstatus, 3 << 11);
  return probe_load(address, status | MSTATUS_MPRV | mode << 11);
}
static inline void store(uint64_t address, uint64_t value, uint64_t mode) {
  CLEAR_CSR(mstatus, 3 << 11);
  probe_store(address, value, MSTATUS_MPRV | mode << 11);
}

/* Waits with interrupts on until one comes. */
void await_interrupt(void);

/* Runs the code at `pc` in `mode` until it traps, with `argument` in a0; a0 at the trap. */
uint64_t run_in(uint64_t mode, uint64_t pc, uint64_t argument);

/* Code for run_in. */
#define ADDRESS(function) ((uint64_t)(function))
extern char do_ecall[], do_ebreak[], do_illegal[], do_read_mstatus[], do_write_cycle[], do_read_cycle[], do_read_satp[],
    do_sret[], do_wfi[], do_float[], do_load[], do_amo_misaligned[], do_invalidate[];

/* Ends the program. */
int finish(int status);

#endif
