/* A store of keys and values, of the official LevelDB in memory: keys are written, written again and removed in a
   random order, with its log, its sorted tables, its compaction in a thread of its own and Snappy; then every key is
   asked for, of the store as it is and as it was at a snapshot, and the store is read in order. What it should answer
   is kept beside it as a version of each key. Argument: keys. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "helpers/memenv/memenv.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/env.h"

namespace {

enum { WRITES_PER_KEY = 4, REMOVE_ONE_IN = 8, SHORTEST = 24, LENGTHS = 200, MOST_KEYS = 1000000 };

using Versions = std::vector<uint8_t>; /* of each key; 0: it is not there */

uint64_t draw(uint64_t &state) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return state >> 33;
}

std::string key_of(unsigned number) {
  char text[16];
  snprintf(text, sizeof text, "key%06u", number);
  return text;
}

/* Compressible as words are: half of the letters. */
std::string value_of(unsigned number, uint8_t version) {
  uint64_t state = uint64_t(number) << 8 | version;
  std::string value(SHORTEST + draw(state) % LENGTHS, ' ');
  for (char &letter : value) letter = char('a' + draw(state) % 13);
  return value;
}

[[noreturn]] void wrong(const char *what, const std::string &about) {
  printf("leveldb: %s: %s\n", what, about.c_str());
  exit(1);
}

void demand(const leveldb::Status &status) {
  if (!status.ok()) wrong("the store says", status.ToString());
}

void write(leveldb::DB &store, Versions &versions, uint64_t &state, unsigned count) {
  for (unsigned done = 0; done < count; ++done) {
    unsigned number = unsigned(draw(state) % versions.size());
    bool remove = draw(state) % REMOVE_ONE_IN == 0;
    uint8_t version = remove ? 0 : uint8_t(1 + draw(state) % 255);
    versions[number] = version;
    leveldb::WriteOptions options;
    demand(remove ? store.Delete(options, key_of(number))
                  : store.Put(options, key_of(number), value_of(number, version)));
  }
}

void ask_for_every_key(leveldb::DB &store, const Versions &versions, const leveldb::Snapshot *snapshot) {
  leveldb::ReadOptions options;
  options.snapshot = snapshot;
  uint64_t state = 2;
  for (size_t asked = 0; asked < versions.size(); ++asked) {
    unsigned number = unsigned(draw(state) % versions.size());
    std::string value;
    leveldb::Status status = store.Get(options, key_of(number), &value);
    if (status.IsNotFound() != !versions[number]) wrong("there, or not, that key", key_of(number));
    if (versions[number] && value != value_of(number, versions[number])) wrong("another value of", key_of(number));
  }
}

/* The sum is FNV-1a over all keys and values. */
void read_in_order(leveldb::DB &store, const Versions &versions, const char *name, const leveldb::Snapshot *snapshot) {
  leveldb::ReadOptions options;
  options.snapshot = snapshot;
  std::unique_ptr<leveldb::Iterator> place(store.NewIterator(options));
  uint64_t sum = 14695981039346656037u;
  unsigned count = 0, number = 0;
  for (place->SeekToFirst(); place->Valid(); place->Next(), ++number, ++count) {
    while (number < versions.size() && !versions[number]) ++number;
    if (number == versions.size() || place->key() != key_of(number)) wrong("not in its place", place->key().ToString());
    for (leveldb::Slice part : {place->key(), place->value()})
      for (size_t index = 0; index < part.size(); ++index) sum = (sum ^ uint8_t(part[index])) * 1099511628211u;
  }
  demand(place->status());
  while (number < versions.size() && !versions[number]) ++number;
  if (number != versions.size()) wrong("missing", key_of(number));
  printf("%s: %u keys, %016llx\n", name, count, (unsigned long long)sum);
}

}  // namespace

int main(int count, char **arguments) {
  int keys = count == 2 ? atoi(arguments[1]) : 0;
  if (keys < 1 || keys > MOST_KEYS) return 2;
  std::unique_ptr<leveldb::Env> files(leveldb::NewMemEnv(leveldb::Env::Default()));
  std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(1 << 16));
  leveldb::Options options;
  options.env = files.get();
  options.block_cache = cache.get();
  options.create_if_missing = true;
  options.write_buffer_size = 1 << 16;
  leveldb::DB *opened;
  demand(leveldb::DB::Open(options, "/store", &opened));
  std::unique_ptr<leveldb::DB> store(opened);

  Versions versions(keys);
  uint64_t state = 1;
  unsigned writes = unsigned(keys) * WRITES_PER_KEY / 2;
  write(*store, versions, state, writes);
  Versions before = versions;
  const leveldb::Snapshot *snapshot = store->GetSnapshot();
  write(*store, versions, state, writes);

  ask_for_every_key(*store, versions, nullptr);
  ask_for_every_key(*store, before, snapshot);
  read_in_order(*store, before, "snapshot", snapshot);
  store->ReleaseSnapshot(snapshot);
  store->CompactRange(nullptr, nullptr);
  read_in_order(*store, versions, "store", nullptr);
  return 0;
}
