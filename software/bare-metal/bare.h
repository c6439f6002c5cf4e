/* What a bare-metal program may use of its machine; crt.S and link.ld belong to it. */
#ifndef RACKWRIGHT_BARE_H
#define RACKWRIGHT_BARE_H

#include <stdint.h>

/* Devices, placed by link.ld: a store of (code << 1) | 1 to tohost ends the run; each byte stored to console appears on it. */
extern volatile uint64_t tohost;
extern volatile uint8_t console;

/* First byte after the program and its stack; zero and never touched until the program does. */
extern uint8_t free_memory[];

/* A server whose hardware address is known from the start. */
struct neighbour {
  uint64_t address; /* as below */
  uint64_t mac;     /* 00:12:6d:00:00:02 being 0x00126d000002 */
};

/* What the program is told by who started it. */
struct boot_information {
  uint64_t address;         /* IPv4 address of this server, 172.16.0.2 being 0xac100002; 0 without a network */
  uint64_t neighbour_count; /* those of `static_arp`; 0 when it has to ask */
  const struct neighbour *neighbours;
  uint64_t argument_count; /* the first argument is the program's name; 0 when there are none */
  const char *arguments[]; /* the last is followed by a null pointer */
};
extern const struct boot_information boot_information;

void exit(int code) __attribute__((noreturn));

/* Cycles since reset. */
static inline uint64_t read_cycles(void) {
  uint64_t value;
  __asm__ volatile("csrr %0, mcycle" : "=r"(value) : : "memory");
  return value;
}

/* Instructions retired since reset. */
static inline uint64_t read_instructions(void) {
  uint64_t value;
  __asm__ volatile("csrr %0, minstret" : "=r"(value) : : "memory");
  return value;
}

static inline void print_byte(char byte) { console = (uint8_t)byte; }

static inline void print_text(const char *text) {
  while (*text) print_byte(*text++);
}

/* Decimal, without leading zeros. */
static inline void print_number(uint64_t value) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  while (count) print_byte(digits[--count]);
}

/* A line with a number behind its name. */
static inline void print_named(const char *name, uint64_t value) {
  print_text(name);
  print_byte(' ');
  print_number(value);
  print_byte('\n');
}

#endif
