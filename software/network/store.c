#include "store.h"

#include "bytes.h"

enum { SLOTS = 4096, PROBES = 8 };

/* Memory is zero at the start. */
static struct item slots[SLOTS] __attribute__((section(".noinit")));

/* FNV-1a. */
static uint32_t hash_of(struct text key) {
  uint32_t hash = 2166136261u;
  for (unsigned index = 0; index < key.length; ++index) hash = (hash ^ (uint8_t)key.at[index]) * 16777619u;
  return hash;
}

static bool has(const struct item *item, struct text key) {
  return item->key_length == key.length && memcmp(item->key, key.at, key.length) == 0;
}

const struct item *store_get(struct text key) {
  const uint32_t first = hash_of(key);
  for (unsigned probe = 0; probe < PROBES; ++probe) {
    const struct item *item = &slots[(first + probe) % SLOTS];
    if (item->key_length == 0) return 0;
    if (has(item, key)) return item;
  }
  return 0;
}

void store_set(struct text key, uint32_t flags, const char *value, unsigned length) {
  const uint32_t hash = hash_of(key);
  /* When all places are taken by others, one of them, chosen by the key, has to go. */
  struct item *item = &slots[(hash + (hash >> 16) % PROBES) % SLOTS];
  for (unsigned probe = 0; probe < PROBES; ++probe) {
    struct item *candidate = &slots[(hash + probe) % SLOTS];
    if (candidate->key_length == 0 || has(candidate, key)) {
      item = candidate;
      break;
    }
  }
  item->key_length = (uint16_t)key.length;
  memcpy(item->key, key.at, key.length);
  item->flags = flags;
  item->length = (uint16_t)length;
  memcpy(item->value, value, length);
}
