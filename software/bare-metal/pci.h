/* PCI Express of a bare-metal program behind a host bridge (`rw run --fabric`): configuration space, and what firmware does
 * with it. Numbers of words are those of PCI Express Base 5.0, sections 7.5.1 and 7.5.3. */
#ifndef RACKWRIGHT_PCI_H
#define RACKWRIGHT_PCI_H

#include <stdint.h>

/* Configuration space by the enhanced access mechanism, and the window for ranges of 64 bits: 1 TiB. */
#define PCI_CONFIGURATION 0x30000000ul
#define PCI_WINDOW (1ul << 41)

/* Bus, device and function: 8, 5 and 3 bits. */
#define PCI_ID(bus, device) ((uint16_t)((bus) << 8 | (device) << 3))
#define PCI_BUS(id) ((id) >> 8)

enum {
  PCI_IDENTITY = 0x00,
  PCI_COMMAND = 0x04,
  PCI_HEADER = 0x0c,
  PCI_BAR = 0x10,
  PCI_BUSES = 0x18,
  PCI_MEMORY = 0x20,
  PCI_PREFETCHABLE = 0x24,
  PCI_CAPABILITIES = 0x34,
};

struct pci_function {
  uint16_t id, vendor, device;
  uint8_t is_bridge;
  uint8_t last_bus;  /* of a bridge */
  uint64_t bar[6];   /* addresses by register; 0 for none */
};

struct pci {
  uint8_t next_bus;    /* the first that is free: 1 at the start */
  uint64_t next_range; /* PCI_WINDOW at the start */
  int count, most;     /* functions found, and for how many there is room */
  struct pci_function *functions;
};

static inline volatile uint32_t *pci_word(uint16_t id, unsigned offset) {
  return (volatile uint32_t *)(PCI_CONFIGURATION + ((uint64_t)id << 12) + offset);
}

/* The place of a capability by its number; 0 without one. */
static inline unsigned pci_capability(uint16_t id, unsigned number) {
  unsigned place = *pci_word(id, PCI_CAPABILITIES) & 0xfc;
  while (place && (*pci_word(id, place) & 0xff) != number) place = *pci_word(id, place) >> 8 & 0xfc;
  return place;
}

/* The place of the capability of PCI Express; 0 without one. */
static inline unsigned pci_express(uint16_t id) { return pci_capability(id, 0x10); }

/* Has a function send an interrupt as a message (MSI-X, section 7.7.2), which writes `data` to `address`. The function's ranges
 * must have been placed. 0, or -1 if it has no such interrupt. */
static inline int pci_send_messages(const struct pci_function *function, unsigned vector, uint64_t address, uint32_t data) {
  enum { TABLE = 4, ENTRY = 4, SENT = 1u << 31 };
  unsigned place = pci_capability(function->id, 0x11);
  if (!place || (*pci_word(function->id, place) >> 16 & 0x7ff) < vector) return -1;
  uint32_t table = *pci_word(function->id, place + TABLE);
  volatile uint32_t *entry = (volatile uint32_t *)(function->bar[table & 7] + (table & ~7u)) + vector * ENTRY;
  entry[0] = (uint32_t)address;
  entry[1] = (uint32_t)(address >> 32);
  entry[2] = data;
  entry[3] = 0; /* not masked */
  *pci_word(function->id, place) |= (uint32_t)SENT;
  return 0;
}

/* Finds out how large the ranges of a function are, places them, and lets it serve and make requests to memory. */
static inline void pci_place(struct pci *pci, struct pci_function *function) {
  for (unsigned bar = 0; bar < 6; bar++) {
    volatile uint32_t *low = pci_word(function->id, PCI_BAR + 4 * bar), *high = low + 1;
    *low = ~0u;
    if ((*low & 7) != 4) continue; /* not of 64 bits */
    *high = ~0u;
    uint64_t bytes = -((uint64_t)*high << 32 | (*low & ~0xfu));
    uint64_t range = (pci->next_range + bytes - 1) & -bytes;
    *low = (uint32_t)range;
    *high = (uint32_t)(range >> 32);
    function->bar[bar++] = range;
    pci->next_range = range + bytes;
  }
  *pci_word(function->id, PCI_COMMAND) = 6;
}

/* Numbers the buses from `bus` on, depth first, and places what is on them. */
static inline void pci_scan(struct pci *pci, uint8_t bus, unsigned devices) {
  enum { MEGABYTE = 1 << 20 };
  for (unsigned device = 0; device < devices; device++) {
    uint16_t id = PCI_ID(bus, device);
    uint32_t identity = *pci_word(id, PCI_IDENTITY);
    if (identity == ~0u || pci->count == pci->most) continue;
    struct pci_function *function = &pci->functions[pci->count++];
    *function = (struct pci_function){.id = id, .vendor = (uint16_t)identity, .device = identity >> 16};
    function->is_bridge = (*pci_word(id, PCI_HEADER) >> 16 & 0x7f) == 1;
    if (!function->is_bridge) {
      pci_place(pci, function);
      continue;
    }
    uint8_t below = pci->next_bus++;
    *pci_word(id, PCI_BUSES) = 0xff0000 | below << 8 | bus;
    pci->next_range = (pci->next_range + MEGABYTE - 1) & -MEGABYTE;
    uint64_t first = pci->next_range;
    /* Below a link there is one device; inside a switch there is one for each of its ports. */
    unsigned upstream = (*pci_word(id, pci_express(id)) >> 20 & 0xf) == 5;
    pci_scan(pci, below, upstream ? 32 : 1);
    pci->next_range = (pci->next_range + MEGABYTE - 1) & -MEGABYTE;
    function->last_bus = pci->next_bus - 1;
    *pci_word(id, PCI_BUSES) = function->last_bus << 16 | below << 8 | bus;
    *pci_word(id, PCI_MEMORY) = 0xfff0;
    uint64_t last = pci->next_range - MEGABYTE;
    int empty = pci->next_range == first;
    *pci_word(id, PCI_PREFETCHABLE) = empty ? 0xfff0 : (first >> 16 & 0xfff0) | (last & 0xfff00000);
    *pci_word(id, PCI_PREFETCHABLE + 4) = empty ? 0 : (uint32_t)(first >> 32);
    *pci_word(id, PCI_PREFETCHABLE + 8) = empty ? 0 : (uint32_t)(last >> 32);
    *pci_word(id, PCI_COMMAND) = 6;
  }
}

#endif
