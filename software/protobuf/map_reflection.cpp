// Reflection of maps that a unit has parsed. The unit makes the list of entries, as they came: a key may be there
// twice, and an entry may have unknown fields. The library's own parser makes the hash table, and has the list made
// of that when reflection asks for it. So these functions, by which reflection comes to a map, see to it first: they
// are linked with `--wrap` (python/rackwright/protobuf/program.py has their names). Nothing is done, and nothing
// costs a cycle, before a program looks at a map by reflection.
#include <google/protobuf/map_field.h>

#include "rackwright/protobuf_map.h"

namespace {

using google::protobuf::Message;
using google::protobuf::RepeatedPtrField;
using google::protobuf::internal::MapFieldBase;
using google::protobuf::internal::RepeatedPtrFieldBase;

// Names the protected members of a map; the library changes these in a map that is constant, too.
struct Map : MapFieldBase {
    static auto &list(const MapFieldBase &map) { return mutable_in(map).*(&Map::repeated_field_); }
    static auto &mutex(const MapFieldBase &map) { return mutable_in(map).*(&Map::mutex_); }
    static auto &state(const MapFieldBase &map) { return mutable_in(map).*(&Map::state_); }
    static constexpr auto only_hash_table = STATE_MODIFIED_MAP;

  private:
    static MapFieldBase &mutable_in(const MapFieldBase &map) { return const_cast<MapFieldBase &>(map); }
};

bool holds_parsed_entries(const MapFieldBase &map)
{
    if (Map::state(map).load(std::memory_order_acquire) == Map::only_hash_table) return false;
    const RepeatedPtrField<Message> *const list = Map::list(map);
    return list != nullptr && !list->empty() && rackwright::protobuf::is_parsed_entry(list->Get(0));
}

// Has the hash table made of a unit's list, and forgets the list, which lies in the arena.
void settle(const MapFieldBase &map)
{
    if (!holds_parsed_entries(map)) return;
    map.size(); // brings the hash table up to date
    Map::mutex(map).Lock();
    if (holds_parsed_entries(map)) {
        Map::list(map) = nullptr;
        Map::state(map).store(Map::only_hash_table, std::memory_order_release);
    }
    Map::mutex(map).Unlock();
}

} // namespace

// Names as they are for the linker; `real` is the library's own.
#define IS_LIST_VALID(PREFIX) PREFIX##_ZNK6google8protobuf8internal12MapFieldBase20IsRepeatedFieldValidEv
#define GET_LIST(PREFIX) PREFIX##_ZNK6google8protobuf8internal12MapFieldBase16GetRepeatedFieldEv
#define MUTABLE_LIST(PREFIX) PREFIX##_ZN6google8protobuf8internal12MapFieldBase20MutableRepeatedFieldEv

extern "C" {

bool IS_LIST_VALID(__real_)(const MapFieldBase *map);
const RepeatedPtrFieldBase &GET_LIST(__real_)(const MapFieldBase *map);
RepeatedPtrFieldBase *MUTABLE_LIST(__real_)(MapFieldBase *map);

bool IS_LIST_VALID(__wrap_)(const MapFieldBase *map)
{
    settle(*map);
    return IS_LIST_VALID(__real_)(map);
}

const RepeatedPtrFieldBase &GET_LIST(__wrap_)(const MapFieldBase *map)
{
    settle(*map);
    return GET_LIST(__real_)(map);
}

RepeatedPtrFieldBase *MUTABLE_LIST(__wrap_)(MapFieldBase *map)
{
    settle(*map);
    return MUTABLE_LIST(__real_)(map);
}

} // extern "C"
