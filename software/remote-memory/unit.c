#define NIC_REGISTERS (DEVICES + 0x10016000)
#include "paging.h"

#include "nic.h"
#include "page_fault_commands.h"
#include "rackwright/rocc.h"

/* The commands of the page-fault unit; hardware/src/main/scala/rackwright/pagefault/README.md is its contract.
   Only FETCH and NEW_PAGES wait for the unit. */
#define FETCH(entry) RACKWRIGHT_CALL(PAGE_FAULT_CUSTOM, PAGE_FAULT_FETCH, entry, 0)
#define PREFETCH(entry) RACKWRIGHT_COMMAND(PAGE_FAULT_CUSTOM, PAGE_FAULT_FETCH, entry, 0)
#define FETCHING() RACKWRIGHT_CALL(PAGE_FAULT_CUSTOM, PAGE_FAULT_FETCHING, 0, 0)
#define GIVE_FRAME(place, record) RACKWRIGHT_COMMAND(PAGE_FAULT_CUSTOM, PAGE_FAULT_GIVE_FRAME, place, record)
#define EVICT(place, remote) RACKWRIGHT_COMMAND(PAGE_FAULT_CUSTOM, PAGE_FAULT_EVICT, place, remote)
#define TAKEN(returned) RACKWRIGHT_COMMAND(PAGE_FAULT_CUSTOM, PAGE_FAULT_TAKEN, returned, 0)
#define NEW_PAGES() RACKWRIGHT_CALL(PAGE_FAULT_CUSTOM, PAGE_FAULT_TAKEN, 0, 0)
#define RING(page) RACKWRIGHT_COMMAND(PAGE_FAULT_CUSTOM, PAGE_FAULT_RING, page, 0)
#define TICK() RACKWRIGHT_COMMAND(PAGE_FAULT_CUSTOM, PAGE_FAULT_TICK, 0, 0)
#define OWN_ADDRESS(address) RACKWRIGHT_COMMAND(PAGE_FAULT_CUSTOM, PAGE_FAULT_OWN_ADDRESS, address, 0)
#define BLADE_ADDRESS(address, number) RACKWRIGHT_COMMAND(PAGE_FAULT_CUSTOM, PAGE_FAULT_BLADE_ADDRESS, address, number)
enum cause { SERVED, NO_FRAME, BUSY, NOT_REMOTE, EXECUTABLE, TIME_OUT, BLADE, ACCESS_FAULT };

enum { QUEUE = 64, RETURNED = PAGE / 16, TICK_TIME = 100 };

/* Frames that have come back. Bit 0 tells whether an entry is of this turn around the ring, bit 1 whether the page was
   stored. */
static struct __attribute__((aligned(PAGE))) {
  struct {
    volatile uint64_t word, unused;
  } entries[RETURNED];
} ring;

static unsigned next, given, evicting;
static uint32_t new_pages;

static void give_frame(struct frame *frame) {
  GIVE_FRAME(frame_bytes(frame), frame);
  ++given;
}

/* All but those for what can't wait until others come back: a first touch, and a page that the unit has refused. */
static void give_frames(void) {
  while (given < frames_batch() + 1 && frames_free() > FRAMES_KEPT) give_frame(frame_take_free());
}

void unit_start(void) {
  OWN_ADDRESS(nic_read(NIC_MAC_ADDRESS));
  for (unsigned index = 0; index < blade_count; ++index) BLADE_ADDRESS(blade_address[index], index);
  RING(&ring);
  give_frames();
}

void unit_store(struct frame *frame) {
  while (evicting == QUEUE) unit_wait();
  EVICT(frame_bytes(frame), frame->remote);
  ++evicting;
}

/* The next frame that has come back, in the unit's form; 0: none. */
static uint64_t returned(void) {
  uint64_t word = ring.entries[next % RETURNED].word;
  unsigned phase = ~(next / RETURNED) & 1;
  return (word & 1) == phase ? word : 0;
}

/* Frames that have come back: whether any has. */
static bool take_back(void) {
  unsigned before = next;
  for (uint64_t word; (word = returned()); ++next) {
    struct frame *frame = frame_of_bytes(word & ~(uint64_t)(PAGE - 1));
    if (!(word & 2)) fail("a blade has not stored a page: number", entry_blade(frame->remote));
    if ((frame->word & FRAME_STATE) == FRAME_LEAVING) --evicting;
    else --given;
    frame_free(frame);
  }
  if (next == before) return false;
  TAKEN(next - before);
  return true;
}

/* Pages that have come: the unit has written their records into their frames. */
static void count_new(void) {
  uint64_t begin = cycles();
  uint32_t now = (uint32_t)NEW_PAGES();
  unsigned more = now - new_pages;
  new_pages = now;
  given -= more;
  statistics.remote_faults += more;
  frames_recorded(more);
  statistics.metadata_cycles += cycles() - begin;
}

void unit_serve(void) {
  count_new();
  take_back();
  frames_reclaim();
  give_frames();
}

void unit_wait(void) {
  if (take_back()) return;
  /* Units have no clock of their own; who waits tells them the time. */
  wait_until_time(cycles() / 200 + TICK_TIME);
  TICK();
}

void unit_settle(void) {
  for (uint64_t begin = cycles(); FETCHING();) {
    if (cycles() - begin < 200 * TICK_TIME) continue;
    TICK();
    begin = cycles();
  }
}

void unit_begin(uint64_t *entry) {
  struct frame *frame = frame_take_free();
  if (!frame) return;
  give_frame(frame);
  PREFETCH(entry);
}

bool unit_fetch(uint64_t *entry) {
  switch (FETCH(entry)) {
    case SERVED: return true;
    case NO_FRAME:
    case BUSY: return false;
    case NOT_REMOTE:
      /* Another hart's walk has brought it meanwhile. */
      if (*entry & ENTRY_VALID) return true;
      fail("the unit finds no page in the entry", *entry);
    case TIME_OUT: fail("a blade does not answer: number", entry_blade(*entry));
    case BLADE: fail("a blade has lost its pages: number", entry_blade(*entry));
    default: fail("the unit could not bring a page, of the entry", *entry);
  }
}
