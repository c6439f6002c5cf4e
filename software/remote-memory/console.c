#include "paging.h"

#define CONSOLE (*(volatile uint8_t *)(DEVICES + 0x10001008))
#define TO_HOST (*(volatile uint64_t *)(DEVICES + 0x10001000))

void print_bytes(const char *bytes, size_t count) {
  for (size_t index = 0; index < count; ++index) CONSOLE = (uint8_t)bytes[index];
}

void print(const char *text) {
  while (*text) CONSOLE = (uint8_t)*text++;
}

void print_decimal(uint64_t value) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  while (count) CONSOLE = (uint8_t)digits[--count];
}

/* A record separator, which no text of a program has, and a name with each number. */
static void report(void) {
  const struct {
    const char *name;
    uint64_t value;
  } rows[] = {
      {"remote_faults", statistics.remote_faults},   {"first_touches", statistics.first_touches},
      {"evictions", statistics.evictions},           {"stores", statistics.stores},
      {"retries", statistics.retries},               {"fault_cycles", statistics.fault_cycles},
      {"fetch_cycles", statistics.fetch_cycles},     {"metadata_cycles", statistics.metadata_cycles},
      {"metadata_pages", statistics.metadata_pages}, {"reclaim_cycles", statistics.reclaim_cycles},
      {"call_cycles", statistics.call_cycles},       {"peak_pages", statistics.peak_pages},
      {"cycles", cycles()},
  };
  print("\x1e");
  for (unsigned index = 0; index < sizeof rows / sizeof *rows; ++index) {
    print(rows[index].name);
    print("=");
    print_decimal(rows[index].value);
    print("\n");
  }
}

void stop(int status) {
  report();
  TO_HOST = (uint64_t)(unsigned)status << 1 | 1;
  for (;;) {
  }
}

void fail(const char *why, uint64_t about) {
  print("\nremote memory: ");
  print(why);
  print(" ");
  print_decimal(about);
  print("\n");
  stop(125);
}
