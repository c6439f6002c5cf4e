// The elements of maps whose values are messages, in the order in which both the library and the serializer
// write them.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "rackwright/protobuf_type.h"

namespace rackwright::protobuf {

struct MapElement {
    uint64_t number;       // by which keys that are numbers ascend
    std::string_view text; // or the key, if it is text
    const google::protobuf::Message *entry; // null if the map has a hash table
    const google::protobuf::Message *value; // null if it is no message, or is not there

    bool operator<(const MapElement &other) const
    {
        return number != other.number ? number < other.number : text < other.text;
    }
};

// Appends the elements of a map by ascending keys. Nothing of a map that the serializer refuses for the form of
// its hash table.
void find_elements(const MessageField &field, const google::protobuf::Message &parent,
                   std::vector<MapElement> *elements);

} // namespace rackwright::protobuf
