/* Has a DMA engine on a card copy memory of this process, in Debian, and sleeps until its interrupt:
 *
 * rw units examples/bring-your-own/axi/manifest.json --header units.h
 * rw boot --fabric examples/fabric/own.py --file own_copy \
 *         --run 'modprobe uio_pci_generic; echo 1 >/proc/sys/vm/nr_hugepages; ./own_copy 0000:04:00.0' */
#include "rackwright/pci.h"
#include "units.h"

enum { BYTES = 64 * 1024, START = 1, DONE = 2, ERROR = 8 };

static volatile uint32_t *registers;

static void set(unsigned offset, uint64_t address) {
  registers[offset / 4] = (uint32_t)address;
  registers[offset / 4 + 1] = (uint32_t)(address >> 32);
}

/* Starts a copy, and returns how many interrupts the kernel has counted when it has ended; -1 on failure. */
static int64_t copy(struct rw_pci_card *card, uint64_t to, uint64_t from, uint32_t bytes) {
  set(COPY_DMA_SOURCE, from);
  set(COPY_DMA_DESTINATION, to);
  registers[COPY_DMA_BYTES / 4] = bytes;
  registers[COPY_DMA_CONTROL / 4] = START; /* lowers the interrupt of the copy before */
  return rw_pci_wait(card);
}

int main(int count, char **names) {
  struct rw_pci_buffer buffer;
  struct rw_pci_card card;
  const char *name = count > 1 ? names[1] : "";
  if (rw_pci_allocate(&buffer)) return perror("no huge page"), 1;
  if (rw_pci_open(&card, name) || rw_pci_listen(&card, name)) return perror(name), 1;
  registers = card.bar[0];
  uint8_t *from = buffer.data, *to = from + BYTES;
  for (int i = 0; i < BYTES; i++) from[i] = (uint8_t)(i * 7 + (i >> 8));
  for (int times = 1; times <= 3; times++) {
    memset(to, 0, BYTES);
    int64_t interrupts = copy(&card, buffer.address + BYTES, buffer.address, BYTES);
    int equal = memcmp(to, from, BYTES) == 0, control = (int)registers[COPY_DMA_CONTROL / 4];
    printf("%d bytes %s, %lld interrupts\n", BYTES, equal ? "equal" : "different", (long long)interrupts);
    if (!equal || interrupts != times || (control & (DONE | ERROR)) != DONE) return 2;
  }
  int64_t refused = copy(&card, buffer.address + BYTES, buffer.address, 3);
  printf("3 bytes %s\n", refused == 4 && registers[COPY_DMA_CONTROL / 4] & ERROR ? "refused" : "taken");
  rw_pci_close(&card);
  return 0;
}
