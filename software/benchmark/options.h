// The command line.
#pragma once

#include <cstddef>
#include <string>

enum class Operation { compress, decompress };

struct Options {
    Operation operation;
    bool uses_unit;
    std::string input_path;
    std::string output_path;      // empty: the result is not kept
    size_t history_kib = 0;       // 0: as the unit was built
    unsigned hash_table_log2 = 0; // 0: as the unit was built
};

// Throws std::invalid_argument with a sentence for the user.
Options parse_options(int argument_count, char **arguments);
