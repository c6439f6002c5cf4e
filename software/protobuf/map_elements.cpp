#include "map_elements.h"

#include <algorithm>
#include <string>

#include "objects.h"
#include "rackwright/protobuf_map.h"

namespace rackwright::protobuf {

namespace {

using google::protobuf::Message;

// A field's type as in descriptor.proto.
enum : unsigned { int64_key = 3, uint64_key, int32_key, fixed64_key, fixed32_key, bool_key, string_key };
enum : unsigned { uint32_key = 13, sfixed32_key = 15, sfixed64_key, sint32_key, sint64_key };

template <class Value> Value read(const void *at)
{
    Value value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

uint64_t ascending(int64_t key)
{
    return static_cast<uint64_t>(key) ^ uint64_t{1} << 63;
}

// What tells the order of a number.
uint64_t order_of(unsigned type, const char *key)
{
    switch (type) {
    case int64_key:
    case sint64_key:
    case sfixed64_key: return ascending(read<int64_t>(key));
    case uint64_key:
    case fixed64_key: return read<uint64_t>(key);
    case uint32_key:
    case fixed32_key: return read<uint32_t>(key);
    case bool_key: return read<uint8_t>(key);
    default: return ascending(read<int32_t>(key));
    }
}

MapElement element_of(unsigned type, const char *key, const std::string *text)
{
    if (type == string_key) return {0, *text, nullptr, nullptr};
    return {order_of(type, key), {}, nullptr, nullptr};
}

// What a table says of a map's nodes.
struct Nodes {
    explicit Nodes(uint64_t described)
        : next(described >> 53 << 3), key(static_cast<unsigned>(described >> 48) & 31),
          table(reinterpret_cast<const NodeTable *>(described & ((uint64_t{1} << 48) - 1)))
    {
    }

    size_t value() const { return static_cast<uint32_t>(table->list[list_words]); }

    size_t next;
    unsigned key;
    const NodeTable *table;
};

void find_nodes(const Nodes &nodes, const char *map, std::vector<MapElement> *elements)
{
    const size_t buckets = read<size_t>(map + 80);
    const char *const table = read<const char *>(map + 104);
    if (read<size_t>(map + 72) == 0) return;
    const auto bucket = [&](size_t index) { return read<const char *>(table + index * sizeof table); };
    for (size_t i = read<size_t>(map + 96); i < buckets; i++) {
        const char *node = bucket(i);
        if (node != nullptr && node == bucket(i ^ 1)) return; // a tree
        for (; node != nullptr; node = read<const char *>(node + nodes.next)) {
            MapElement element = element_of(nodes.key, node, reinterpret_cast<const std::string *>(node));
            element.value = reinterpret_cast<const Message *>(node + nodes.value());
            elements->push_back(element);
        }
    }
}

void find_entries(const MessageField &field, unsigned key, const Elements &entries,
                  std::vector<MapElement> *elements)
{
    constexpr uintptr_t tag_bits = 3; // of a pointer to a string
    const Type &type = *field.type;
    const auto offset = static_cast<uint32_t>(type.table[header_words]);
    for (uint32_t i = 0; i < entries.count; i++) {
        const Message &entry = *entries.first[i];
        const char *const at = reinterpret_cast<const char *>(&entry) + offset;
        const auto text = key == string_key ? word_at<uintptr_t>(entry, offset) & ~tag_bits : 0;
        MapElement element = element_of(key, at, reinterpret_cast<const std::string *>(text));
        element.entry = &entry;
        if (type.message_count != 0) element.value = message_of(type.messages[0], entry);
        elements->push_back(element);
    }
}

} // namespace

void find_elements(const MessageField &field, const Message &parent, std::vector<MapElement> *elements)
{
    if (field.nodes == 0) return;
    const Nodes nodes(field.nodes);
    const auto first = static_cast<std::ptrdiff_t>(elements->size());
    const Elements entries = entries_of(field, parent);
    const char *const map = reinterpret_cast<const char *>(&parent) + field.offset;
    if (entries.first != nullptr) find_entries(field, nodes.key, entries, elements);
    else if (field.type->message_count != 0) find_nodes(nodes, map, elements);
    std::sort(elements->begin() + first, elements->end());
}

} // namespace rackwright::protobuf
