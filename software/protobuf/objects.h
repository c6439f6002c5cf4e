// What messages hold of other messages.
#pragma once

#include <google/protobuf/message.h>

#include <cstring>

#include "rackwright/protobuf_calls.h"
#include "rackwright/protobuf_type.h"

namespace rackwright::protobuf {

// The message of a field that is not repeated: null if there is none, or if the oneof holds another. One that
// was cleared may still be there: see is_present().
inline google::protobuf::Message *message_of(const MessageField &field,
                                             const google::protobuf::Message &parent)
{
    if (field.case_offset != 0 && word_at<uint32_t>(parent, field.case_offset) != field.number) return nullptr;
    return word_at<google::protobuf::Message *>(parent, field.offset);
}

// Whether the field is there, as far as a hasbit tells.
inline bool is_present(const MessageField &field, const google::protobuf::Message &parent)
{
    return field.bit == 0 || (word_at<uint32_t>(parent, field.hasbits) & field.bit) != 0;
}

// The elements of a field that is repeated.
struct Elements {
    google::protobuf::Message *const *first;
    uint32_t count;
};

// Of a RepeatedPtrField: arena, size, capacity, and where pointers follow eight bytes.
inline Elements elements_at(const char *field)
{
    uint32_t count;
    const char *pointers;
    std::memcpy(&count, field + 8, sizeof count);
    std::memcpy(&pointers, field + 16, sizeof pointers);
    return {reinterpret_cast<google::protobuf::Message *const *>(pointers + 8), count};
}

inline Elements elements_of(const MessageField &field, const google::protobuf::Message &parent)
{
    return elements_at(reinterpret_cast<const char *>(&parent) + field.offset);
}

// The entries of a map whose hash table has not been made yet, as the deserializer leaves it.
inline Elements entries_of(const MessageField &field, const google::protobuf::Message &parent)
{
    constexpr uint32_t only_entries = 1;
    if (word_at<uint32_t>(parent, field.offset + 64) != only_entries) return {nullptr, 0};
    const char *const entries = word_at<const char *>(parent, field.offset + 16);
    return entries == nullptr ? Elements{nullptr, 0} : elements_at(entries);
}

} // namespace rackwright::protobuf
