// What descriptor tables say of the values of closed enums, against their descriptors.
#pragma once

#include <google/protobuf/descriptor.h>

#include "tables.h"

void compare_enum(const google::protobuf::FieldDescriptor *field, const Entry &entry);
