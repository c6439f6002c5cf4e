// Measures one operation of one format on the standard input, and prints one line of JSON.
//
//   compression-benchmark (compress|decompress) LEVEL CAPACITY (warm|cold) OUTPUT
//
// CAPACITY is the room for the result; 0 stands for the format's bound (compress only). `warm` measures
// the second run, `cold` the first one. The result goes to the file OUTPUT, for whoever verifies it.
// Exit status: 0, 1 when the operation failed, 2 for wrong usage.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "../../benchmark/files.h"
#include "../../benchmark/measure.h"
#include "codec.h"

static int run(char **arguments)
{
    const std::string operation = arguments[1], memory = arguments[4];
    const bool compressing = operation == "compress";
    if (!compressing && operation != "decompress") throw std::invalid_argument(operation);
    if (memory != "warm" && memory != "cold") throw std::invalid_argument(memory);
    const int level = std::atoi(arguments[2]);
    const Bytes input = read_file("-");
    const size_t capacity = std::strtoull(arguments[3], nullptr, 10);
    Bytes output(capacity != 0 || !compressing ? capacity : codec_bound(input.size()));

    size_t length = failed;
    const auto once = [&] {
        length = compressing
                     ? codec_compress(output.data(), output.size(), input.data(), input.size(), level)
                     : codec_decompress(output.data(), output.size(), input.data(), input.size());
    };
    if (memory == "warm") once();
    const Measurement measurement = measure(once);
    if (length == failed) {
        std::fprintf(stderr, "compression-benchmark: the %sion failed\n", operation.c_str());
        return 1;
    }
    std::printf("{\"output_bytes\": %zu, \"%s\": %llu}\n", length, measurement.unit,
                measurement.value);
    write_file(arguments[5], output.data(), length);
    return 0;
}

int main(int argument_count, char **arguments)
{
    try {
        if (argument_count != 6) throw std::invalid_argument("five arguments are needed");
        return run(arguments);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "compression-benchmark: %s\n", error.what());
        return 2;
    }
}
