#define NIC_REGISTERS (DEVICES + 0x10016000)
#include "paging.h"

#include "nic.h"
#include "rackwright/rocc.h"

/* The commands of the page-fault unit; hardware/src/main/scala/rackwright/pagefault/README.md is its contract.
   Only the first of these waits for the unit. */
#define FETCH(entry) RACKWRIGHT_CALL(3, 1, entry, 0)
#define PREFETCH(entry) RACKWRIGHT_COMMAND(3, 2, entry, 0)
#define GIVE_FRAME(place) RACKWRIGHT_COMMAND(3, 3, place, 0)
#define EVICT(place, remote) RACKWRIGHT_COMMAND(3, 4, place, remote)
#define TAKEN(new_pages, returned) RACKWRIGHT_COMMAND(3, 5, new_pages, returned)
#define RINGS(page) RACKWRIGHT_COMMAND(3, 6, page, 0)
#define TICK() RACKWRIGHT_COMMAND(3, 7, 0, 0)
#define OWN_ADDRESS(address) RACKWRIGHT_COMMAND(3, 8, address, 0)
#define BLADE_ADDRESS(address, number) RACKWRIGHT_COMMAND(3, 9, address, number)
enum cause { SERVED, NO_FRAME, NO_ROOM, BUSY, NOT_REMOTE, EXECUTABLE, TIME_OUT, BLADE, ACCESS_FAULT };

enum { QUEUE = 64, RECORDS = 128, TICK_TIME = 100 };

/* What the unit writes. Bit 0 of a record tells whether it is of this turn around the ring. */
struct record {
  volatile uint64_t word;
  uint64_t entry;
};
struct ring {
  struct record records[RECORDS];
};
static struct __attribute__((aligned(PAGE))) {
  struct ring new_pages, returned;
} rings;

static unsigned new_next, back_next, given, evicting;

static const struct record *next_of(const struct ring *ring, unsigned next) {
  const struct record *record = &ring->records[next % RECORDS];
  unsigned phase = ~(next / RECORDS) & 1;
  return (record->word & 1) == phase ? record : NULL;
}

static void give_frame(struct frame *frame) {
  GIVE_FRAME(frame_bytes(frame));
  ++given;
}

/* As many as are above those that software keeps. */
static void give_frames(void) {
  while (given < frames_batch() + 1 && frames_free() > frames_kept()) give_frame(frame_take_free());
}

void unit_start(void) {
  OWN_ADDRESS(nic_read(NIC_MAC_ADDRESS));
  for (unsigned index = 0; index < blade_count; ++index) BLADE_ADDRESS(blade_address[index], index);
  RINGS(&rings);
  give_frames();
}

void unit_store(struct frame *frame) {
  while (evicting == QUEUE) unit_wait();
  EVICT(frame_bytes(frame), frame->remote);
  ++evicting;
}

/* Frames that have come back: whether any has. */
static bool take_back(void) {
  unsigned before = back_next;
  for (const struct record *record; (record = next_of(&rings.returned, back_next)); ++back_next) {
    struct frame *frame = frame_of_bytes(record->word & ~(uint64_t)(PAGE - 1));
    if (!(record->word & 2)) fail("a blade has not stored a page: number", entry_blade(frame->remote));
    if (frame->state == FRAME_LENT) --given;
    else --evicting;
    frame_free(frame);
  }
  if (back_next == before) return false;
  TAKEN(0, back_next - before);
  return true;
}

/* Pages that have come: the same record for each as with software paging, for many at once. */
void unit_adopt(void) {
  if (!next_of(&rings.new_pages, new_next)) return;
  uint64_t begin = cycles();
  unsigned next = new_next;
  for (const struct record *record; (record = next_of(&rings.new_pages, next)); ++next) {
    uint64_t word = record->word;
    frame_adopt(frame_of_bytes(word >> 40 << 12), (uint64_t *)(word << 24 >> 27 << 3), record->entry, true);
  }
  unsigned count = next - new_next;
  TAKEN(count, 0);
  new_next = next;
  given -= count;
  statistics.remote_faults += count;
  statistics.metadata_cycles += cycles() - begin;
}

void unit_serve(void) {
  unit_adopt();
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
    case NO_ROOM:
    case BUSY: return false;
    case TIME_OUT: fail("a blade does not answer: number", entry_blade(*entry));
    case BLADE: fail("a blade has lost its pages: number", entry_blade(*entry));
    default: fail("the unit could not bring a page, of the entry", *entry);
  }
}
