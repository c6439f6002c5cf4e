/* gets ADDRESS [NAME=VALUE]...: asks a memcached over UDP for values at a rate that does not depend on its answers, and
   verifies each answer. Sets some of the keys before; keys have 16 bytes, values 64.

     keys=1024            how many keys; their popularity follows Zipf's law
     zipf=990             its exponent, in thousandths
     first=0 fill=0       which keys this client sets before it begins, and how many
     shards=1             servers of memcached on ports from 11211 on; a hash of the key chooses one
     batch=1              how many keys of one shard a request has, at most 16
     gap=2000             mean cycles of the hart between requests (Poisson)
     start=7000000        when the requests begin, in cycles of the hart
     cycles=100000        for how long they are sent; answers count from a quarter of that time on, until its end
     seed=1               what all randomness follows from

   Prints the gets that were sent and those that were answered in that part of the time, and answers that were wrong. Ends with
   status 1 if one was. */
#include "arguments.h"
#include "bare.h"
#include "internet.h"
#include "memcached.h"
#include "random.h"

enum { MOST_KEYS = 4096, REQUESTS = 512, MOST_BATCH = 16, KEY = 16, VALUE = 64, WINDOW = 4 };
#define VALUE_LINE " 7 64\r\n"
enum { ITEM = 6 + KEY + (sizeof VALUE_LINE - 1) + VALUE + 2 };

static uint64_t keys = 1024, zipf = 990, first, fill, shards = 1, batch = 1, gap = 2000, start = 7000000, cycles = 100000, seed = 1;
static struct endpoint server;

/* What is said of each key. */
static char items[MOST_KEYS][ITEM + 1] __attribute__((section(".noinit")));
static double share[MOST_KEYS] __attribute__((section(".noinit")));

/* The requests, which are sent over and over. */
static uint16_t asked[REQUESTS][MOST_BATCH] __attribute__((section(".noinit")));
static uint32_t gaps[REQUESTS] __attribute__((section(".noinit")));
static uint64_t counted_from, counted_until, answered, wrong, stored, under_way;

static void read_option(const char *option) {
  static const struct number_option numbers[] = {
      {"keys", &keys, 1, MOST_KEYS}, {"zipf", &zipf, 0, 2000},           {"first", &first, 0, MOST_KEYS - 1},
      {"fill", &fill, 0, MOST_KEYS}, {"shards", &shards, 1, 16},         {"batch", &batch, 1, MOST_BATCH},
      {"gap", &gap, 1, 1000000},     {"start", &start, 0, 1ull << 40},   {"cycles", &cycles, 4, 1ull << 32},
      {"seed", &seed, 0, UINT64_MAX},
  };
  read_number_option(numbers, sizeof numbers / sizeof numbers[0], option);
}

static unsigned shard_of(unsigned key) { return (unsigned)((key + 1) * 0x9e3779b97f4a7c15ull >> 32) % shards; }

static void make_item(unsigned key) {
  char *to = put_text(items[key], "VALUE "), *const end = to + KEY;
  to = put_number(to, 1000000 + key);
  memset(to, 'k', (size_t)(end - to));
  to = put_text(end, VALUE_LINE);
  for (unsigned index = 0; index < VALUE; ++index) *to++ = (char)('a' + (key + index) % 26);
  put_text(to, "\r\n");
}

static const char *key_of(unsigned key) { return items[key] + 6; }

/* A number to the power of -`thousandths` / 1000. */
static double power(double number, double thousandths) {
  /* In 64 equal steps, so that few terms of the series of the exponential function are enough. */
  const double part = -logarithm(number) * thousandths / 64000;
  double sum = 1, term = 1;
  for (int index = 1; index < 12; ++index) sum += term *= part / index;
  for (int doubling = 0; doubling < 6; ++doubling) sum *= sum;
  return sum;
}

static unsigned drawn_key(struct random *random) {
  const double point = random_fraction(random) * share[keys - 1];
  unsigned least = 0, most = (unsigned)keys - 1;
  while (least < most) {
    const unsigned middle = (least + most) / 2;
    if (share[middle] < point) least = middle + 1;
    else most = middle;
  }
  return least;
}

/* Draws all requests: keys of one shard each, and what passes before. */
static void prepare(void) {
  struct random random = {seed};
  double sum = 0;
  for (unsigned key = 0; key < keys; ++key) {
    make_item(key);
    share[key] = sum += power(key + 1, (double)zipf);
  }
  for (unsigned request = 0; request < REQUESTS; ++request) {
    gaps[request] = (uint32_t)(-logarithm(random_fraction(&random)) * (double)gap);
    for (unsigned index = 0; index < batch; ++index) {
      do asked[request][index] = (uint16_t)drawn_key(&random);
      while (index && shard_of(asked[request][index]) != shard_of(asked[request][0]));
    }
  }
}

static void send(uint16_t number, unsigned shard, const char *end) {
  uint8_t *datagram = internet_datagram();
  put_memcached_header(datagram, number);
  server.port = (uint16_t)(MEMCACHED_PORT + shard);
  internet_send_datagram(&server, MEMCACHED_PORT, (unsigned)(end - (char *)datagram));
}

static void ask(uint16_t number) {
  const uint16_t *wanted = asked[number % REQUESTS];
  char *end = put_text((char *)internet_datagram() + MEMCACHED_HEADER, "get");
  for (unsigned index = 0; index < batch; ++index) {
    *end++ = ' ';
    end = put_bytes(end, key_of(wanted[index]), KEY);
  }
  send(number, shard_of(wanted[0]), put_text(end, "\r\n"));
}

static void set(unsigned key) {
  char *end = put_text((char *)internet_datagram() + MEMCACHED_HEADER, "set ");
  end = put_bytes(end, key_of(key), KEY);
  end = put_text(end, " 7 0 64\r\n");
  end = put_bytes(end, items[key] + ITEM - VALUE - 2, VALUE + 2);
  send((uint16_t)key, shard_of(key), end);
}

static bool is_right(const uint16_t *wanted, struct text answer) {
  if (answer.length != batch * ITEM + 5 || memcmp(answer.at + batch * ITEM, "END\r\n", 5)) return false;
  for (unsigned index = 0; index < batch; ++index)
    if (memcmp(answer.at + index * ITEM, items[wanted[index]], ITEM)) return false;
  return true;
}

static void datagram(const struct endpoint *from, uint16_t port, const uint8_t *payload, unsigned length) {
  if (port != MEMCACHED_PORT || from->address != server.address || length < MEMCACHED_HEADER) return;
  const struct text answer = {(const char *)payload + MEMCACHED_HEADER, length - MEMCACHED_HEADER};
  if (stored < fill) {
    wrong += !text_is(answer, "STORED\r\n");
    ++stored;
    --under_way;
    return;
  }
  const uint64_t now = read_cycles();
  wrong += !is_right(asked[get16(payload) % REQUESTS], answer);
  if (now >= counted_from && now < counted_until) answered += batch;
}

static void fill_store(void) {
  for (uint64_t key = 0; stored < fill;) {
    if (key < fill && under_way < WINDOW) {
      ++under_way;
      set((unsigned)(first + key++));
    } else if (!internet_poll()) {
      nic_wait();
    }
  }
}

/* Handles what arrives until a cycle. */
static void serve(uint64_t until) {
  while (read_cycles() < until) internet_poll();
}

int main(void) {
  static const struct handlers handlers = {.datagram = datagram};
  internet_start(&handlers);
  server = (struct endpoint){.address = address_argument(0)};
  for (unsigned index = 1; index < argument_count(); ++index) read_option(argument(index));
  server.mac = internet_resolve(server.address);
  prepare();
  fill_store();
  while (read_cycles() < start) nic_wait_until(start);
  counted_from = start + cycles / 4;
  counted_until = start + cycles;
  uint64_t sent = 0, due = start;
  for (uint16_t number = 0; (due += gaps[number % REQUESTS]) < counted_until; ++number) {
    serve(due);
    if (due >= counted_from) sent += batch;
    ask(number);
  }
  serve(counted_until);
  print_named("sent", sent);
  print_named("answered", answered);
  print_named("wrong", wrong);
  return wrong ? 1 : 0;
}
