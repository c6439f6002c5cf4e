// protoc of the official library, with its C++ generator alone: what it writes fits the library,
// because both have the same version.
#include <google/protobuf/compiler/command_line_interface.h>

#include "cpp_generator.h"

int main(int argument_count, char **arguments)
{
    google::protobuf::compiler::CommandLineInterface protoc;
    CppGenerator cpp;
    protoc.AllowPlugins("protoc-");
    protoc.RegisterGenerator("--cpp_out", "--cpp_opt", &cpp, "Generates C++ headers and sources.");
    return protoc.Run(argument_count, arguments);
}
