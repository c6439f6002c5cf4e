#include "bare.h"
#include "paging.h"

/* A frame has the page before it as room for what goes before and behind a page on the network, so that the NIC
   reads and writes pages in place. */
enum { STRIDE = 2 * PAGE, MOST = 17500, USUAL_BATCH = 16, LARGEST_BATCH = 48 };

static struct frame __attribute__((aligned(64))) frames[MOST];
static uint16_t free_list[MOST];
static unsigned count, free_count, leaving, hand, batch, mapped;
static uint64_t order;
static uint8_t *pool;

/* Frames that are spare: neither with a page nor with one that leaves. Fewer than that, and pages leave. Of one less,
   two may be posted to the NIC, or those that a batch needs lent to the unit, and one is left for a first touch. */
static unsigned low(void) { return batch + 2; }
static unsigned spare(void) { return count - mapped - leaving; }

void frames_start(unsigned wanted, unsigned wanted_batch, unsigned wanted_order) {
  if (wanted < 8 || wanted > MOST) fail("local memory has 8 to 17500 pages, not", wanted);
  count = wanted;
  order = wanted_order;
  pool = (uint8_t *)&boot_information - PAGE - (uint64_t)count * STRIDE;
  unsigned fitting = count / 16 < USUAL_BATCH ? count / 16 : USUAL_BATCH;
  batch = wanted_batch ? wanted_batch : fitting ? fitting : 1;
  if (batch > LARGEST_BATCH || 4 * batch + 4 > count) fail("too few pages, or a batch larger than 48:", batch);
  for (unsigned index = count; index > 0; --index) frame_free(&frames[index - 1]);
}

unsigned frames_batch(void) { return batch; }
unsigned frames_free(void) { return free_count; }
const uint8_t *frames_begin(void) { return pool; }

unsigned frame_index(const struct frame *frame) { return (unsigned)(frame - frames); }

uint8_t *frame_bytes(const struct frame *frame) {
  return pool + (uint64_t)frame_index(frame) * STRIDE + (STRIDE - PAGE);
}

struct frame *frame_at(unsigned index) { return index < count ? &frames[index] : NULL; }

struct frame *frame_of_bytes(uint64_t address) { return &frames[(address - (uint64_t)pool) / STRIDE]; }

uint64_t frame_user_address(const struct frame *frame) {
  return (entry_page(frame->remote) & ((1ul << PAGE_NUMBER_BITS) - 1)) * PAGE;
}

void frame_free(struct frame *frame) {
  if ((frame->word & FRAME_STATE) == FRAME_LEAVING) --leaving;
  if (frame_mapped(frame)) --mapped;
  frame->word = 0;
  free_list[free_count++] = (uint16_t)frame_index(frame);
}

struct frame *frame_take_free(void) { return free_count ? &frames[free_list[--free_count]] : NULL; }

struct frame *frame_take(void) {
  for (;;) {
    frames_reclaim();
    struct frame *frame = frame_take_free();
    if (frame) return frame;
    if (by_unit) unit_wait();
    else blade_wait();
  }
}

void frames_recorded(unsigned more) {
  statistics.metadata_pages += more;
  mapped += more;
  if (mapped > statistics.peak_pages) statistics.peak_pages = mapped;
}

void frame_map(struct frame *frame, uint64_t *entry, uint64_t remote, bool stored) {
  frame->word = (uint64_t)entry | (stored ? FRAME_STORED : FRAME_CHANGED);
  frame->remote = remote;
  frames_recorded(1);
  uint64_t place = (uint64_t)frame_bytes(frame) >> 12 << 10;
  *entry = place | (remote & ENTRY_RIGHTS) | ENTRY_VALID | ENTRY_ACCESSED;
  if (remote & ENTRY_EXECUTE) __asm__ volatile("fence.i" : : : "memory");
}

/* The page of a frame goes: to its blade if that has not got it as it is. */
static void evict(struct frame *frame) {
  uint64_t entry = *frame_entry(frame);
  bool changed = (entry & ENTRY_DIRTY) || (frame->word & FRAME_STATE) == FRAME_CHANGED;
  uint64_t remote = (frame->remote & ~ENTRY_RIGHTS) | (entry & ENTRY_RIGHTS);
  if (changed) {
    uint16_t version = (uint16_t)(entry_version(remote) + 1);
    remote = entry_remote(remote, version ? version : 1, entry_page(remote), entry_blade(remote));
  }
  *frame_entry(frame) = remote;
  fence_address(frame_user_address(frame));
  ++statistics.evictions;
  if (!changed) {
    frame_free(frame);
    return;
  }
  frame->remote = remote;
  frame->word = FRAME_LEAVING;
  --mapped;
  ++leaving;
  ++statistics.stores;
  if (by_unit) unit_store(frame);
  else blade_store(frame);
}

/* A place that has nothing to do with the last one. */
static unsigned jump(void) {
  order = order * 6364136223846793005 + 1442695040888963407;
  return (unsigned)((order >> 33) % count);
}

/* The next page that was not used since the hand passed it last. */
static struct frame *victim(void) {
  for (unsigned steps = 0; steps < 2 * count + 1; ++steps) {
    struct frame *frame = &frames[hand];
    hand = hand + 1 == count ? 0 : hand + 1;
    if (!frame_mapped(frame)) continue;
    uint64_t *entry = frame_entry(frame);
    if (!(*entry & ENTRY_ACCESSED)) return frame;
    *entry &= ~(uint64_t)ENTRY_ACCESSED;
    fence_address(frame_user_address(frame));
  }
  return NULL;
}

void frames_reclaim(void) {
  if (spare() >= low()) return;
  uint64_t begin = cycles();
  harts_stop();
  while (spare() + leaving < low() + batch) {
    if (order) hand = jump();
    struct frame *frame = victim();
    if (!frame) break;
    evict(frame);
  }
  harts_go();
  statistics.reclaim_cycles += cycles() - begin;
}
