// The official library through its C++ interface.
#include <snappy.h>

#include "engine.h"

namespace {

class Library : public Engine {
  public:
    Outcome run(Operation operation, const Bytes &input, Bytes &output) override
    {
        return operation == Operation::compress ? compress(input, output)
                                                : decompress(input, output);
    }

  private:
    static Outcome compress(const Bytes &input, Bytes &output)
    {
        size_t written = 0;
        snappy::RawCompress(input.data(), input.size(), output.data(), &written);
        return {RACKWRIGHT_OK, written, input.size()};
    }

    static Outcome decompress(const Bytes &input, Bytes &output)
    {
        size_t length = 0;
        if (!snappy::GetUncompressedLength(input.data(), input.size(), &length)) {
            return {RACKWRIGHT_MALFORMED, 0, 0};
        }
        if (length > output.size()) return {RACKWRIGHT_OUTPUT_FULL, 0, 0};
        if (!snappy::RawUncompress(input.data(), input.size(), output.data())) {
            return {RACKWRIGHT_MALFORMED, 0, 0};
        }
        return {RACKWRIGHT_OK, length, input.size()};
    }
};

} // namespace

std::unique_ptr<Engine> make_library()
{
    return std::make_unique<Library>();
}
