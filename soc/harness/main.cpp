// Runs programs on the chip: main.cpp of its simulator, whose options are in options.h.
//
// Each system of the chip has a program; a chip with streams may be joined with a second one, which runs the second
// program. What the first program prints goes to the standard output, that of others to the standard error. When the
// first ends, its exit status becomes that of this program. Exit statuses beyond those of programs: 254 when the cycles
// have passed, 255 when something is wrong with the command line or a file.
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>

#include "boot.h"
#include "options.h"
#include "simulation.h"

namespace {

constexpr int out_of_cycles = 254;
constexpr int no_program = 255;
constexpr size_t systems = std::tuple_size_v<soc::Systems>;
constexpr bool has_streams = !std::is_same_v<std::tuple_element_t<0, soc::Systems>::Streams, soc::NoNetwork>;
// The address of the first system; the next ones have the next ones, as servers of a cluster.
constexpr uint32_t first_address = 0xac100002;

using Simulation = soc::Simulation<soc::Systems>;

// One chip, or two with links between them.
class Chips {
  public:
    Chips(VerilatedContext& context, size_t count) : there_(soc::link_cycles), back_(soc::link_cycles) {
        const char* names[] = {"TOP", "SECOND"};
        for (size_t chip = 0; chip < count; ++chip) {
            chips_.push_back(std::make_unique<Simulation>(context, names[chip]));
            for (soc::Board* board : chips_.back()->boards()) boards_.push_back(board);
        }
        if (count < 2) return;
        chips_[0]->network().join(&there_, &back_);
        chips_[1]->network().join(&back_, &there_);
    }

    const std::vector<soc::Board*>& boards() const { return boards_; }

    void record(soc::Frames& frames) {
        for (auto& chip : chips_) chip->network().record(&frames);
    }

    // Goes on until the first program has ended or so many cycles have passed; gives how many have.
    uint64_t run(uint64_t most_cycles) {
        uint64_t cycle = 0;
        for (; cycle < most_cycles && !boards_[0]->finished(); ++cycle) {
            for (auto& chip : chips_) chip->settle(cycle);
            for (auto& chip : chips_) chip->step();
        }
        return cycle;
    }

  private:
    soc::Link there_;
    soc::Link back_;
    std::vector<std::unique_ptr<Simulation>> chips_;
    std::vector<soc::Board*> boards_;
};

void load(soc::Board& board, size_t number, const std::vector<std::string>& words) {
    if (number > 0) board.print_to(stderr);
    board.load(words[0]);
    if (!soc::networked && words.size() == 1) return;
    const uint32_t address = soc::networked ? first_address + uint32_t(number) : 0;
    if (!board.put(soc::boot_information, soc::boot_bytes(address, words))) {
        throw std::runtime_error(words[0] + ": memory has no place for its arguments");
    }
}

// How long memory takes: a chip whose file says `dram` needs the library, and others do without.
void model_memory(soc::Board& board, const std::string& library) {
    if (soc::dram == library.empty()) {
        throw std::runtime_error(soc::dram ? "its memory is DRAM: --dram is the library with the model"
                                           : "--dram: the chip was composed for memory with a fixed latency");
    }
    if (soc::dram) board.model_memory(library, soc::clock_hz);
}

size_t chips_for(size_t programs) {
    if (programs == systems) return 1;
    if (systems == 1 && has_streams && programs == 2) return 2;
    throw std::runtime_error("the chip takes " + std::to_string(systems) + (systems > 1 ? " programs" : " program") +
                             (has_streams ? ", or one more for a second chip" : ""));
}

int run(const soc::Options& options) {
    VerilatedContext context;
    const char* name = "simulator";
    context.commandArgs(1, &name);
    Chips chips(context, chips_for(options.programs.size()));
    for (size_t number = 0; number < chips.boards().size(); ++number) {
        load(*chips.boards()[number], number, options.programs[number]);
        model_memory(*chips.boards()[number], options.dram);
    }
    std::unique_ptr<soc::Frames> frames;
    if (!options.frames.empty()) {
        frames = std::make_unique<soc::Frames>(options.frames, soc::clock_hz);
        chips.record(*frames);
    }
    const auto start = std::chrono::steady_clock::now();
    const uint64_t cycles = chips.run(options.max_cycles);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const soc::Board& board = *chips.boards()[0];
    const int status = board.finished() ? board.exit_code() : out_of_cycles;
    if (!options.report.empty()) {
        std::ofstream(options.report) << "{\"finished\": " << (board.finished() ? "true" : "false")
                                      << ", \"exit_code\": " << status << ", \"boot_cycles\": " << board.first_access()
                                      << ", \"cycles\": " << cycles - board.first_access()
                                      << ", \"wall_seconds\": " << seconds.count() << "}\n";
    }
    return status;
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) {
        std::fprintf(stderr, "usage: %s %s\n", words[0], soc::Options::usage);
        return no_program;
    }
    try {
        return run(soc::Options::read({words + 1, words + count}));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return no_program;
    }
}
