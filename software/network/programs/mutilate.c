/* mutilate ADDRESS [NAME=VALUE]...: loads a memcached server over UDP, after the program of that name.

   First sets all keys, one after another; then sends requests and verifies every answer; at the end prints counts and
   latencies in cycles of the hart, from when a request was to be sent to its answer.

     requests=1000        how many to measure
     rate=0               requests per second, at random times (Poisson), whatever happens to earlier ones; 0: closed loop
     outstanding=1        closed loop: how many wait for answers at once, at most 256
     keys=100             how many keys; each is requested as often as the others
     key=fixed:30         distribution of the sizes of keys, from 8 to 250 bytes
     value=fixed:200      distribution of the sizes of values, from 8 to 1024 bytes
     sets=33              of 1000 requests, how many are sets
     seed=1               what all randomness follows from
     timeout=1000         microseconds after which a request counts as lost

   Distributions: fixed:N, uniform:N, exponential:MEAN, facebook. Ends with status 1 when an answer was wrong. */
#include "arguments.h"
#include "bare.h"
#include "internet.h"
#include "latencies.h"
#include "memcached.h"
#include "random.h"

enum { CYCLES_PER_MICROSECOND = 2000, HERTZ = 2000000000, KEYS = 4096, SLOTS = 256, FLAGS = 7 };
enum { LEAST_KEY = 8, MOST_KEY = 250, LEAST_VALUE = 8, MOST_VALUE = 1024 };

static uint64_t requests = 1000, rate, outstanding = 1, keys = 100, sets = 33, seed = 1, timeout = 1000;
static struct distribution key_size = {FIXED, 30, 0}, value_size = {FIXED, 200, 0};

static struct endpoint server;
static struct random choices, gaps;
static struct latencies latencies;
static uint64_t sent, lost, wrong, late, waiting, oldest;

/* A request under way, in the slot of its number. */
static struct request {
  uint64_t due; /* when it was to be sent; 0: none */
  uint16_t number, key;
  bool is_set, is_measured;
} slots[SLOTS];

static struct {
  uint8_t key;
  uint16_t value;
} sizes[KEYS];

static void refuse(struct text option) {
  for (unsigned index = 0; index < option.length; ++index) print_byte(option.at[index]);
  print_text(": not an option, or its value is out of range\n");
  exit(2);
}

static void read_option(const char *argument_text) {
  static const struct number_option numbers[] = {
      {"requests", &requests, 0, 1ull << 40}, {"rate", &rate, 0, HERTZ},   {"outstanding", &outstanding, 1, SLOTS},
      {"keys", &keys, 1, KEYS},               {"sets", &sets, 0, 1000},    {"seed", &seed, 0, UINT64_MAX},
      {"timeout", &timeout, 1, 1000000},
  };
  const struct text whole = text_of(argument_text);
  struct text value = whole, name = {whole.at, 0};
  while (name.length < whole.length && whole.at[name.length] != '=') ++name.length;
  if (name.length == whole.length) refuse(whole);
  value.at += name.length + 1;
  value.length -= name.length + 1;
  if (text_is(name, "key") && read_distribution(value, &key_size)) return;
  if (text_is(name, "value") && read_distribution(value, &value_size)) return;
  if (set_number(numbers, sizeof numbers / sizeof numbers[0], name, value)) return;
  refuse(whole);
}

/* Key `number`: its digits, and then as many bytes as its size asks for. */
static char *put_key(char *to, unsigned number) {
  char *const end = to + sizes[number].key;
  to = put_number(to, 1000000 + number);
  memset(to, 'k', (size_t)(end - to));
  return end;
}

/* The value of key `number`: the alphabet over and over, from another letter on. */
static const char *value_of(unsigned number) {
  static char letters[26 + MOST_VALUE];
  if (!letters[0])
    for (unsigned index = 0; index < sizeof letters; ++index) letters[index] = (char)('a' + index % 26);
  return letters + number % 26;
}

static void send(uint64_t due, unsigned key, bool is_set, bool is_measured) {
  const uint16_t number = (uint16_t)sent++;
  struct request *slot = &slots[number % SLOTS];
  if (slot->due) {
    /* So many are under way that its place is needed. */
    lost += slot->is_measured;
    --waiting;
  }
  *slot = (struct request){
      .due = due ? due : 1, .number = number, .key = (uint16_t)key, .is_set = is_set, .is_measured = is_measured};
  ++waiting;
  uint8_t *datagram = internet_datagram();
  put_memcached_header(datagram, number);
  char *end = put_text((char *)datagram + MEMCACHED_HEADER, is_set ? "set " : "get ");
  end = put_key(end, key);
  if (is_set) {
    end = put_text(end, " ");
    end = put_number(end, FLAGS);
    end = put_text(end, " 0 ");
    end = put_number(end, sizes[key].value);
    end = put_text(end, "\r\n");
    end = put_bytes(end, value_of(key), sizes[key].value);
  }
  end = put_text(end, "\r\n");
  internet_send_datagram(&server, MEMCACHED_PORT, (unsigned)(end - (char *)datagram));
}

static bool is_value(struct text answer, unsigned key) {
  char expected[MOST_KEY + 40];
  char *end = put_text(expected, "VALUE ");
  end = put_key(end, key);
  end = put_text(end, " ");
  end = put_number(end, FLAGS);
  end = put_text(end, " ");
  end = put_number(end, sizes[key].value);
  end = put_text(end, "\r\n");
  const unsigned head = (unsigned)(end - expected), length = sizes[key].value;
  if (answer.length != head + length + 7 || memcmp(answer.at, expected, head)) return false;
  return memcmp(answer.at + head, value_of(key), length) == 0 && memcmp(answer.at + head + length, "\r\nEND\r\n", 7) == 0;
}

static void datagram(const struct endpoint *from, uint16_t port, const uint8_t *payload, unsigned length) {
  if (port != MEMCACHED_PORT || from->address != server.address || length < MEMCACHED_HEADER) return;
  const uint16_t number = get16(payload);
  struct request *slot = &slots[number % SLOTS];
  if (!slot->due || slot->number != number) {
    ++late;
    return;
  }
  const uint64_t now = read_cycles();
  const struct text answer = {(const char *)payload + MEMCACHED_HEADER, length - MEMCACHED_HEADER};
  wrong += !(slot->is_set ? text_is(answer, "STORED\r\n") : is_value(answer, slot->key));
  if (slot->is_measured) latencies_add(&latencies, now - slot->due);
  slot->due = 0;
  --waiting;
}

/* Gives up requests that have waited for too long; those of lower numbers are older. */
static void give_up(uint64_t now) {
  for (; oldest < sent; ++oldest) {
    struct request *slot = &slots[oldest % SLOTS];
    if (!slot->due || slot->number != (uint16_t)oldest) continue;
    if (now < slot->due + timeout * CYCLES_PER_MICROSECOND) return;
    lost += slot->is_measured;
    slot->due = 0;
    --waiting;
  }
}

/* Handles what arrives; waits for more until the cycle `until`, or until a request has to be given up, at the latest. */
static void serve(uint64_t until) {
  bool any = false;
  while (internet_poll()) any = true;
  const uint64_t now = read_cycles(), longest = now + timeout * CYCLES_PER_MICROSECOND;
  give_up(now);
  if (!any && now < until) nic_wait_until(until < longest ? until : longest);
}

/* The same, until no more than `most` requests wait. */
static void settle(uint64_t most) {
  while (waiting > most) serve(UINT64_MAX);
}

static void fill(void) {
  struct random drawn = {seed};
  for (unsigned key = 0; key < keys; ++key) {
    sizes[key].key = (uint8_t)draw(&key_size, &drawn, LEAST_KEY, MOST_KEY);
    sizes[key].value = (uint16_t)draw(&value_size, &drawn, LEAST_VALUE, MOST_VALUE);
    send(read_cycles(), key, true, false);
    settle(0);
  }
}

static void load(void) {
  const double gap = rate ? (double)HERTZ / (double)rate : 0;
  double due = (double)read_cycles();
  for (uint64_t number = 0; number < requests; ++number) {
    if (rate) {
      due += -logarithm(random_fraction(&gaps)) * gap;
      while (read_cycles() < (uint64_t)due) serve((uint64_t)due);
    } else {
      settle(outstanding - 1);
    }
    const uint64_t bits = random_bits(&choices);
    send(rate ? (uint64_t)due : read_cycles(), (unsigned)((bits >> 32) % keys), (bits & 0xffffffff) % 1000 < sets, true);
  }
  settle(0);
}

int main(void) {
  static const struct handlers handlers = {.datagram = datagram};
  internet_start(&handlers);
  server = (struct endpoint){.address = address_argument(0), .port = MEMCACHED_PORT};
  for (unsigned index = 1; index < argument_count(); ++index) read_option(argument(index));
  choices.state = seed + 1;
  gaps.state = seed + 2;
  server.mac = internet_resolve(server.address);
  fill();
  const uint64_t began = read_cycles();
  load();
  print_named("cycles", read_cycles() - began);
  print_named("answered", latencies.count);
  print_named("lost", lost);
  print_named("late", late);
  print_named("wrong", wrong);
  print_named("mean", latencies.count ? latencies.sum / latencies.count : 0);
  print_named("p50", latencies_percentile(&latencies, 500));
  print_named("p90", latencies_percentile(&latencies, 900));
  print_named("p95", latencies_percentile(&latencies, 950));
  print_named("p99", latencies_percentile(&latencies, 990));
  print_named("p99.9", latencies_percentile(&latencies, 999));
  print_named("longest", latencies.longest);
  return wrong ? 1 : 0;
}
