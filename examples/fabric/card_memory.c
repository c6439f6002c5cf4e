/* Fills memory of a card, and has the card `traffic` read and write it, without the memory of the host:
 *
 * rw run --fabric examples/fabric/units.py card_memory.elf */
#include "bare.h"
#include "pci.h"
#include "traffic_run.h"

enum { MOST = 64 };

static struct pci_function functions[MOST];

int main(void) {
  struct pci pci = {1, PCI_WINDOW, 0, MOST, functions};
  volatile uint64_t *memory = 0, *registers = 0;
  pci_scan(&pci, 0, 32);
  for (int index = 0; index < pci.count; index++) {
    const struct pci_function *function = &functions[index];
    if (function->device == TRAFFIC_DEVICE) {
      registers = (volatile uint64_t *)function->bar[0];
    } else if (!function->is_bridge && function->bar[2]) {
      memory = (volatile uint64_t *)function->bar[2];
    }
  }
  if (!memory || !registers) return 1;
  /* Above 4 GiB: the same place below has to stay as it is. */
  volatile uint64_t *lower = memory + (1ul << 30) / 8, *buffer = memory + (5ul << 30) / 8;
  uint64_t base = (uint64_t)buffer, sum = traffic_fill(buffer, 7);
  volatile uint8_t *bytes = (volatile uint8_t *)(buffer + BUFFER_BYTES / 8);
  bytes[3] = 0x5a;
  if (buffer[1] != 3 + 7 || lower[1] != 0 || bytes[3] != 0x5a || bytes[2] != 0) return 2;
  traffic_run(registers, base, 0);
  if (!traffic_has_read(registers, sum)) return 3;
  traffic_run(registers, base, 1);
  /* Writes of one card do not pass each other: when the last word is there, all are. */
  uint64_t last = BUFFER_BYTES - 8;
  while (buffer[last / 8] != base + last + SEED) {}
  if (!traffic_has_written(buffer, base)) return 4;
  print_text("32 KiB of the card's memory filled, read and written\n");
  return 0;
}
