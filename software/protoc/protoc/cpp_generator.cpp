#include "cpp_generator.h"

#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <memory>

#include "../namespaces/namespaces.h"

namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::compiler::GeneratorContext;
using google::protobuf::io::Printer;
using google::protobuf::io::StringOutputStream;
using google::protobuf::io::ZeroCopyOutputStream;

// A file that is changed before it is passed on, once it is whole.
class Changed : public ZeroCopyOutputStream {
  public:
    Changed(const FileDescriptor *file, ZeroCopyOutputStream *output) : file_(file), output_(output)
    {
    }

    ~Changed() override
    {
        Printer(output_.get(), '$').PrintRaw(with_legal_namespaces(file_, text_));
    }

    bool Next(void **data, int *size) override { return whole_.Next(data, size); }
    void BackUp(int count) override { whole_.BackUp(count); }
    int64_t ByteCount() const override { return whole_.ByteCount(); }

  private:
    const FileDescriptor *file_;
    const std::unique_ptr<ZeroCopyOutputStream> output_;
    std::string text_;
    StringOutputStream whole_{&text_};
};

class Context : public GeneratorContext {
  public:
    Context(const FileDescriptor *file, GeneratorContext *context) : file_(file), context_(context)
    {
    }

    ZeroCopyOutputStream *Open(const std::string &name) override
    {
        return new Changed(file_, context_->Open(name));
    }

  private:
    const FileDescriptor *file_;
    GeneratorContext *context_;
};

} // namespace

bool CppGenerator::Generate(const FileDescriptor *file, const std::string &parameter,
                            GeneratorContext *context, std::string *error) const
{
    Context changing(file, context);
    return google::protobuf::compiler::cpp::CppGenerator::Generate(file, parameter, &changing, error);
}
