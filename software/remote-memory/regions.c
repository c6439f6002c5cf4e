#include "paging.h"

#define LOWEST_GAP 0x100000000ul
#define HIGHEST_GAP 0x7c0000000ul

struct region *region_of(uint64_t address) {
  for (unsigned index = 0; index < process->region_count; ++index) {
    if (address >= process->regions[index].start && address < process->regions[index].end) return &process->regions[index];
  }
  return NULL;
}

static struct region *add(struct region region) {
  if (process->region_count == MOST_REGIONS) fail("the program has more mapped ranges than", MOST_REGIONS);
  process->regions[process->region_count] = region;
  return &process->regions[process->region_count++];
}

/* Cuts regions so that none crosses `at`. */
static void cut(uint64_t at) {
  struct region *found = region_of(at);
  if (!found || found->start == at) return;
  struct region rest = *found;
  rest.start = at;
  found->end = at;
  add(rest);
}

static bool joins(const struct region *low, const struct region *high) {
  return low->end == high->start && low->rights == high->rights && !low->file && !high->file;
}

/* Makes one region of those that lie side by side and are alike: a heap that grows stays one. Files' stay apart. */
static void join(void) {
  for (unsigned low = 0; low < process->region_count; ++low) {
    for (unsigned high = 0; high < process->region_count;) {
      if (!joins(&process->regions[low], &process->regions[high])) {
        ++high;
        continue;
      }
      process->regions[low].end = process->regions[high].end;
      process->regions[high] = process->regions[--process->region_count];
      /* The last one is in that place now, which may be the one that grows. */
      if (low == process->region_count) low = high;
      high = 0;
    }
  }
}

static void forget_page(uint64_t address) {
  uint64_t *entry = tables_entry(address, false);
  if (!entry || *entry == 0) return;
  if (*entry & ENTRY_VALID) {
    struct frame *frame = frame_of_bytes(*entry >> 10 << 12);
    *entry = entry_blank(frame->remote);
    fence_address(address);
    frame_free(frame);
  } else if (entry_is(*entry, ENTRY_REMOTE)) {
    *entry = entry_blank(*entry);
  }
}

void region_forget(uint64_t start, uint64_t end) {
  harts_stop();
  if (by_unit) unit_settle();
  for (uint64_t page = start; page < end; page += PAGE) forget_page(page);
  harts_go();
}

void region_unmap(uint64_t start, uint64_t end) {
  cut(start);
  cut(end);
  for (unsigned index = 0; index < process->region_count;) {
    struct region *region = &process->regions[index];
    if (region->start < start || region->end > end) {
      ++index;
      continue;
    }
    region_forget(region->start, region->end);
    *region = process->regions[--process->region_count];
  }
}

void region_map(uint64_t start, uint64_t end, uint64_t rights, const uint8_t *file, uint64_t file_start,
                uint64_t file_bytes) {
  region_unmap(start, end);
  add((struct region){start, end, rights, file, file_start, file_bytes});
  join();
}

static void protect_page(uint64_t address, uint64_t rights) {
  uint64_t *entry = tables_entry(address, false);
  if (!entry || *entry == 0) return;
  bool valid = *entry & ENTRY_VALID;
  if (!valid && !entry_is(*entry, ENTRY_REMOTE)) return;
  *entry = (*entry & ~(uint64_t)ENTRY_RIGHTS) | rights;
  if (valid) fence_address(address);
}

bool region_protect(uint64_t start, uint64_t end, uint64_t rights) {
  for (uint64_t page = start; page < end; page += PAGE) {
    if (!region_of(page)) return false;
  }
  cut(start);
  cut(end);
  harts_stop();
  if (by_unit) unit_settle();
  for (unsigned index = 0; index < process->region_count; ++index) {
    struct region *region = &process->regions[index];
    if (region->start < start || region->end > end) continue;
    region->rights = rights;
    for (uint64_t page = region->start; page < region->end; page += PAGE) protect_page(page, rights);
  }
  join();
  harts_go();
  return true;
}

static bool is_free(uint64_t start, uint64_t end) {
  for (unsigned index = 0; index < process->region_count; ++index) {
    if (process->regions[index].start < end && start < process->regions[index].end) return false;
  }
  return true;
}

/* Downwards from the highest: right below a region that is in the way. */
uint64_t region_gap(uint64_t bytes) {
  uint64_t end = HIGHEST_GAP;
  for (;;) {
    uint64_t start = end - bytes;
    if (bytes > HIGHEST_GAP - LOWEST_GAP || start < LOWEST_GAP) return 0;
    if (is_free(start, end)) return start;
    uint64_t next = LOWEST_GAP;
    for (unsigned index = 0; index < process->region_count; ++index) {
      if (process->regions[index].start < end && process->regions[index].end > start && process->regions[index].start > next)
        next = process->regions[index].start;
    }
    /* The highest region that overlaps; another may reach above it, and is met in a later step. */
    end = next < end ? next : LOWEST_GAP;
  }
}
