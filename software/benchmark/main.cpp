// Runs one Snappy operation on one file, by the official library or by the unit of the simulated
// server, checks the result against the official library, and prints one line of JSON.
//
//   snappy-benchmark (compress|decompress) (library|unit) FILE [--history KIB]
//                    [--hash-table-log2 N] [--output FILE]
//
// FILE is what the operation reads (- for the standard input): plain data to compress, Snappy data
// to decompress. Exit status: 0 when the operation ended ok and the result was verified, 1 when not,
// 2 for wrong usage.

#include <cstdio>
#include <cstring>
#include <exception>

#include "../measure/measure.h"
#include "engine.h"
#include "files.h"
#include "options.h"
#include "verify.h"

namespace {

// What a call takes, and a checksum over its result.
Outcome measured_run(Engine &engine, const Options &options, const Bytes &input, Bytes &output,
                     measure::Times &times)
{
    Outcome outcome{};
    times = measure::times([&](measure::Stopwatch *watch) {
        watch->work([&] { outcome = engine.run(options.operation, input, output); });
        watch->use([&] { return hash_of(output.data(), outcome.output_bytes); });
    });
    return outcome;
}

void print_json(const Options &options, const Bytes &input, const Bytes &output,
                const Outcome &outcome, const measure::Times &times, bool verified)
{
    const bool compressing = options.operation == Operation::compress;
    const size_t plain_bytes = compressing ? input.size() : outcome.output_bytes;
    std::printf("{\"operation\": \"%s\", \"engine\": \"%s\", \"input_bytes\": %zu, "
                "\"output_bytes\": %zu, \"uncompressed_bytes\": %zu, %s, "
                "\"status\": \"%s\", \"input_offset\": %zu, \"output_hash\": \"%016llx\", "
                "\"verified\": %s}\n",
                compressing ? "compress" : "decompress",
                options.uses_unit ? "unit" : "library", input.size(), outcome.output_bytes,
                plain_bytes, measure::json(times).c_str(),
                rackwright_status_name(outcome.status), outcome.input_offset,
                static_cast<unsigned long long>(hash_of(output.data(), outcome.output_bytes)),
                verified ? "true" : "false");
}

int run(const Options &options)
{
    const Bytes input = read_file(options.input_path);
    Bytes output(output_capacity(options.operation, input));
    auto engine = options.uses_unit ? make_unit(options) : make_library();

    measure::Times times;
    Outcome outcome = measured_run(*engine, options, input, output, times);
    const bool verified = agrees_with_library(options.operation, input, output, outcome);

    print_json(options, input, output, outcome, times, verified);
    if (!options.output_path.empty()) {
        write_file(options.output_path, output.data(), outcome.output_bytes);
    }
    return verified && outcome.status == RACKWRIGHT_OK ? 0 : 1;
}

} // namespace

int main(int argument_count, char **arguments)
{
    try {
        return run(parse_options(argument_count, arguments));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "snappy-benchmark: %s\n", error.what());
        return 2;
    }
}
