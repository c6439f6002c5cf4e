// What the units have to know of a map field: its entries as messages, which the deserializer makes,
// and the nodes of its hash table, which the serializer reads.
#pragma once

#include <google/protobuf/map_field.h>

#include "rackwright/protobuf_type.h"

namespace rackwright::protobuf {

// What the serializer reads of nodes: a header and a list of key and value.
struct NodeTable {
    alignas(64) uint64_t header[header_words];
    alignas(64) uint64_t list[2 * list_words];
};

// Where things lie in a node: a MapPair, in which both parts lie, and a pointer to the next node.
struct NodeLayout {
    size_t value;
    size_t next;
};

// Whether a unit has made this entry of a map: those of the library are of another class.
bool is_parsed_entry(const google::protobuf::Message &entry);

// Fills the table; gives what the list of the map's class says of nodes, or 0 if they are too large.
uint64_t describe_nodes(NodeTable &table, const NodeLayout &layout, const Field &key,
                        const Field &value, const Type *message);

namespace map_details {

constexpr size_t aligned(size_t offset, size_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

template <class MapField> struct Parts;
template <class EntryClass, class Key, class Value, auto key_type, auto value_type>
struct Parts<google::protobuf::internal::MapField<EntryClass, Key, Value, key_type, value_type>> {
    using Entry = EntryClass;
    using Pair = google::protobuf::MapPair<Key, Value>;
    static constexpr size_t value = aligned(sizeof(Key), alignof(Value));
    static constexpr NodeLayout layout = {value, aligned(sizeof(Pair), sizeof(void *))};
    static_assert(sizeof(Pair) >= value + sizeof(Value), "a pair holds its parts in order");
};

// Names the protected members of an entry's class.
template <class Entry> struct Members : Entry {
    static const auto &key(const Entry &entry) { return entry.*(&Members::key_); }
    static const auto &value(const Entry &entry) { return entry.*(&Members::value_); }
    static const auto &hasbits(const Entry &entry) { return entry.*(&Members::_has_bits_); }
};

// The class of the entries that a unit makes: the same in all, but for the address that tells the class.
template <class Entry> struct ParsedEntry final : Entry {
    using Entry::Entry;
};

} // namespace map_details

template <class MapField>
void Builder::map(const Field &field, const MapField &member, const Field &key, const Field &value,
                  const Type *message)
{
    static_assert(sizeof(MapField) == 120, "the units know the layout of this class");
    using Parts = map_details::Parts<MapField>;
    using Entry = typename Parts::Entry;
    using Parsed = map_details::ParsedEntry<Entry>;
    static_assert(sizeof(Parsed) == sizeof(Entry), "the library takes one for the other");
    using Members = map_details::Members<Entry>;
    static Storage<sizeof(Entry), 2, 2, 1> room;
    static NodeTable nodes;
    static Type type(room.table, room.table, 0);

    Field parts[] = {key, value};
    for (Field &part : parts) {
        part.implicit_presence = false;
        part.in_entry = true;
    }
    describe<Parsed>(type, room.room(nullptr), 1, 2, 0, [&](Builder &builder, const Entry &entry) {
        const auto &hasbits = Members::hasbits(entry);
        builder.hasbits(&hasbits, sizeof hasbits);
        builder.field(parts[0], &Members::key(entry), 0);
        builder.field(parts[1], &Members::value(entry), 1, nullptr, message);
    });
    map(field, &member, type, describe_nodes(nodes, Parts::layout, parts[0], parts[1], message));
}

} // namespace rackwright::protobuf
