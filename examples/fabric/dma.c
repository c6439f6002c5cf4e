/* Finds the cards of a fabric, and has each `traffic` read and write memory by DMA.
 *
 * rw run --fabric examples/fabric/switch.py dma.elf */
#include "bare.h"
#include "pci.h"
#include "rackwright/traffic_registers.h"

enum { MOST = 64, REQUESTS = 64, BYTES = 512, TRAFFIC = 0x00015257 };

static struct pci_function functions[MOST];

static void print_hexadecimal(uint64_t value, int digits) {
  while (digits--) print_byte("0123456789abcdef"[value >> 4 * digits & 0xf]);
}

static void print_function(const struct pci_function *function) {
  print_hexadecimal(PCI_BUS(function->id), 2);
  print_text(":");
  print_hexadecimal(function->id >> 3 & 31, 2);
  print_text(".0 ");
  print_hexadecimal(function->vendor, 4);
  print_text(":");
  print_hexadecimal(function->device, 4);
}

/* Has a card make a run, and gives the cycles from its start to its end. */
static uint64_t run(volatile uint64_t *registers, uint64_t base, int writes) {
#define REGISTER(name) registers[RW_TRAFFIC_REGISTER_##name / 8]
  REGISTER(BASE) = base;
  REGISTER(SIZE) = BYTES;
  REGISTER(STRIDE) = BYTES;
  REGISTER(MASK) = REQUESTS * BYTES - 1;
  REGISTER(COUNT) = REQUESTS;
  REGISTER(OUTSTANDING) = 32;
  REGISTER(INTERVAL) = 1;
  REGISTER(COPY) = 0;
  REGISTER(SEED) = 1000;
  uint64_t begin = read_cycles();
  REGISTER(START) = (uint64_t)writes << RW_TRAFFIC_REGISTER_START_WRITES_BIT;
  while (REGISTER(START)) {}
  return read_cycles() - begin;
}

/* Both directions of one card; says what went wrong, or 0. */
static int test(const struct pci_function *function) {
  volatile uint64_t *registers = (volatile uint64_t *)function->bar[0];
  volatile uint64_t *buffer = (volatile uint64_t *)free_memory;
  uint64_t words = REQUESTS * BYTES / 8, sum = 0;
  for (uint64_t word = 0; word < words; word++) sum += buffer[word] = 3 * word + function->id;
  uint64_t read = run(registers, (uint64_t)buffer, 0);
  if (REGISTER(SUM) != sum || REGISTER(FAULTS)) return 1;
  uint64_t written = run(registers, (uint64_t)buffer, 1);
  for (uint64_t word = 0; word < words; word++)
    if (buffer[word] != (uint64_t)&buffer[word] + 1000) return 2;
  print_text(": 32 KiB read in ");
  print_number(read);
  print_text(" cycles, written in ");
  print_number(written);
  return 0;
}

int main(void) {
  struct pci pci = {1, PCI_WINDOW, 0, MOST, functions};
  pci_scan(&pci, 0, 32);
  for (int index = 0; index < pci.count; index++) {
    const struct pci_function *function = &functions[index];
    print_function(function);
    if (function->is_bridge) {
      print_text(" bridge to ");
      print_hexadecimal(function->last_bus, 2);
    } else if (function->vendor == (TRAFFIC & 0xffff) && function->device == TRAFFIC >> 16) {
      int wrong = test(function);
      if (wrong) return wrong;
    }
    print_text("\n");
  }
  return 0;
}
