/* echo: answers UDP datagrams to port 7 with what is in them (RFC 862), for ever.
   echo ADDRESS [COUNT [BYTES]]: sends COUNT (10) datagrams of 0 to BYTES (1400) bytes there, one after another, and verifies
   what comes back. Prints how many did; ends with status 1 when one was changed. */
#include "arguments.h"
#include "bare.h"
#include "internet.h"
#include "random.h"

enum { ECHO_PORT = 7, OWN_PORT = 1007, MOST_BYTES = 9000, WAIT_CYCLES = 2000000 };

static unsigned expected, answered, changed;
static uint64_t seed;

static void fill(uint8_t *bytes, unsigned length) {
  struct random random = {seed};
  for (unsigned index = 0; index < length; ++index) bytes[index] = (uint8_t)random_bits(&random);
}

static void datagram(const struct endpoint *from, uint16_t port, const uint8_t *payload, unsigned length) {
  if (port == ECHO_PORT) {
    uint8_t *answer = internet_datagram();
    for (unsigned index = 0; index < length; ++index) answer[index] = payload[index];
    internet_send_datagram(from, ECHO_PORT, length);
  } else if (port == OWN_PORT) {
    static uint8_t sent[MOST_BYTES];
    fill(sent, expected);
    bool same = length == expected;
    for (unsigned index = 0; same && index < length; ++index) same = payload[index] == sent[index];
    ++answered;
    changed += !same;
  }
}

int main(void) {
  static const struct handlers handlers = {.datagram = datagram};
  internet_start(&handlers);
  if (argument_count() == 0) {
    for (;;)
      if (!internet_poll()) nic_wait();
  }
  struct endpoint to = {.address = address_argument(0), .port = ECHO_PORT};
  const uint64_t count = number_argument(1, 10), most = number_argument(2, 1400);
  if (most > MOST_BYTES) {
    print_text("datagrams have at most 9000 bytes\n");
    return 2;
  }
  to.mac = internet_resolve(to.address);
  for (uint64_t number = 0; number < count; ++number) {
    seed = number;
    expected = count > 1 ? (unsigned)(most * number / (count - 1)) : (unsigned)most;
    fill(internet_datagram(), expected);
    const unsigned before = answered;
    const uint64_t until = read_cycles() + WAIT_CYCLES;
    internet_send_datagram(&to, OWN_PORT, expected);
    while (answered == before && read_cycles() < until)
      if (!internet_poll()) nic_wait_until(until);
  }
  print_number(answered);
  print_byte('\n');
  return changed ? 1 : 0;
}
