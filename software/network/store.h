/* Keys and values of memcached: a table of fixed size, in which new keys take the place of others when it is full. */
#ifndef RACKWRIGHT_STORE_H
#define RACKWRIGHT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

enum { STORE_KEY_BYTES = 250, STORE_VALUE_BYTES = 1024 };

struct item {
  uint32_t flags;
  uint16_t key_length; /* 0: no item */
  uint16_t length;
  char key[STORE_KEY_BYTES];
  char value[STORE_VALUE_BYTES];
};

/* The item of a key, or null. */
const struct item *store_get(struct text key);

/* Sets the item of a key; its length and the value's are within the limits. */
void store_set(struct text key, uint32_t flags, const char *value, unsigned length);

#endif
