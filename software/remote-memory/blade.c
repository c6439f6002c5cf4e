#define NIC_REGISTERS (DEVICES + 0x10016000)
#include "paging.h"

#include "bare.h"
#include "bytes.h"
#include "page_message.h"

enum {
  POSTED = 2,
  TICK = 200,
  PATIENCE = 100000, /* cycles until a request is sent again: 50 us at 2 GHz */
  ATTEMPTS = 20,
  MOST_LEAVING = 64,
};

static uint8_t __attribute__((aligned(64))) request[PAGE_SHORT_MESSAGE];
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

static void post(struct frame *frame) {
  nic_write(NIC_RECEIVE_REQUEST,
            (uint64_t)(frame_bytes(frame) - PAGE_HEADER) | (uint64_t)(PAGE_LONG_MESSAGE) << NIC_RECEIVE_REQUEST_CAPACITY_BIT);
  posted[post_next] = frame;
  post_next = (post_next + 1) % POSTED;
  ++post_count;
}

static void reap(void) {
  while (in_flight && nic_read(NIC_SEND_COMPLETION) >> NIC_SEND_COMPLETION_VALID_BIT) --in_flight;
}

static void send(struct page_header *header, unsigned length, enum page_operation operation, uint32_t tag, uint64_t remote) {
  put48(header->destination, blade_address[entry_blade(remote)]);
  put48(header->source, own_address);
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
  if (in_flight == NIC_QUEUE) {
    do reap();
    while (in_flight == NIC_QUEUE);
  }
  page_sum(header, length);
  __asm__ volatile("fence w, o" : : : "memory");
  nic_write(NIC_SEND_REQUEST, (uint64_t)header | (uint64_t)length << NIC_SEND_REQUEST_LENGTH_BIT);
  ++in_flight;
}

void blade_start(void) {
  own_address = nic_read(NIC_MAC_ADDRESS);
  page_sum_received();
  nic_write(NIC_INTERRUPT_ENABLE, 1 << NIC_INTERRUPT_ENABLE_RECEIVED_BIT);
  while (post_count < POSTED) post(frame_take_free());
}

static void send_store(struct leaving *page) {
  struct frame *frame = page->frame;
  page->sent = cycles();
  send((struct page_header *)(frame_bytes(frame) - PAGE_HEADER), PAGE_LONG_MESSAGE, PAGE_STORE, frame_index(frame),
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
  send((struct page_header *)request, PAGE_SHORT_MESSAGE, PAGE_FETCH, wanted.tag, wanted.remote);
}

/* A blade that starts again has lost what it had. */
static void check_incarnation(unsigned blade, uint8_t incarnation) {
  if (known[blade] && incarnations[blade] != incarnation) fail("a blade has lost its pages: number", blade);
  known[blade] = true;
  incarnations[blade] = incarnation;
}

static void stored(const struct page_header *header) {
  struct frame *frame = frame_at(header->tag);
  if (!frame || (frame->word & FRAME_STATE) != FRAME_LEAVING || entry_page(frame->remote) != header->page ||
      entry_version(frame->remote) != header->version)
    return; /* of an earlier copy of the request */
  check_incarnation(entry_blade(frame->remote), header->incarnation);
  if (header->status != PAGE_DONE) fail("a blade has no room for one more page: number", entry_blade(frame->remote));
  for (unsigned index = 0; index < leaving_count; ++index) {
    if (leaving[index].frame == frame) {
      leaving[index] = leaving[--leaving_count];
      break;
    }
  }
  frame_free(frame);
}

/* Whether the frame in which the message is now holds the page that is wanted. */
static bool fetched(const struct page_header *header) {
  if (wanted.frame || header->tag != wanted.tag) return false;
  check_incarnation(entry_blade(wanted.remote), header->incarnation);
  /* Another status: the page's store is still on its way, or was lost; both are asked again in time. */
  return header->status == PAGE_DONE && header->page == entry_page(wanted.remote);
}

/* Takes what has been received; tells whether that was anything. */
static bool receive(void) {
  uint64_t completion = nic_read(NIC_RECEIVE_COMPLETION);
  if (!(completion >> NIC_RECEIVE_COMPLETION_VALID_BIT)) return false;
  struct frame *frame = posted[post_take];
  post_take = (post_take + 1) % POSTED;
  --post_count;
  const struct page_header *header = (const struct page_header *)(frame_bytes(frame) - PAGE_HEADER);
  bool ours = page_message(completion, header);
  if (ours && header->operation == PAGE_STORED) stored(header);
  if (ours && header->operation == PAGE_FETCHED && fetched(header)) {
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
  /* While the page is on its way. */
  frames_reclaim();
  reap();
  while (!wanted.frame) blade_wait();
  statistics.fetch_cycles += cycles() - begin;
  struct frame *frame = wanted.frame;
  wanted.remote = 0;
  post(frame_take());
  return frame;
}
