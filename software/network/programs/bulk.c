/* bulk ADDRESS FRAMES BYTES [FLITS PERIOD [START [GAP]]]: sends FRAMES numbered frames of BYTES (64 to 9600) to a sink as
   fast as the NIC takes them, or FLITS of 8 bytes per PERIOD cycles of the NIC, from cycle START of the hart on. Prints
   the cycles of the hart from the first request to the last frame's end.
   bulk FRAMES [EVERY]: a sink. Receives FRAMES frames, verifies all numbers and every byte of each EVERY-th frame (1), and
   prints bytes and cycles from the first frame to the last. Ends with status 1 when one was lost or damaged. */
#include "arguments.h"
#include "bare.h"
#include "bytes.h"
#include "internet.h"

enum { TYPE = 0x88b5, NUMBER = ETHERNET_BYTES, HEADER = NUMBER + 8, COPIES = 16 };

static uint8_t memory[COPIES][9664] __attribute__((aligned(64), section(".noinit")));
static uint64_t received, received_bytes, first_cycle, expected, wrong, every = 1;

/* Where frame `number` lies: as received ones do, so that words of them can be compared. */
static uint8_t *frame_of(uint64_t number) { return memory[number % COPIES] + 2; }

/* Fills what is behind the header, which is a whole number of words from the start of memory, with other words in every
   place and every copy. */
static void fill(unsigned copy, unsigned length) {
  uint64_t *words = (uint64_t *)(frame_of(copy) + HEADER);
  for (unsigned index = 0; HEADER + 8 * index < length; ++index)
    words[index] = 0x9e3779b97f4a7c15ull * (copy * 2048 + index + 1);
}

static void verify(const struct received *frame) {
  static unsigned filled[COPIES];
  if (received++ == 0) first_cycle = read_cycles();
  received_bytes += frame->length;
  if (get16(frame->bytes + 12) != TYPE || frame->length < HEADER) {
    ++wrong;
    return;
  }
  const uint64_t number = get48(frame->bytes + NUMBER + 2);
  wrong += number != expected;
  expected = number + 1;
  if (number % every) return;
  const unsigned copy = number % COPIES;
  if (filled[copy] < frame->length) fill(copy, filled[copy] = frame->length);
  wrong += memcmp(frame->bytes + HEADER, frame_of(copy) + HEADER, frame->length - HEADER) != 0;
}

static int sink(uint64_t count) {
  while (received < count)
    if (!internet_poll()) nic_wait();
  print_number(received_bytes);
  print_byte(' ');
  print_number(read_cycles() - first_cycle);
  print_byte('\n');
  return wrong || unused.damaged ? 1 : 0;
}

static int source(uint32_t address, uint64_t count, unsigned bytes) {
  const uint64_t to = internet_resolve(address), own = nic_mac();
  for (unsigned copy = 0; copy < COPIES; ++copy) {
    put48(frame_of(copy), to);
    put48(frame_of(copy) + 6, own);
    put16(frame_of(copy) + 12, TYPE);
    put16(frame_of(copy) + NUMBER, 0);
    fill(copy, bytes);
  }
  const uint64_t start = number_argument(5, 0);
  while (read_cycles() < start) nic_wait_until(start);
  const uint64_t began = read_cycles();
  for (uint64_t number = 0; number < count; ++number) {
    /* Frames that are still to be read must keep their numbers. */
    nic_make_room();
    put48(frame_of(number) + NUMBER + 2, number);
    nic_send_from(frame_of(number), bytes);
  }
  nic_drain();
  print_number(read_cycles() - began);
  print_byte('\n');
  return 0;
}

int main(void) {
  static const struct handlers handlers = {.other = verify};
  internet_start(&handlers);
  if (argument_count() <= 2) {
    every = number_argument(1, 1);
    return sink(number_argument(0, 0));
  }
  const uint64_t bytes = number_argument(2, 1500);
  if (bytes < 64 || bytes > NIC_LARGEST_FRAME) {
    print_text("frames have 64 to 9600 bytes\n");
    return 2;
  }
  if (number_argument(3, 0)) nic_limit((uint16_t)number_argument(3, 0), (uint16_t)number_argument(4, 1));
  return source(address_argument(0), number_argument(1, 1), (unsigned)bytes);
}
