#define NIC_REGISTERS (DEVICES + 0x10016000)
#include "paging.h"

#include "bare.h"
#include "nic.h"

/* PROTOCOL.md has the format of messages. */
enum operation { FETCH = 0x01, STORE = 0x02, FETCHED = 0x81, STORED = 0x82 };
enum status { DONE, UNKNOWN, OLDER, FULL };

struct header {
  uint8_t destination[6], source[6];
  uint8_t type[2];
  uint8_t protocol, operation;
  uint32_t tag;
  uint8_t status, incarnation;
  uint16_t version;
  uint64_t page;
  uint64_t reserved;
};

enum {
  HEADER = sizeof(struct header),
  SUMMED = 14,
  REQUEST = 64,
  TRAILER = 8,
  POSTED = 2,
  TICK = 200,
  PATIENCE = 100000, /* cycles until a request is sent again: 50 us at 2 GHz */
  ATTEMPTS = 20,
  MOST_LEAVING = 64,
};
_Static_assert(HEADER == 40, "the header is that of PROTOCOL.md");

static uint8_t __attribute__((aligned(64))) request[REQUEST];
static struct frame *posted[POSTED];
static unsigned post_next, post_take, post_count, in_flight, leaving_count;

/* Pages that leave. */
static struct leaving {
  struct frame *frame;
  uint64_t sent;
  unsigned attempts;
} leaving[MOST_LEAVING];
static uint64_t own_address;
static uint8_t incarnations[16];
static bool known[16];

/* What is fetched. */
static struct {
  uint64_t remote, sent;
  uint32_t tag;
  unsigned attempts;
  struct frame *frame;
} wanted;

static void put_address(uint8_t *bytes, uint64_t address) {
  for (unsigned index = 0; index < 6; ++index) bytes[index] = (uint8_t)(address >> (40 - 8 * index));
}

static void post(struct frame *frame) {
  nic_write(NIC_RECEIVE_REQUEST,
            (uint64_t)(frame_bytes(frame) - HEADER) | (uint64_t)(HEADER + PAGE + TRAILER) << 48);
  posted[post_next] = frame;
  post_next = (post_next + 1) % POSTED;
  ++post_count;
}

static void reap(void) {
  while (in_flight && nic_read(NIC_SEND_COMPLETION) >> 63) --in_flight;
}

static void send(struct header *header, unsigned length, enum operation operation, uint32_t tag, uint64_t remote) {
  put_address(header->destination, blade_address[entry_blade(remote)]);
  put_address(header->source, own_address);
  header->type[0] = 0x88;
  header->type[1] = 0xb5;
  header->protocol = 1;
  header->operation = (uint8_t)operation;
  header->tag = tag;
  header->status = 0;
  header->incarnation = 0;
  header->version = entry_version(remote);
  header->page = entry_page(remote);
  header->reserved = 0;
  *(uint64_t *)((uint8_t *)header + length - TRAILER) = 0;
  if (in_flight == NIC_QUEUE) {
    do reap();
    while (in_flight == NIC_QUEUE);
  }
  __asm__ volatile("fence w, o" : : : "memory");
  nic_write(NIC_SEND_CHECKSUM, 1ull << 63 | SUMMED | (uint64_t)(length - TRAILER) << 16);
  nic_write(NIC_SEND_REQUEST, (uint64_t)header | (uint64_t)length << 48);
  ++in_flight;
}

void blade_start(void) {
  own_address = nic_read(NIC_MAC_ADDRESS);
  nic_write(NIC_RECEIVE_CHECKSUM, 1ull << 63 | SUMMED);
  nic_write(NIC_INTERRUPT_ENABLE, 2);
  while (post_count < POSTED) post(frame_take_free());
}

static void send_store(struct leaving *page) {
  struct frame *frame = page->frame;
  page->sent = cycles();
  send((struct header *)(frame_bytes(frame) - HEADER), HEADER + PAGE + TRAILER, STORE, frame_index(frame),
       frame->remote);
}

void blade_store(struct frame *frame) {
  while (leaving_count == MOST_LEAVING) blade_wait();
  struct leaving *page = &leaving[leaving_count++];
  *page = (struct leaving){frame, 0, 1};
  send_store(page);
}

static void send_fetch(void) {
  wanted.sent = cycles();
  send((struct header *)request, REQUEST, FETCH, wanted.tag, wanted.remote);
}

/* A blade that starts again has lost what it had. */
static void check_incarnation(unsigned blade, uint8_t incarnation) {
  if (known[blade] && incarnations[blade] != incarnation) fail("a blade has lost its pages: number", blade);
  known[blade] = true;
  incarnations[blade] = incarnation;
}

static void stored(const struct header *header) {
  struct frame *frame = frame_at(header->tag);
  if (!frame || (frame->word & FRAME_STATE) != FRAME_LEAVING || entry_page(frame->remote) != header->page ||
      entry_version(frame->remote) != header->version)
    return; /* of an earlier copy of the request */
  check_incarnation(entry_blade(frame->remote), header->incarnation);
  if (header->status != DONE) fail("a blade has no room for one more page: number", entry_blade(frame->remote));
  for (unsigned index = 0; index < leaving_count; ++index) {
    if (leaving[index].frame == frame) {
      leaving[index] = leaving[--leaving_count];
      break;
    }
  }
  frame_free(frame);
}

/* Whether the frame in which the message is now holds the page that is wanted. */
static bool fetched(const struct header *header) {
  if (wanted.frame || header->tag != wanted.tag) return false;
  check_incarnation(entry_blade(wanted.remote), header->incarnation);
  /* Another status: the page's store is still on its way, or was lost; both are asked again in time. */
  return header->status == DONE && header->page == entry_page(wanted.remote);
}

/* Takes what has been received; tells whether that was anything. */
static bool receive(void) {
  uint64_t completion = nic_read(NIC_RECEIVE_COMPLETION);
  if (!(completion >> 63)) return false;
  struct frame *frame = posted[post_take];
  post_take = (post_take + 1) % POSTED;
  --post_count;
  const struct header *header = (const struct header *)(frame_bytes(frame) - HEADER);
  bool whole = (completion >> 32 & 0xffff) == 0xffff && (completion & 0xffff) >= REQUEST;
  bool ours = whole && header->type[0] == 0x88 && header->type[1] == 0xb5 && header->protocol == 1;
  if (ours && header->operation == STORED) stored(header);
  if (ours && header->operation == FETCHED && fetched(header)) {
    wanted.frame = frame;
    return true; /* the frame is not given to the NIC again; frame_take does that below */
  }
  post(frame);
  return true;
}

static void check_time(void) {
  uint64_t now = cycles();
  if (wanted.remote && now - wanted.sent > PATIENCE) {
    if (++wanted.attempts > ATTEMPTS) fail("a blade does not answer: number", entry_blade(wanted.remote));
    ++statistics.retries;
    send_fetch();
  }
  for (unsigned index = 0; index < leaving_count; ++index) {
    struct leaving *page = &leaving[index];
    if (now - page->sent <= PATIENCE) continue;
    if (++page->attempts > ATTEMPTS) fail("a blade does not answer: number", entry_blade(page->frame->remote));
    ++statistics.retries;
    send_store(page);
  }
}

void blade_wait(void) {
  if (!receive()) {
    wait_until_time((cycles() + PATIENCE) / TICK + 1);
    check_time();
  }
}

struct frame *blade_fetch(uint64_t remote) {
  wanted.remote = remote;
  wanted.frame = NULL;
  wanted.attempts = 1;
  ++wanted.tag;
  send_fetch();
  uint64_t begin = cycles();
  frames_reclaim(); /* while the page is on its way */
  while (!wanted.frame) blade_wait();
  statistics.fetch_cycles += cycles() - begin;
  struct frame *frame = wanted.frame;
  wanted.remote = 0;
  post(frame_take());
  return frame;
}
