#include "paging.h"

extern uint8_t free_memory[];

enum { ENTRIES = 512, LEVELS = 3 };

static uint8_t *next;

static unsigned index_of(uint64_t address, unsigned level) { return address >> (12 + 9 * level) & (ENTRIES - 1); }

static uint64_t leaf(uint64_t physical, uint64_t rights) {
  return physical >> 12 << 10 | rights | ENTRY_VALID | ENTRY_ACCESSED | ENTRY_DIRTY;
}

void *tables_page(void) {
  uint8_t *page = next;
  if (frames_begin() && page >= frames_begin()) fail("memory for tables and files is used up, at", (uint64_t)page);
  next += PAGE;
  return page; /* memory behind the program is zero until it is written */
}

void tables_start(void) { next = free_memory; }

uint64_t *tables_root(void) {
  uint64_t *root = tables_page();
  root[index_of(SUPERVISOR, 2)] = leaf(SUPERVISOR, ENTRY_READ | ENTRY_WRITE | ENTRY_EXECUTE);
  root[index_of(DEVICES, 2)] = leaf(0, ENTRY_READ | ENTRY_WRITE);
  return root;
}

uint64_t *tables_entry(uint64_t address, bool make) {
  uint64_t *table = process->root;
  for (unsigned level = LEVELS - 1; level > 0; --level) {
    uint64_t *entry = &table[index_of(address, level)];
    if (!(*entry & ENTRY_VALID)) {
      if (!make) return NULL;
      *entry = (uint64_t)tables_page() >> 12 << 10 | ENTRY_VALID;
    }
    table = (uint64_t *)(*entry >> 10 << 12);
  }
  return &table[index_of(address, 0)];
}
