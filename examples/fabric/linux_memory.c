/* Fills memory of cards from this process, in Debian, and has the card `traffic`, the first argument, read and write it:
 *
 * rw boot --fabric examples/fabric/units.py --file linux_memory --run './linux_memory 0000:04:00.0 0000:03:00.0' */
#include "rackwright/pci.h"
#include "traffic_run.h"

/* The memory of a card behind its second window, in its last megabyte. */
static int test(volatile uint64_t *registers, const struct rw_pci_card *card, unsigned number) {
  const int window = 2;
  if (!card->bar[window]) return 1;
  size_t place = card->bytes[window] - (1 << 20);
  volatile uint64_t *buffer = (volatile uint64_t *)((volatile char *)card->bar[window] + place);
  uint64_t address = card->address[window] + place, sum = traffic_fill(buffer, number);
  for (uint64_t word = 0; word < BUFFER_BYTES / 8; word += 64)
    if (buffer[word] != 3 * word + number) return 2;
  traffic_run(registers, address, 0);
  if (!traffic_has_read(registers, sum)) return 3;
  traffic_run(registers, address, 1);
  /* Writes of one card do not pass each other: when the last word is there, all are. */
  uint64_t last = BUFFER_BYTES - 8;
  while (buffer[last / 8] != address + last + SEED) {}
  return traffic_has_written(buffer, address) ? 0 : 4;
}

int main(int count, char **names) {
  struct rw_pci_card traffic;
  if (count < 3 || rw_pci_open(&traffic, names[1])) return perror(names[1]), 1;
  for (int index = 2; index < count; index++) {
    struct rw_pci_card card;
    if (rw_pci_open(&card, names[index])) return perror(names[index]), 1;
    int wrong = test(traffic.bar[0], &card, (unsigned)index);
    printf("%s %zu MiB: %s\n", names[index], card.bytes[2] >> 20, wrong ? "wrong" : "right");
    rw_pci_close(&card);
    if (wrong) return wrong;
  }
  return 0;
}
