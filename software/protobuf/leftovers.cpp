#include "leftovers.h"

#include <google/protobuf/io/coded_stream.h>

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

bool merge(const Leftover &leftover)
{
    const auto *bytes = static_cast<const uint8_t *>(leftover.data);
    if (leftover.number == 0) return merge_bytes(leftover.object, bytes, leftover.size);
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
