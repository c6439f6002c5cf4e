// The Snappy units through their driver.
#include <stdexcept>

#include "engine.h"

#ifdef __riscv

#include "rackwright_snappy.h"

namespace {

class Unit : public Engine {
  public:
    Outcome run(Operation operation, const Bytes &input, Bytes &output) override
    {
        const auto command = operation == Operation::compress ? rackwright_snappy_compress
                                                              : rackwright_snappy_uncompress;
        const rackwright_snappy_result result =
            command(input.data(), input.size(), output.data(), output.size());
        return {result.status, result.output_bytes, result.input_offset};
    }
};

} // namespace

std::unique_ptr<Engine> make_unit(const Options &options)
{
    if (options.history_kib != 0) rackwright_snappy_set_history(options.history_kib << 10);
    if (options.hash_table_log2 != 0) {
        rackwright_snappy_set_hash_table_log2(options.hash_table_log2);
    }
    return std::make_unique<Unit>();
}

#else

std::unique_ptr<Engine> make_unit(const Options &)
{
    throw std::invalid_argument("this machine has no units; use the engine \"library\"");
}

#endif
