#define NIC_REGISTERS (DEVICES + 0x10016000)
#include "paging.h"

#include "nic.h"
#include "rackwright/rocc.h"

/* The commands of the page-fault unit; hardware/src/main/scala/rackwright/pagefault/README.md is its contract. */
#define FETCH(entry) RACKWRIGHT_CALL(3, 1, entry, 0)
#define GIVE_FRAME(place) RACKWRIGHT_CALL(3, 3, place, 0)
#define TAKE_NEW() RACKWRIGHT_CALL(3, 4, 0, 0)
#define NEW_ENTRY() RACKWRIGHT_CALL(3, 5, 0, 0)
#define EVICT(place, remote) RACKWRIGHT_CALL(3, 6, place, remote)
#define TAKE_FRAME() RACKWRIGHT_CALL(3, 7, 0, 0)
#define TICK() RACKWRIGHT_CALL(3, 8, 0, 0)
#define OWN_ADDRESS(address) RACKWRIGHT_CALL(3, 9, address, 0)
#define BLADE_ADDRESS(address, number) RACKWRIGHT_CALL(3, 10, address, number)
enum cause { SERVED, NO_FRAME, NO_ROOM, BUSY, NOT_REMOTE, EXECUTABLE, TIME_OUT, BLADE, ACCESS_FAULT };

/* Frames that the unit has at most: the entries of its queue, and no more than a quarter of the local memory. */
enum { MOST_GIVEN = 64, TICK_TIME = 100 };

static unsigned given, most_given;

static void give_frames(void) {
  while (given < most_given) {
    struct frame *frame = frame_take_free();
    if (!frame) return;
    if (!GIVE_FRAME(frame_bytes(frame))) {
      frame_free(frame);
      return;
    }
    ++given;
  }
}

void unit_start(unsigned local) {
  OWN_ADDRESS(nic_read(NIC_MAC_ADDRESS));
  for (unsigned index = 0; index < blade_count; ++index) BLADE_ADDRESS(blade_address[index], index);
  most_given = local / 8 < MOST_GIVEN ? local / 8 : MOST_GIVEN;
  give_frames();
}

bool unit_store(struct frame *frame) { return EVICT(frame_bytes(frame), frame->remote); }

/* The unit answers with the frame, and whether its page is stored. */
static bool take_back(void) {
  uint64_t answer = TAKE_FRAME();
  if (!answer) return false;
  struct frame *frame = frame_of_bytes(answer & ~(uint64_t)(PAGE - 1));
  if (!(answer & 2)) fail("a blade has not stored a page: number", entry_blade(frame->remote));
  if (frame->state == FRAME_LENT) --given;
  frame_free(frame);
  return true;
}

/* Pages that have come: the same record for each as with software paging, for many at once. */
static void adopt_new(void) {
  uint64_t begin = cycles();
  unsigned before = given;
  for (;;) {
    uint64_t place = TAKE_NEW();
    if (!place) break;
    uint64_t *entry = (uint64_t *)(place & ~7ul);
    uint64_t remote = NEW_ENTRY();
    --given;
    ++statistics.remote_faults;
    frame_adopt(frame_of_bytes(*entry >> 10 << 12), entry, remote, true);
  }
  if (given != before) statistics.metadata_cycles += cycles() - begin;
}

void unit_serve(void) {
  adopt_new();
  while (take_back()) {
  }
  frames_reclaim();
  give_frames();
}

void unit_wait(void) {
  if (take_back()) return;
  /* Units have no clock of their own; who waits tells them the time. */
  wait_until_time(cycles() / 200 + TICK_TIME);
  TICK();
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
