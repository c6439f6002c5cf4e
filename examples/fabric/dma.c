/* Finds the cards of a fabric, and has each `traffic` read and write memory by DMA.
 *
 * rw run --fabric examples/fabric/switch.py dma.elf */
#include "bare.h"
#include "pci.h"
#include "traffic_run.h"

enum { MOST = 64 };

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

/* The cycles that a run takes. */
static uint64_t cycles_of(volatile uint64_t *registers, uint64_t base, int writes) {
  uint64_t begin = read_cycles();
  traffic_run(registers, base, writes);
  return read_cycles() - begin;
}

/* Both directions of one card; says what went wrong, or 0. */
static int test(const struct pci_function *function) {
  volatile uint64_t *registers = (volatile uint64_t *)function->bar[0];
  volatile uint64_t *buffer = (volatile uint64_t *)free_memory;
  uint64_t base = (uint64_t)buffer, sum = traffic_fill(buffer, function->id);
  uint64_t read = cycles_of(registers, base, 0);
  if (!traffic_has_read(registers, sum)) return 1;
  uint64_t written = cycles_of(registers, base, 1);
  if (!traffic_has_written(buffer, base)) return 2;
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
    } else if (function->vendor == TRAFFIC_VENDOR && function->device == TRAFFIC_DEVICE) {
      int wrong = test(function);
      if (wrong) return wrong;
    }
    print_text("\n");
  }
  return 0;
}
