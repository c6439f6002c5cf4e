/* ping [ADDRESS [COUNT [BYTES [INTERVAL [WHEN]]]]]: asks for COUNT echoes of BYTES, INTERVAL cycles apart, and prints
   every round trip in cycles of the hart, and, where WHEN is not 0, the cycle in which it began. Without arguments:
   answers echoes for ever. */
#include "arguments.h"
#include "bare.h"
#include "internet.h"

static volatile uint16_t answered;
static uint64_t round_trip, sent;

static void echo_reply(const struct endpoint *from, uint16_t identifier, uint16_t sequence, unsigned length) {
  (void)from, (void)identifier, (void)length;
  if (sequence != (uint16_t)(answered + 1)) return;
  round_trip = read_cycles() - sent;
  answered = sequence;
}

static void wait_until(uint64_t cycle) {
  while (read_cycles() < cycle)
    if (!internet_poll()) nic_wait_until(cycle);
}

int main(void) {
  static const struct handlers handlers = {.echo_reply = echo_reply};
  internet_start(&handlers);
  if (argument_count() == 0) {
    for (;;)
      if (!internet_poll()) nic_wait();
  }
  struct endpoint to = {.address = address_argument(0)};
  const uint64_t count = number_argument(1, 5), bytes = number_argument(2, 56);
  const uint64_t interval = number_argument(3, 20000), when = number_argument(4, 0);
  to.mac = internet_resolve(to.address);
  for (uint64_t sequence = 1; sequence <= count; ++sequence) {
    sent = read_cycles();
    internet_ping(&to, 1, (uint16_t)sequence, (unsigned)bytes);
    while (answered != (uint16_t)sequence)
      if (!internet_poll()) nic_wait();
    print_number(round_trip);
    if (when) {
      print_byte(' ');
      print_number(sent);
    }
    print_byte('\n');
    wait_until(sent + interval);
  }
  return 0;
}
