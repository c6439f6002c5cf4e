#include "leftovers.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstring>

#include "rackwright/protobuf_calls.h"

namespace rackwright::protobuf {

Leftover leftovers[most_leftovers + 1];

namespace {

using google::protobuf::Message;
using google::protobuf::UnknownFieldSet;
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

UnknownFieldSet *unknown_fields_of(Message *object)
{
    auto *const metadata = reinterpret_cast<char *>(object) + sizeof(void *);
    return reinterpret_cast<google::protobuf::internal::InternalMetadata *>(metadata)
        ->mutable_unknown_fields<UnknownFieldSet>();
}

// A tag or a length, which has at most 5 bytes.
bool read_short(CodedInputStream *stream, uint32_t *value)
{
    const int start = stream->CurrentPosition();
    return stream->ReadVarint32(value) && stream->CurrentPosition() - start <= 5;
}

bool add_group(UnknownFieldSet *set, uint32_t number, CodedInputStream *stream);

// Adds the field whose tag was read. False when it is malformed.
bool add_field(UnknownFieldSet *set, uint32_t tag, CodedInputStream *stream)
{
    const auto number = static_cast<int>(tag >> 3);
    uint64_t varint, fixed64;
    uint32_t fixed32;
    switch (tag & 7) {
    case 0:
        if (!stream->ReadVarint64(&varint)) return false;
        set->AddVarint(number, varint);
        return true;
    case 1:
        if (!stream->ReadLittleEndian64(&fixed64)) return false;
        set->AddFixed64(number, fixed64);
        return true;
    case 2: {
        const void *content;
        int rest = 0;
        if (!read_short(stream, &fixed32)) return false;
        stream->GetDirectBufferPointerInline(&content, &rest);
        if (fixed32 > static_cast<uint32_t>(rest)) return false;
        set->AddLengthDelimited(number)->assign(static_cast<const char *>(content), fixed32);
        return stream->Skip(static_cast<int>(fixed32));
    }
    case 3: return add_group(set->AddGroup(number), tag >> 3, stream);
    case 5:
        if (!stream->ReadLittleEndian32(&fixed32)) return false;
        set->AddFixed32(number, fixed32);
        return true;
    default: return false;
    }
}

// Adds what lies between the tags of a group. The unit has seen that these are few within each other.
bool add_group(UnknownFieldSet *set, uint32_t number, CodedInputStream *stream)
{
    constexpr uint32_t end_group = 4;
    uint32_t tag;
    while (read_short(stream, &tag) && tag >> 3 != 0) {
        if ((tag & 7) == end_group) return tag >> 3 == number;
        if (!add_field(set, tag, stream)) return false;
    }
    return false;
}

// Adds a field that is unknown to the object's class to its unknown fields, as the library does, in fewer
// steps; leaves the others to it.
bool merge_field(Message *object, const uint8_t *bytes, size_t size)
{
    const Type *type = type_of_object(*object);
    CodedInputStream stream(bytes, static_cast<int>(size));
    uint32_t tag;
    if (type == nullptr || !stream.ReadVarint32(&tag) || may_know(*type, tag >> 3)) {
        return merge_bytes(object, bytes, size);
    }
    return add_field(unknown_fields_of(object), tag, &stream);
}

bool merge(const Leftover &leftover)
{
    const auto *bytes = static_cast<const uint8_t *>(leftover.data);
    if (leftover.number == 0) return merge_field(leftover.object, bytes, leftover.size);
    // An element of a packed field: the library takes it with a tag, too.
    uint8_t element[32];
    uint8_t *value = CodedOutputStream::WriteVarint32ToArray(leftover.number << 3, element);
    std::memcpy(value, bytes, leftover.size);
    return merge_bytes(leftover.object, element,
                       static_cast<size_t>(value - element) + leftover.size);
}

// What a record has in place of its message once it has been taken.
const Message *const nobody = reinterpret_cast<const Message *>(1);

// How many records in a row were taken.
size_t taken = 0;

} // namespace

void begin_anew_when_all_are_taken()
{
    if (leftovers[taken].root != nullptr) return;
    if (!state.shares_units) {
        complete_parses(); // requests under way may still leave something over
        fence();
        if (leftovers[taken].root != nullptr) return;
    }
    std::memset(leftovers, 0, (taken + 1) * sizeof leftovers[0]);
    taken = 0;
    if (!state.shares_units) set_leftovers(leftovers, leftovers + most_leftovers);
}

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
    Leftover *each = leftovers + taken;
    while (each->root != nullptr && each->root != root) each++;
    for (; each->root == root; each++) { // a request has its own in a row
        if (merges) {
            merged.count++;
            merged.succeeded = merged.succeeded && merge(*each);
        }
        each->root = nobody;
    }
    while (leftovers[taken].root == nobody) taken++;
    return merged;
}

} // namespace rackwright::protobuf
