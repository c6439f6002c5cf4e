// Which values of a closed enum are known, as descriptor tables tell it: in the field's entry where
// they lie close to each other, else in a set in memory.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

// Whether values of the field that its enum does not know are unknown fields.
bool is_closed_enum(const google::protobuf::FieldDescriptor *field);

// Whether there is a set for the enum, and whether it is larger than the units can address.
bool needs_set(const google::protobuf::EnumDescriptor *type);
bool exceeds_sets(const google::protobuf::EnumDescriptor *type);

// The definition of the set.
std::string set_of(const google::protobuf::EnumDescriptor *type);

// What a field of the enum is described with: word 1 of an entry without a set, or log2 of the set's
// places; and the set, or a null pointer.
std::string values_of(const google::protobuf::EnumDescriptor *type);
