// The command line of the simulator.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace soc {

// Programs with their arguments: the first word of each is its file.
struct Options {
    uint64_t max_cycles = ~uint64_t{0};
    std::string report;
    std::string frames;
    std::string dram;
    std::vector<std::vector<std::string>> programs;

    static constexpr const char* usage =
        "[--max-cycles N] [--report FILE.json] [--frames FILE.pcap] [--dram LIBRARY.so] PROGRAM.elf "
        "[ARGUMENT...] [-- PROGRAM.elf [ARGUMENT...]]";

    // Throws std::runtime_error for words that mean nothing.
    static Options read(const std::vector<std::string>& words) {
        Options options;
        size_t at = 0;
        for (; at < words.size() && words[at].rfind("--", 0) == 0; at += 2) {
            if (at + 1 == words.size()) throw std::runtime_error(words[at] + ": needs a value");
            if (words[at] == "--max-cycles") {
                options.max_cycles = std::strtoull(words[at + 1].c_str(), nullptr, 0);
            } else if (words[at] == "--report") {
                options.report = words[at + 1];
            } else if (words[at] == "--frames") {
                options.frames = words[at + 1];
            } else if (words[at] == "--dram") {
                options.dram = words[at + 1];
            } else {
                throw std::runtime_error(words[at] + ": no such option");
            }
        }
        for (bool begins = true; at < words.size(); ++at) {
            if (begins) options.programs.emplace_back();
            begins = words[at] == "--";
            if (!begins) options.programs.back().push_back(words[at]);
        }
        for (const auto& program : options.programs) {
            if (program.empty()) throw std::runtime_error("--: a program has to stand on both sides");
        }
        return options;
    }
};

}  // namespace soc
