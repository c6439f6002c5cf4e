/* The UDP frame of the memcached protocol: 8 bytes before the text of a request or an answer. */
#ifndef RACKWRIGHT_MEMCACHED_H
#define RACKWRIGHT_MEMCACHED_H

#include <stdint.h>

#include "bytes.h"

enum { MEMCACHED_PORT = 11211, MEMCACHED_HEADER = 8 };

/* A request or an answer in one datagram. */
static inline void put_memcached_header(uint8_t *datagram, uint16_t request) {
  put16(datagram, request);
  put16(datagram + 2, 0); /* number of the datagram */
  put16(datagram + 4, 1); /* datagrams */
  put16(datagram + 6, 0);
}

#endif
