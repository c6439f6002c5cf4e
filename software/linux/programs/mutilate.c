/* mutilate ADDRESS [NAME=VALUE]...: loads a memcached server over TCP from a process of Linux.

   Connects, sets all keys, then sends requests as an open loop at random times (Poisson), each on a connection drawn at
   random, and verifies every answer; at the end prints counts and a histogram of latencies in microseconds, from when a
   request was to be sent to its answer.

     begin=0          milliseconds from the start of the program until requests begin; when setting the keys takes longer, later
     warmup=0         milliseconds of requests that are not measured
     measured=100     milliseconds of requests that are
     rate=1000        requests per second, all connections together
     connections=4    how many, at most 64
     keys=100         how many keys, at most 4096, of 30 bytes; no other seed has the same
     value=fixed:200  distribution of the sizes of values, from 8 to 1024 bytes: fixed:N, uniform:N, exponential:MEAN, facebook
     sets=33          of 1000 requests, how many are sets
     seed=1           what all randomness follows from

   Ends with status 1 when an answer was wrong or did not come. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "random.h"
#include "text.h"

enum { PORT = 11211, FLAGS = 7, KEY = 30, KEYS = 4096, CONNECTIONS = 64, WAITING = 1024 };
enum { LEAST_VALUE = 8, MOST_VALUE = 1024, MESSAGE = MOST_VALUE + 2 * KEY + 64, LONGEST_US = 1 << 20 };

static const uint64_t MILLISECOND = 1000000, SECOND = 1000000000, PATIENCE = SECOND;

static uint64_t begin, warmup, measured = 100, rate = 1000, connection_count = 4, keys = 100, sets = 33, seed = 1;
static struct distribution value_size = {FIXED, 200, 0};
static uint16_t sizes[KEYS];

/* A request whose answer has not come. */
struct request {
  uint64_t due;
  unsigned key;
  bool is_set;
};

static struct connection {
  int socket;
  /* In the order of their answers. */
  struct request waiting[WAITING];
  unsigned first, count;
  char answer[MESSAGE];
  unsigned length;
} connections[CONNECTIONS];

static int events;
static uint64_t waiting, answered, in_time;
/* Of requests to be sent from the one time to the other, those that took so many microseconds. */
static uint64_t measure_from, measure_until, histogram[LONGEST_US + 1];

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "mutilate: %s\n", what);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static struct timespec span(uint64_t nanoseconds) {
  return (struct timespec){(time_t)(nanoseconds / SECOND), (long)(nanoseconds % SECOND)};
}

static void pause_for(uint64_t nanoseconds) {
  const struct timespec time = span(nanoseconds);
  nanosleep(&time, NULL);
}

static void read_option(const char *option) {
  static const struct number_option numbers[] = {
      {"begin", &begin, 0, 1000000},
      {"warmup", &warmup, 0, 1000000},
      {"measured", &measured, 1, 1000000},
      {"rate", &rate, 1, 100000000},
      {"connections", &connection_count, 1, CONNECTIONS},
      {"keys", &keys, 1, KEYS},
      {"sets", &sets, 0, 1000},
      {"seed", &seed, 0, 999999},
  };
  const char *const equals = strchr(option, '=');
  if (equals) {
    const struct text name = {option, (unsigned)(equals - option)}, value = text_of(equals + 1);
    if (text_is(name, "value") && read_distribution(value, &value_size)) return;
    if (set_number(numbers, sizeof numbers / sizeof numbers[0], name, value)) return;
  }
  fprintf(stderr, "mutilate: %s: not an option, or its value is out of range\n", option);
  exit(2);
}

static char *put_key(char *to, unsigned key) {
  return to + sprintf(to, "%06u-%0*u", (unsigned)seed, KEY - 7, key);
}

/* The value of a key: the alphabet over and over, from another letter on. */
static char *put_value(char *to, unsigned key) {
  for (unsigned index = 0; index < sizes[key]; ++index) *to++ = (char)('a' + (key + index) % 26);
  return to;
}

static unsigned put_request(char *to, const struct request *request) {
  char *end = put_key(put_text(to, request->is_set ? "set " : "get "), request->key);
  if (request->is_set) {
    end += sprintf(end, " %d 0 %u\r\n", FLAGS, sizes[request->key]);
    end = put_value(end, request->key);
  }
  return (unsigned)(put_text(end, "\r\n") - to);
}

static unsigned put_answer(char *to, const struct request *request) {
  if (request->is_set) return (unsigned)(put_text(to, "STORED\r\n") - to);
  char *end = put_key(put_text(to, "VALUE "), request->key);
  end += sprintf(end, " %d %u\r\n", FLAGS, sizes[request->key]);
  return (unsigned)(put_text(put_value(end, request->key), "\r\nEND\r\n") - to);
}

/* A server that is starting refuses connections. */
static void open_connection(struct connection *connection, in_addr_t address) {
  const struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = address};
  const uint64_t until = now() + PATIENCE;
  const int one = 1;
  for (;;) {
    connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection->socket, (const struct sockaddr *)&server, sizeof server) == 0) break;
    if (now() > until) fail(strerror(errno));
    close(connection->socket);
    pause_for(MILLISECOND);
  }
  setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(events, EPOLL_CTL_ADD, connection->socket, &event)) fail(strerror(errno));
}

static void send_request(struct connection *connection, uint64_t due, unsigned key, bool is_set) {
  if (connection->count == WAITING) fail("the server is overloaded");
  struct request *const request = &connection->waiting[(connection->first + connection->count++) % WAITING];
  *request = (struct request){due, key, is_set};
  char message[MESSAGE];
  const unsigned length = put_request(message, request);
  if (send(connection->socket, message, length, MSG_NOSIGNAL) != (ssize_t)length) fail("the server has gone");
  ++waiting;
}

/* Takes the first of the answers that have come; tells whether there was one. */
static bool take_answer(struct connection *connection, uint64_t at) {
  if (connection->count == 0) fail("an answer that nobody waits for");
  const struct request *const request = &connection->waiting[connection->first];
  char expected[MESSAGE];
  const unsigned length = put_answer(expected, request);
  if (connection->length < length) return false;
  if (memcmp(connection->answer, expected, length)) fail("a wrong answer");
  connection->length -= length;
  memmove(connection->answer, connection->answer + length, connection->length);
  connection->first = (connection->first + 1) % WAITING;
  --connection->count;
  --waiting;
  in_time += at >= measure_from && at < measure_until;
  if (request->due >= measure_from && request->due < measure_until) {
    const uint64_t us = (at - request->due) / 1000;
    ++histogram[us < LONGEST_US ? us : LONGEST_US];
    ++answered;
  }
  return true;
}

static void receive(struct connection *connection) {
  char *const end = connection->answer + connection->length;
  const ssize_t received = recv(connection->socket, end, MESSAGE - connection->length, MSG_DONTWAIT);
  if (received <= 0) fail("the server has gone");
  connection->length += (unsigned)received;
  const uint64_t at = now();
  while (connection->length && take_answer(connection, at)) {}
}

/* Handles what arrives; waits for it until a time at the latest. */
static void serve(uint64_t until) {
  struct epoll_event ready[CONNECTIONS];
  const uint64_t time = now();
  const struct timespec most = span(until > time ? until - time : 0);
  const int count = epoll_pwait2(events, ready, CONNECTIONS, &most, NULL);
  if (count < 0) fail(strerror(errno));
  for (int index = 0; index < count; ++index) receive(ready[index].data.ptr);
}

static void settle(void) {
  const uint64_t until = now() + PATIENCE;
  while (waiting && now() < until) serve(until);
  if (waiting) fail("answers that do not come");
}

static void set_all_keys(void) {
  struct random drawn = {seed};
  for (unsigned key = 0; key < keys; ++key) {
    sizes[key] = (uint16_t)draw(&value_size, &drawn, LEAST_VALUE, MOST_VALUE);
    send_request(&connections[key % connection_count], now(), key, true);
    settle();
  }
}

static void load(void) {
  struct random choices = {seed + 1}, gaps = {seed + 2};
  const double gap = (double)SECOND / (double)rate;
  double due = (double)now();
  measure_from = (uint64_t)due + warmup * MILLISECOND;
  measure_until = measure_from + measured * MILLISECOND;
  while ((due += -logarithm(random_fraction(&gaps)) * gap) < (double)measure_until) {
    while (now() < (uint64_t)due) serve((uint64_t)due);
    const uint64_t bits = random_bits(&choices), more = random_bits(&choices);
    struct connection *const connection = &connections[more % connection_count];
    send_request(connection, (uint64_t)due, (unsigned)((bits >> 32) % keys), (bits & 0xffffffff) % 1000 < sets);
  }
  settle();
}

int main(int count, char **arguments) {
  const uint64_t start = now();
  struct in_addr address;
  if (count < 2 || !inet_aton(arguments[1], &address)) {
    fputs("usage: mutilate ADDRESS [NAME=VALUE]...\n", stderr);
    return 2;
  }
  for (int index = 2; index < count; ++index) read_option(arguments[index]);
  /* Linux lets ordinary sleeps take 50 us more. */
  prctl(PR_SET_TIMERSLACK, 1);
  events = epoll_create1(0);
  for (unsigned index = 0; index < connection_count; ++index) open_connection(&connections[index], address.s_addr);
  set_all_keys();
  const uint64_t ready = now(), first = start + begin * MILLISECOND;
  if (ready < first) pause_for(first - ready);
  load();
  printf("ready %llu us\nanswered %llu\nin time %llu\nlatencies", (unsigned long long)(ready - start) / 1000,
         (unsigned long long)answered, (unsigned long long)in_time);
  for (unsigned us = 0; us <= LONGEST_US; ++us)
    if (histogram[us]) printf(" %u:%llu", us, (unsigned long long)histogram[us]);
  puts("");
  return 0;
}
