// Fields that the deserializer leaves over for the library: unknown ones, extensions, groups, values that
// a closed enum does not have. The unit reads past them and notes where they are; the library then merges
// these bytes, and no others, into the object that they belong to.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>

namespace rackwright::protobuf {

// Gives the unit room for records, unless it has some in use.
void provide_leftovers();

struct Merged {
    size_t count;
    bool succeeded; // false when the library refuses one
};

// The message whose leftovers come first among those that were not taken; null if there are none.
const google::protobuf::Message *next_root();

// Takes what the request for `root`, which has completed, left over; merges it, or drops it.
Merged take_leftovers(const google::protobuf::Message *root, bool merges);

// Waits for all parses and has the unit use the room again, unless something there was not taken.
void begin_anew_when_all_are_taken();

} // namespace rackwright::protobuf
