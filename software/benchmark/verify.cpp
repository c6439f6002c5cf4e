#include "verify.h"

#include <snappy.h>

#include <cstring>

namespace {

// Lengths above this are refused before memory is asked for: a malformed header may claim 4 GiB.
constexpr size_t largest_output = size_t{1} << 30;

bool yields(const char *compressed, size_t compressed_bytes, const char *plain, size_t plain_bytes)
{
    size_t length = 0;
    if (!snappy::GetUncompressedLength(compressed, compressed_bytes, &length)) return false;
    if (length != plain_bytes) return false;
    Bytes expected(length);
    return snappy::RawUncompress(compressed, compressed_bytes, expected.data()) &&
           std::memcmp(expected.data(), plain, length) == 0;
}

} // namespace

size_t output_capacity(Operation operation, const Bytes &input)
{
    if (operation == Operation::compress) return snappy::MaxCompressedLength(input.size());
    size_t length = 0;
    const bool has_header = snappy::GetUncompressedLength(input.data(), input.size(), &length);
    return has_header && length <= largest_output ? length : 0;
}

bool agrees_with_library(Operation operation, const Bytes &input, const Bytes &output,
                         const Outcome &outcome)
{
    if (outcome.output_bytes > output.size()) return false;
    if (operation == Operation::compress) {
        return outcome.status == RACKWRIGHT_OK &&
               yields(output.data(), outcome.output_bytes, input.data(), input.size());
    }
    if (outcome.status == RACKWRIGHT_MALFORMED) {
        return !snappy::IsValidCompressedBuffer(input.data(), input.size());
    }
    return outcome.status == RACKWRIGHT_OK &&
           yields(input.data(), input.size(), output.data(), outcome.output_bytes);
}
