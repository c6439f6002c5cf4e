#include "paging.h"

enum { INSTRUCTION = 2, BREAKPOINT = 3, CALL = 8, FETCH_FAULT = 12, LOAD_FAULT = 13, STORE_FAULT = 15 };
/* Linux's signals. */
enum { ILLEGAL = 4, TRAP = 5, BUS = 7, SEGMENTATION = 11 };

struct statistics statistics;

/* A page as it is at first: zeros, and what the program's file has there. */
static void first_contents(uint64_t *bytes, const struct region *region, uint64_t page) {
  for (unsigned index = 0; index < PAGE / 8; index += 4) {
    bytes[index] = 0;
    bytes[index + 1] = 0;
    bytes[index + 2] = 0;
    bytes[index + 3] = 0;
  }
  if (!region->file) return;
  uint64_t begin = page > region->file_start ? page : region->file_start;
  uint64_t end = region->file_start + region->file_bytes;
  if (end > page + PAGE) end = page + PAGE;
  if (begin < end)
    copy_bytes((uint8_t *)bytes + (begin - page), region->file + (begin - region->file_start), end - begin);
}

static bool allowed(const struct region *region, uint64_t cause) {
  uint64_t needed = cause == FETCH_FAULT ? ENTRY_EXECUTE : cause == LOAD_FAULT ? ENTRY_READ : ENTRY_WRITE;
  return region && (region->rights & needed);
}

static struct frame *frame_for_new(void) {
  if (by_unit && frames_free() < FRAMES_KEPT) unit_serve();
  ++statistics.first_touches;
  return frame_take();
}

static void map_new(struct frame *frame, uint64_t *entry, uint64_t address, uint64_t rights) {
  uint64_t number = process_page(address);
  uint64_t remote = entry_remote(rights, entry_version(*entry), number, (unsigned)(number % blade_count));
  frame_map(frame, entry, remote, false);
}

static void first_touch(uint64_t *entry, const struct region *region, uint64_t address) {
  struct frame *frame = frame_for_new();
  first_contents((uint64_t *)frame_bytes(frame), region, address & ~(uint64_t)(PAGE - 1));
  map_new(frame, entry, address, region->rights);
}

void page_fill(uint64_t *entry, uint64_t address, uint64_t rights, const uint8_t *contents) {
  struct frame *frame = frame_for_new();
  copy_bytes(frame_bytes(frame), contents, PAGE);
  map_new(frame, entry, address, rights);
}

static void remote_by_software(uint64_t *entry) {
  uint64_t remote = *entry;
  struct frame *frame = blade_fetch(remote);
  uint64_t begin = cycles();
  frame_map(frame, entry, remote, true);
  statistics.metadata_cycles += cycles() - begin;
}

/* The unit has refused: for lack of frames, for an error, which it tells again here, or because the page is one of
   instructions, for which the hart's fence is needed. The work that has gathered is done while the page comes. */
static void remote_by_unit(uint64_t *entry) {
  unit_begin(entry);
  unit_serve();
  while (!unit_fetch(entry)) unit_serve();
  if (*entry & ENTRY_EXECUTE) __asm__ volatile("fence.i" : : : "memory");
}

static void remote_fault(uint64_t *entry) {
  uint64_t begin = cycles();
  if (by_unit) {
    remote_by_unit(entry);
  } else {
    ++statistics.remote_faults;
    remote_by_software(entry);
  }
  statistics.fault_cycles += cycles() - begin;
}

const uint8_t *page_contents(uint64_t *entry) {
  if (!(*entry & ENTRY_VALID)) remote_fault(entry);
  return (const uint8_t *)(*entry >> 10 << 12);
}

/* The program has done what Linux ends it for, by a signal. */
static void end_by(int signal, const char *why) {
  if (process->number == FIRST_PROCESS) print(why);
  process_end(process, signal);
  thread_leave();
}

static void page_fault(struct registers *registers, uint64_t cause, uint64_t address) {
  const struct region *region = region_of(address);
  if (!allowed(region, cause)) {
    if (registers->status >> 8 & 1) fail("the program may not use that address, which it has for a call:", address);
    end_by(SEGMENTATION, "\nremote memory: the program may not use that address\n");
  }
  uint64_t *entry = tables_entry(address, true);
  if (*entry & ENTRY_VALID) {
    /* The rights have come since: a translation from before is left. */
    fence_address(address);
    return;
  }
  if (entry_is(*entry, ENTRY_REMOTE)) {
    remote_fault(entry);
    return;
  }
  first_touch(entry, region, address);
}

static void handle(struct registers *registers, uint64_t cause, uint64_t value) {
  switch (cause) {
    case CALL: {
      registers->pc += 4;
      uint64_t begin = cycles();
      linux_call(registers);
      statistics.call_cycles += cycles() - begin;
      return;
    }
    case FETCH_FAULT:
    case LOAD_FAULT:
    case STORE_FAULT: page_fault(registers, cause, value); return;
    default:
      if (registers->status >> 8 & 1) fail("a trap of its own, at", registers->pc);
      end_by(cause == INSTRUCTION ? ILLEGAL : cause == BREAKPOINT ? TRAP : BUS, "\nremote memory: the program has ended by a trap\n");
  }
}

void trap(struct registers *registers, uint64_t cause, uint64_t value) {
  if (registers->status >> 8 & 1) {
    handle(registers, cause, value);
    return;
  }
  kernel_enter();
  thread_entered();
  handle(registers, cause, value);
  thread_slice();
  kernel_leave();
}
