// What the plug-in writes for one field.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

// A call that adds the field to its class's table.
std::string description_of(const google::protobuf::FieldDescriptor *field);
