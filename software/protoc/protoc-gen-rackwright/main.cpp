// protoc-gen-rackwright: adds to the C++ that protoc writes what the protobuf units have to know of
// each message class. Used beside --cpp_out, with the same folder:
//
//   protoc --cpp_out=OUT --rackwright_out=OUT my.proto
//
// It fills insertion points of the generated files: an include, a member of each class, and after
// the classes the description of their fields. README.md shows an example.
#include <google/protobuf/compiler/plugin.h>

#include "generator.h"

int main(int argument_count, char **arguments)
{
    const Generator generator;
    return google::protobuf::compiler::PluginMain(argument_count, arguments, &generator);
}
