#include "options.h"

#include <stdexcept>
#include <vector>

namespace {

const char usage[] = "usage: snappy-benchmark (compress|decompress) (library|unit) FILE "
                     "[--history KIB] [--hash-table-log2 N] [--output FILE]";

Operation parse_operation(const std::string &name)
{
    if (name == "compress") return Operation::compress;
    if (name == "decompress") return Operation::decompress;
    throw std::invalid_argument("no operation \"" + name + "\"; " + usage);
}

bool parse_engine(const std::string &name)
{
    if (name == "unit") return true;
    if (name == "library") return false;
    throw std::invalid_argument("no engine \"" + name + "\"; " + usage);
}

unsigned long parse_number(const std::string &option, const std::string &text)
{
    size_t used = 0;
    unsigned long number = 0;
    try {
        number = std::stoul(text, &used);
    } catch (const std::exception &) {
        used = 0;
    }
    if (used == 0 || used != text.size()) {
        throw std::invalid_argument(option + " needs a number, not \"" + text + "\"");
    }
    return number;
}

void apply(Options &options, const std::string &option, const std::string &value)
{
    if (option == "--output") {
        options.output_path = value;
    } else if (option == "--history") {
        options.history_kib = parse_number(option, value);
    } else if (option == "--hash-table-log2") {
        options.hash_table_log2 = static_cast<unsigned>(parse_number(option, value));
    } else {
        throw std::invalid_argument("no option \"" + option + "\"; " + usage);
    }
}

} // namespace

Options parse_options(int argument_count, char **arguments)
{
    const std::vector<std::string> words(arguments + 1, arguments + argument_count);
    if (words.size() < 3 || words.size() % 2 == 0) {
        throw std::invalid_argument(usage);
    }
    Options options{parse_operation(words[0]), parse_engine(words[1]), words[2], "", 0, 0};
    for (size_t i = 3; i < words.size(); i += 2) {
        apply(options, words[i], words[i + 1]);
    }
    return options;
}
