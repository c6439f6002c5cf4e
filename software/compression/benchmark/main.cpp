// Measures one operation of one format on the standard input, and prints one line of JSON.
//
//   compression-benchmark (compress|decompress) LEVEL CAPACITY OUTPUT
//
// CAPACITY is the room for the result; 0 stands for the format's bound (compress only). What is measured is the first
// run, a later one, and a checksum over its result, which goes to the file OUTPUT for whoever verifies it.
// Exit status: 0, 1 when the operation failed, 2 for wrong usage.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "../../benchmark/files.h"
#include "../../measure/measure.h"
#include "codec.h"

static int run(char **arguments)
{
    const std::string operation = arguments[1];
    const bool compressing = operation == "compress";
    if (!compressing && operation != "decompress") throw std::invalid_argument(operation);
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
    const measure::Times times = measure::times([&](measure::Stopwatch *watch) {
        watch->work(once);
        watch->use([&] { return hash_of(output.data(), length == failed ? 0 : length); });
    });
    if (length == failed) {
        std::fprintf(stderr, "compression-benchmark: the %sion failed\n", operation.c_str());
        return 1;
    }
    std::printf("{\"output_bytes\": %zu, %s}\n", length, measure::json(times).c_str());
    write_file(arguments[4], output.data(), length);
    return 0;
}

int main(int argument_count, char **arguments)
{
    try {
        if (argument_count != 5) throw std::invalid_argument("four arguments are needed");
        return run(arguments);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "compression-benchmark: %s\n", error.what());
        return 2;
    }
}
