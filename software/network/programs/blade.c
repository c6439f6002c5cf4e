/* blade [PAGES]: a memory blade with room for PAGES (16000) pages, for ever; ../../remote-memory/PROTOCOL.md is what it
   speaks. A page stays in the buffer in which it came, and leaves from there: none is copied. */
#include "arguments.h"
#include "bare.h"
#include "bytes.h"
#include "page_message.h"

/* A header lies right before its page; the trailer in what the next buffer leaves free before its header. */
enum { MOST_PAGES = 32000, POSTED = NIC_QUEUE, BUFFERS = MOST_PAGES + POSTED, INDEX = 1 << 16 };
enum { BEFORE = 64, STRIDE = BEFORE + PAGE_BYTES };
#define KEPT __attribute__((aligned(64), section(".noinit")))

static struct buffer {
  uint64_t client, page;
  uint32_t sent; /* the drain of the NIC after which the buffer was sent last */
  uint16_t version;
} buffers[BUFFERS] KEPT;
static uint8_t memory[BUFFERS * STRIDE + PAGE_TRAILER] KEPT;
static uint64_t short_messages[NIC_QUEUE][PAGE_SHORT_MESSAGE / 8] KEPT;

/* An open hash table: a buffer's number + 1. Pages are never taken out. */
static uint16_t table[INDEX];
static uint16_t posted[POSTED];
static unsigned next_posted, next_short, free_buffers, pages;
static uint64_t capacity;
static uint32_t drains = 1;

static struct page_header *header_of(unsigned buffer) {
  return (struct page_header *)(memory + (uint64_t)buffer * STRIDE + BEFORE - PAGE_HEADER);
}

static void post(unsigned buffer) {
  nic_write(NIC_RECEIVE_REQUEST, (uint64_t)header_of(buffer) | (uint64_t)PAGE_LONG_MESSAGE << NIC_RECEIVE_REQUEST_CAPACITY_BIT);
  posted[next_posted] = (uint16_t)buffer;
  next_posted = (next_posted + 1) % POSTED;
}

/* Waits until a buffer is no longer being sent. */
static void settle(unsigned buffer) {
  if (buffers[buffer].sent != drains) return;
  nic_drain();
  ++drains;
}

/* Where a page is in the table, or is to be. */
static uint16_t *find(uint64_t client, uint64_t page) {
  uint64_t hash = (client ^ page * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
  for (unsigned at = (unsigned)(hash >> 48);; at = (at + 1) % INDEX) {
    const struct buffer *there = &buffers[table[at] - 1];
    if (!table[at] || (there->client == client && there->page == page)) return &table[at];
  }
}

/* Serial numbers of 16 bits (RFC 1982). */
static bool newer(uint16_t one, uint16_t other) { return (int16_t)(one - other) > 0; }

static void answer(struct page_header *header, unsigned length, const struct page_header *request,
                   enum page_status status, uint16_t version) {
  const uint64_t client = get48(request->source);
  header->operation = request->operation | 0x80;
  header->protocol = request->protocol;
  header->type[0] = request->type[0];
  header->type[1] = request->type[1];
  header->tag = request->tag;
  header->page = request->page;
  header->reserved = 0;
  header->status = (uint8_t)status;
  header->incarnation = 0;
  header->version = version;
  put48(header->destination, client);
  put48(header->source, nic_mac());
  page_sum(header, length);
  nic_send_from(header, length);
}

static void answer_shortly(const struct page_header *request, enum page_status status, uint16_t version) {
  nic_make_room(); /* by then the oldest of these has left */
  uint64_t *words = short_messages[next_short];
  next_short = (next_short + 1) % NIC_QUEUE;
  for (unsigned at = PAGE_HEADER / 8; at < PAGE_SHORT_MESSAGE / 8; ++at) words[at] = 0;
  answer((struct page_header *)words, PAGE_SHORT_MESSAGE, request, status, version);
}

static void fetch(const struct page_header *request) {
  const uint16_t place = *find(get48(request->source), request->page);
  if (!place) {
    answer_shortly(request, PAGE_UNKNOWN, request->version);
    return;
  }
  const unsigned buffer = place - 1u;
  if (newer(request->version, buffers[buffer].version)) {
    answer_shortly(request, PAGE_OLDER, buffers[buffer].version);
    return;
  }
  settle(buffer);
  answer(header_of(buffer), PAGE_LONG_MESSAGE, request, PAGE_DONE, buffers[buffer].version);
  buffers[buffer].sent = drains;
}

/* Keeps the page in the buffer in which it has come; gives the buffer that is free for that, which may be the same. */
static unsigned store(unsigned buffer) {
  const struct page_header *request = header_of(buffer);
  uint16_t *place = find(get48(request->source), request->page);
  const bool full = !*place && pages == capacity;
  answer_shortly(request, full ? PAGE_FULL : PAGE_DONE, request->version);
  if (full || (*place && !newer(request->version, buffers[*place - 1].version))) return buffer;
  unsigned old;
  if (*place) {
    old = *place - 1u;
    settle(old);
  } else {
    ++pages;
    old = free_buffers++;
  }
  buffers[buffer] = (struct buffer){get48(request->source), request->page, 0, request->version};
  *place = (uint16_t)(buffer + 1);
  return old;
}

static bool serve(void) {
  const uint64_t completion = nic_read(NIC_RECEIVE_COMPLETION);
  if (!(completion >> NIC_RECEIVE_COMPLETION_VALID_BIT)) return false;
  const unsigned buffer = posted[next_posted];
  const struct page_header *request = header_of(buffer);
  unsigned unused = buffer;
  if (page_message(completion, request) && get48(request->destination) == nic_mac()) {
    const unsigned length = completion & 0xffff;
    if (request->operation == PAGE_FETCH && length == PAGE_SHORT_MESSAGE) fetch(request);
    if (request->operation == PAGE_STORE && length == PAGE_LONG_MESSAGE) unused = store(buffer);
  }
  post(unused);
  return true;
}

int main(void) {
  capacity = number_argument(0, 16000);
  if (capacity < 1 || capacity > MOST_PAGES) {
    print_text("a blade has room for 1 to 32000 pages\n");
    return 2;
  }
  while (free_buffers < POSTED) post(free_buffers++);
  page_sum_received();
  nic_write(NIC_INTERRUPT_ENABLE, 1 << NIC_INTERRUPT_ENABLE_RECEIVED_BIT);
  __asm__ volatile("csrs mie, %0" : : "r"(1ul << 11)); /* ends waits; no trap is taken */
  for (;;)
    if (!serve()) nic_wait();
}
