/* Message-signalled interrupts of a bare-metal program: the hart's interrupt file of machine level, where there is one (`rw run
 * --fabric`). Numbers are those of the RISC-V Advanced Interrupt Architecture 1.0, chapters 2 and 3. */
#ifndef RACKWRIGHT_MESSAGES_H
#define RACKWRIGHT_MESSAGES_H

#include <stdint.h>

/* Where messages for a hart are written, as 4 bytes that are the identity of the interrupt; each hart has a page. */
#define MESSAGES_MACHINE 0x24000000ul
#define MESSAGES_SUPERVISOR 0x28000000ul
#define MESSAGES_PAGE 0x1000ul

enum { MESSAGES_HIGHEST = 255 };

/* Registers of an interrupt file. */
enum { MESSAGES_DELIVERY = 0x70, MESSAGES_THRESHOLD = 0x72, MESSAGES_PENDING = 0x80, MESSAGES_ENABLED = 0xc0 };

/* Control registers: the number and the value of a register of the file, and the interrupt of highest priority. */
#define MESSAGES_SELECT "0x350"
#define MESSAGES_VALUE "0x351"
#define MESSAGES_TOP "0x35c"

static inline void messages_set(unsigned number, uint64_t value) {
  __asm__ volatile("csrw " MESSAGES_SELECT ", %0\n csrw " MESSAGES_VALUE ", %1" : : "r"((uint64_t)number), "r"(value));
}

static inline uint64_t messages_get(unsigned number) {
  uint64_t value;
  __asm__ volatile("csrw " MESSAGES_SELECT ", %1\n csrr %0, " MESSAGES_VALUE : "=r"(value) : "r"((uint64_t)number));
  return value;
}

/* The address for messages to a hart. */
static inline uint64_t messages_address(unsigned hart) { return MESSAGES_MACHINE + hart * MESSAGES_PAGE; }

/* Accepts messages with this identity, 1 to 255. */
static inline void messages_enable(unsigned identity) {
  unsigned word = MESSAGES_ENABLED + identity / 64 * 2;
  messages_set(word, messages_get(word) | 1ul << identity % 64);
}

/* The identity of the first interrupt that is pending and enabled, which is then no longer pending; 0 for none. */
static inline unsigned messages_claim(void) {
  uint64_t top;
  __asm__ volatile("csrrw %0, " MESSAGES_TOP ", x0" : "=r"(top));
  return (unsigned)(top >> 16);
}

/* Has this hart call `handler` for external interrupts of machine mode, which must be a function with the attribute
 * `interrupt("machine")` at a multiple of 4. */
static inline void messages_begin(void (*handler)(void)) {
  __asm__ volatile("csrw mtvec, %0" : : "r"(handler));
  messages_set(MESSAGES_THRESHOLD, 0);
  messages_set(MESSAGES_DELIVERY, 1);
  __asm__ volatile("csrs mie, %0\n csrsi mstatus, 8" : : "r"(1ul << 11) : "memory");
}

#endif
