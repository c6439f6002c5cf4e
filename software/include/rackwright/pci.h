/* Cards of a PCIe fabric for programs of Linux, by what the kernel shows of them in /sys: their windows mapped, memory that their
 * DMA reaches, and their interrupts. For root. Functions that can fail say why in `errno`. */
#ifndef RACKWRIGHT_PCI_H
#define RACKWRIGHT_PCI_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RW_PCI_BARS = 6, RW_PCI_COMMAND = 4 };

/* A card that is open. */
struct rw_pci_card {
  int configuration;             /* its configuration space, as a file */
  int interrupts;                /* the kernel's count of its interrupts, as a file; -1 before `rw_pci_listen` */
  uint16_t vendor, device;
  volatile void *bar[RW_PCI_BARS]; /* null where there is no window */
  size_t bytes[RW_PCI_BARS];
  uint64_t address[RW_PCI_BARS]; /* by which other cards reach them */
};

/* Memory that stays where it is, in one piece. */
struct rw_pci_buffer {
  void *data;
  uint64_t address; /* by which cards reach it */
  size_t bytes;
};

static inline int rw_pci_file(const char *card, const char *name, int flags) {
  char path[128];
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", card, name);
  return open(path, flags | O_CLOEXEC);
}

/* Maps the windows whose addresses are in the lines of the file `resource`. */
static inline int rw_pci_map(struct rw_pci_card *opened, const char *card) {
  int file = rw_pci_file(card, "resource", O_RDONLY);
  FILE *lines = file < 0 ? NULL : fdopen(file, "r");
  if (!lines) return -1;
  int status = 0;
  for (int bar = 0; bar < RW_PCI_BARS && status == 0; bar++) {
    unsigned long long first, last, flags;
    if (fscanf(lines, "%llx %llx %llx", &first, &last, &flags) != 3) break;
    if (last == 0) continue;
    char name[16];
    snprintf(name, sizeof name, "resource%d", bar);
    int window = rw_pci_file(card, name, O_RDWR);
    opened->bytes[bar] = last - first + 1;
    opened->address[bar] = first;
    void *mapped = mmap(NULL, opened->bytes[bar], PROT_READ | PROT_WRITE, MAP_SHARED, window, 0);
    if (window >= 0) close(window);
    if (mapped == MAP_FAILED) {
      status = -1;
    } else {
      opened->bar[bar] = mapped;
    }
  }
  fclose(lines);
  return status;
}

/* Writes a text to a file of the card. */
static inline int rw_pci_tell(const char *card, const char *name, const char *text) {
  int file = rw_pci_file(card, name, O_WRONLY);
  if (file < 0) return -1;
  ssize_t written = write(file, text, strlen(text));
  int error = errno;
  close(file);
  errno = error;
  return written < 0 ? -1 : 0;
}

/* Has the kernel enable the card and the bridges above it, which a driver of it has done already, and lets it be a bus master. */
static inline int rw_pci_enable(struct rw_pci_card *opened, const char *card) {
  enum { MASTER = 4 };
  int enabled = rw_pci_tell(card, "enable", "1") == 0 || errno == EBUSY;
  uint16_t words[3];
  if (!enabled || pread(opened->configuration, words, sizeof words, 0) != sizeof words) return -1;
  opened->vendor = words[0];
  opened->device = words[1];
  words[2] |= MASTER;
  return pwrite(opened->configuration, &words[2], 2, RW_PCI_COMMAND) == 2 ? 0 : -1;
}

/* Ends what `rw_pci_open` began. */
static inline void rw_pci_close(struct rw_pci_card *card) {
  for (int bar = 0; bar < RW_PCI_BARS; bar++)
    if (card->bar[bar]) munmap((void *)card->bar[bar], card->bytes[bar]);
  if (card->interrupts >= 0) close(card->interrupts);
  if (card->configuration >= 0) close(card->configuration);
}

/* Opens a card by its name, such as "0000:03:00.0": lets it serve accesses, and make requests to memory, which bridges above it
 * pass on, and maps its windows. 0, or -1. No driver must have it but `uio_pci_generic`. */
static inline int rw_pci_open(struct rw_pci_card *opened, const char *card) {
  memset(opened, 0, sizeof *opened);
  opened->interrupts = -1;
  opened->configuration = rw_pci_file(card, "config", O_RDWR);
  if (opened->configuration >= 0 && rw_pci_enable(opened, card) == 0 && rw_pci_map(opened, card) == 0) return 0;
  int error = errno;
  rw_pci_close(opened);
  errno = error;
  return -1;
}

/* Gives an open card to the kernel's driver `uio_pci_generic`, which must have been loaded, and opens its count of interrupts. 0,
 * or -1. */
static inline int rw_pci_listen(struct rw_pci_card *opened, const char *card) {
  int drivers = open("/sys/bus/pci/drivers_probe", O_WRONLY | O_CLOEXEC);
  int bound = rw_pci_tell(card, "driver_override", "uio_pci_generic") == 0 && drivers >= 0 &&
              write(drivers, card, strlen(card)) >= 0;
  if (drivers >= 0) close(drivers);
  if (!bound) return -1;
  char path[300];
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/uio", card);
  DIR *folder = opendir(path);
  if (!folder) return -1;
  struct dirent *entry;
  while ((entry = readdir(folder)) && entry->d_name[0] == '.') continue;
  if (entry) {
    snprintf(path, sizeof path, "/dev/%s", entry->d_name);
    opened->interrupts = open(path, O_RDWR | O_CLOEXEC);
  }
  closedir(folder);
  return opened->interrupts < 0 ? -1 : 0;
}

/* Waits until the card has raised its interrupt since the last call, and returns how often it has so far; -1 on failure. The
 * kernel disables the interrupt each time, and this enables it: the card must have lowered it before the next call. */
static inline int64_t rw_pci_wait(struct rw_pci_card *card) {
  enum { NO_INTERRUPT = 1 << 10 };
  uint16_t command;
  uint32_t count;
  if (pread(card->configuration, &command, 2, RW_PCI_COMMAND) != 2) return -1;
  command &= (uint16_t)~NO_INTERRUPT;
  if (pwrite(card->configuration, &command, 2, RW_PCI_COMMAND) != 2) return -1;
  return read(card->interrupts, &count, sizeof count) == sizeof count ? (int64_t)count : -1;
}

/* Where a page of this process that is locked in memory lies: the address by which cards reach it; 0 when it can't be known. */
static inline uint64_t rw_pci_address(const void *data) {
  enum { ENTRY = 8 };
  const uint64_t present = 1ull << 63, frame = (1ull << 55) - 1;
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), entry = 0;
  int pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pages < 0) return 0;
  ssize_t count = pread(pages, &entry, ENTRY, (off_t)((uint64_t)data / page * ENTRY));
  close(pages);
  if (count != ENTRY || !(entry & present)) return 0;
  return (entry & frame) * page + (uint64_t)data % page;
}

/* Takes a huge page of 2 MiB, of which the kernel must have some: `echo 1 >/proc/sys/vm/nr_hugepages`. 0, or -1. */
static inline int rw_pci_allocate(struct rw_pci_buffer *buffer) {
  buffer->bytes = 2 << 20;
  int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE | MAP_LOCKED;
  buffer->data = mmap(NULL, buffer->bytes, PROT_READ | PROT_WRITE, how, -1, 0);
  if (buffer->data == MAP_FAILED) return -1;
  buffer->address = rw_pci_address(buffer->data);
  if (buffer->address) return 0;
  munmap(buffer->data, buffer->bytes);
  errno = EPERM;
  return -1;
}

#endif
