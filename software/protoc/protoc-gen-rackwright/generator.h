// The plug-in proper: which insertion points of which files get what.
#pragma once

#include <google/protobuf/compiler/code_generator.h>

class Generator : public google::protobuf::compiler::CodeGenerator {
  public:
    bool Generate(const google::protobuf::FileDescriptor *file, const std::string &parameter,
                  google::protobuf::compiler::GeneratorContext *context,
                  std::string *error) const override;

    uint64_t GetSupportedFeatures() const override { return FEATURE_PROTO3_OPTIONAL; }
};
