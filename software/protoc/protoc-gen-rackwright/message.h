// What the plug-in writes for one message class.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

// Members of the class.
std::string declaration_of(const google::protobuf::Descriptor *message);

// Their definitions, in the class's namespace.
std::string definition_of(const google::protobuf::Descriptor *message);
