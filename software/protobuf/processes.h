// Units that processes of an operating system share (rackwright/process.h): others' commands come between ours, after
// which a unit is as after reset, and pages may be missing.
//
// Nothing is left to a unit between messages. What one message needs, from setting up to asking how it ended, is given
// in a sequence that tells whether the kernel interrupted it; then it is done again, as it is when a page was missing.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>

#include "rackwright/protobuf_type.h"

namespace rackwright::protobuf {

// Whether others may use the units too.
bool units_are_shared();

// Has a unit parse into a message on an arena that is clear: gives 0, with leftovers to be merged, or 1 + the status with which
// it ended; the object is as new then.
uint64_t parse_shared(const Type &type, google::protobuf::Message *message, const void *data, size_t size);

// Has a unit serialize a message into the last bytes of the range, and counts it: gives the address of the output, or 1 + the
// status.
uint64_t serialize_shared(const Type &type, const google::protobuf::Message &message, char *start, char *end);

} // namespace rackwright::protobuf
