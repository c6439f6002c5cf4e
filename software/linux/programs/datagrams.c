/* datagrams PORT: returns each datagram to that UDP port to its sender, for ever.
   datagrams ADDRESS PORT COUNT BYTES [GAP_US]: sends COUNT datagrams of BYTES there, each when the one before has returned and
   after a pause, and compares what returns. Prints the round trips in nanoseconds, and ends with status 1 if one was changed or
   did not return within a second. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

enum { MOST_BYTES = 1472 };

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int answer(int own, uint16_t port) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)}, from;
  static char data[MOST_BYTES];
  if (bind(own, (struct sockaddr *)&here, sizeof here)) return 2;
  for (;;) {
    socklen_t length = sizeof from;
    const ssize_t bytes = recvfrom(own, data, sizeof data, 0, (struct sockaddr *)&from, &length);
    if (bytes >= 0) sendto(own, data, (size_t)bytes, 0, (struct sockaddr *)&from, length);
  }
}

static int ask(int own, const char *address, uint16_t port, unsigned count, size_t bytes, long gap_us) {
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port)};
  const struct timeval patience = {1, 0};
  const struct timespec gap = {0, gap_us * 1000};
  static unsigned char data[MOST_BYTES], back[MOST_BYTES];
  if (inet_pton(AF_INET, address, &there.sin_addr) != 1 || bytes > sizeof data) return 2;
  if (connect(own, (struct sockaddr *)&there, sizeof there)) return 2;
  if (setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience)) return 2;
  uint64_t *trips = calloc(count, sizeof *trips);
  if (!trips) return 2;
  for (unsigned number = 0; number < count; ++number) {
    for (size_t at = 0; at < bytes; ++at) data[at] = (unsigned char)(number * 31 + at);
    if (gap_us) nanosleep(&gap, NULL);
    const uint64_t begin = now();
    if (send(own, data, bytes, 0) != (ssize_t)bytes) return 1;
    const ssize_t returned = recv(own, back, sizeof back, 0);
    trips[number] = now() - begin;
    if (returned != (ssize_t)bytes || memcmp(data, back, bytes)) return 1;
  }
  for (unsigned number = 0; number < count; ++number) printf("%lu\n", (unsigned long)trips[number]);
  return 0;
}

int main(int count, char **words) {
  const int own = socket(AF_INET, SOCK_DGRAM, 0);
  if (own < 0) return 2;
  if (count == 2) return answer(own, (uint16_t)atoi(words[1]));
  if (count < 5 || count > 6) return 2;
  return ask(own, words[1], (uint16_t)atoi(words[2]), (unsigned)atoi(words[3]), strtoul(words[4], NULL, 10),
             count > 5 ? atol(words[5]) : 0);
}
