#include "leftovers.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstring>

#include "rackwright/protobuf_calls.h"

namespace rackwright::protobuf {

Leftover leftovers[most_leftovers + 1];

namespace {

using google::protobuf::Message;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

// Messages within each other that a leftover may have: what the library allows without those that the
// unit may have come through.
constexpr int most_levels = 100 - 25;

bool merge_bytes(Message *object, const uint8_t *bytes, size_t size)
{
    CodedInputStream stream(bytes, static_cast<int>(size));
    stream.SetRecursionLimit(most_levels);
    return object->MergePartialFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

// Whether the class knows a field of this number, or an extension may have it.
bool may_know(const Type &type, uint32_t number)
{
    const uint64_t numbers = type.table[3];
    const auto first = static_cast<uint32_t>(numbers >> 32);
    const bool has_entry = number >= first && number <= static_cast<uint32_t>(numbers);
    if (has_entry && type.table[header_words + entry_words * (number - first)] != 0) return true;
    for (size_t i = 0; i < type.extensions.count; i++) {
        const auto &range = type.extensions.ranges[i];
        if (number >= static_cast<uint32_t>(range.first) && number < static_cast<uint32_t>(range.end)) {
            return true;
        }
    }
    return false;
}

// Adds a field that is unknown to the object's class, and no group, to its unknown fields: what the library
// does with it, in fewer steps. False when it has to be the library.
bool add_unknown(Message *object, const uint8_t *bytes, size_t size)
{
    const Type *type = type_of_object(*object);
    CodedInputStream stream(bytes, static_cast<int>(size));
    uint32_t tag;
    if (type == nullptr || !stream.ReadVarint32(&tag) || may_know(*type, tag >> 3)) return false;
    const auto number = static_cast<int>(tag >> 3);
    const auto set = [object] {
        auto *const metadata = reinterpret_cast<char *>(object) + sizeof(void *);
        return reinterpret_cast<google::protobuf::internal::InternalMetadata *>(metadata)
            ->mutable_unknown_fields<google::protobuf::UnknownFieldSet>();
    };
    uint64_t varint, fixed64;
    uint32_t fixed32;
    switch (tag & 7) {
    case 0:
        if (!stream.ReadVarint64(&varint)) return false;
        set()->AddVarint(number, varint);
        return true;
    case 1:
        if (!stream.ReadLittleEndian64(&fixed64)) return false;
        set()->AddFixed64(number, fixed64);
        return true;
    case 2: {
        if (!stream.ReadVarint32(&fixed32)) return false;
        const auto content = static_cast<size_t>(stream.CurrentPosition());
        if (size - content != fixed32) return false;
        set()->AddLengthDelimited(number)->assign(reinterpret_cast<const char *>(bytes) + content, fixed32);
        return true;
    }
    case 5:
        if (!stream.ReadLittleEndian32(&fixed32)) return false;
        set()->AddFixed32(number, fixed32);
        return true;
    default: return false;
    }
}

bool merge(const Leftover &leftover)
{
    const auto *bytes = static_cast<const uint8_t *>(leftover.data);
    if (leftover.number == 0) {
        return add_unknown(leftover.object, bytes, leftover.size) ||
               merge_bytes(leftover.object, bytes, leftover.size);
    }
    // An element of a packed field: the library takes it with a tag, too.
    uint8_t element[32];
    uint8_t *value = CodedOutputStream::WriteVarint32ToArray(leftover.number << 3, element);
    std::memcpy(value, bytes, leftover.size);
    return merge_bytes(leftover.object, element,
                       static_cast<size_t>(value - element) + leftover.size);
}

// What a record has in place of its message once it has been taken.
const Message *const nobody = reinterpret_cast<const Message *>(1);

// How many records in a row were taken; once all there are were, the unit begins anew.
size_t taken = 0;

void begin_anew_when_all_are_taken()
{
    if (leftovers[taken].root != nullptr) return;
    complete_parses(); // requests under way may still leave something over
    fence();
    if (leftovers[taken].root != nullptr) return;
    std::memset(leftovers, 0, (taken + 1) * sizeof leftovers[0]);
    taken = 0;
    set_leftovers(leftovers, leftovers + most_leftovers);
}

} // namespace

void provide_leftovers()
{
    fence();
    if (leftovers[0].root == nullptr) set_leftovers(leftovers, leftovers + most_leftovers);
}

const Message *next_root()
{
    return leftovers[taken].root;
}

Merged take_leftovers(const Message *root, bool merges)
{
    Merged merged = {0, true};
    for (Leftover *each = leftovers + taken; each->root != nullptr; each++) {
        if (each->root != root) continue;
        if (merges) {
            merged.count++;
            merged.succeeded = merged.succeeded && merge(*each);
        }
        each->root = nobody;
    }
    while (leftovers[taken].root == nobody) taken++;
    begin_anew_when_all_are_taken();
    return merged;
}

} // namespace rackwright::protobuf
