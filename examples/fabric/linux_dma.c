/* Has cards `traffic` read and write memory of this process by DMA, in Debian:
 *
 * rw boot --fabric examples/fabric/switch.py --file linux_dma \
 *         --run 'echo 1 >/proc/sys/vm/nr_hugepages; ./linux_dma 0000:03:00.0 0000:04:00.0' */
#include "rackwright/pci.h"
#include "traffic_run.h"

int main(int count, char **names) {
  struct rw_pci_buffer buffer;
  if (rw_pci_allocate(&buffer)) {
    perror("no huge page");
    return 1;
  }
  for (int index = 1; index < count; index++) {
    struct rw_pci_card card;
    if (rw_pci_open(&card, names[index])) {
      perror(names[index]);
      return 1;
    }
    volatile uint64_t *registers = card.bar[0];
    uint64_t sum = traffic_fill(buffer.data, (unsigned)index);
    traffic_run(registers, buffer.address, 0);
    int read = traffic_has_read(registers, sum);
    traffic_run(registers, buffer.address, 1);
    int written = traffic_has_written(buffer.data, buffer.address);
    printf("%s %04x:%04x read %s, written %s\n", names[index], card.vendor, card.device, read ? "right" : "wrong",
           written ? "right" : "wrong");
    rw_pci_close(&card);
    if (!read || !written) return 2;
  }
  return 0;
}
