#ifndef RACKWRIGHT_PROTOC_NAMESPACES_H
#define RACKWRIGHT_PROTOC_NAMESPACES_H

#include <google/protobuf/descriptor.h>

#include <string>

// The C++ that was generated for a file, with namespaces that compile: protoc 3.21 names them like the parts of
// packages even where these are keywords. They get an underscore, as classes and fields of such names do.
std::string with_legal_namespaces(const google::protobuf::FileDescriptor *file, std::string text);

#endif
