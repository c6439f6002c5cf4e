#ifndef RACKWRIGHT_PROTOC_CPP_GENERATOR_H
#define RACKWRIGHT_PROTOC_CPP_GENERATOR_H

#include <google/protobuf/compiler/cpp/generator.h>

// The official generator, whose output has namespaces that compile.
class CppGenerator : public google::protobuf::compiler::cpp::CppGenerator {
  public:
    bool Generate(const google::protobuf::FileDescriptor *file, const std::string &parameter,
                  google::protobuf::compiler::GeneratorContext *context,
                  std::string *error) const override;
};

#endif
