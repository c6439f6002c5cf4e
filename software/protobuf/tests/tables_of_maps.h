// Compares what descriptor tables say of a map with a real one.
#pragma once

#include "tables.h"

// The parts of a map's only element lie in its entry object and in its node where the tables say.
// `listed` are the words of the field in its class's list.
void compare_map(const google::protobuf::FieldDescriptor *field, const google::protobuf::Message &empty,
                 const Entry &entry, const uint64_t *listed);
