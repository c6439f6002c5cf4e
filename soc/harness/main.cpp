// Runs a program on the chip: ./simulator PROGRAM.elf [MOST_CYCLES [REPORT.json]].
//
// What the program prints goes to the standard output; its exit status becomes that of this program. Exit statuses
// beyond those of programs: 254 when MOST_CYCLES have passed, 255 when the file is no program.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <string>

#include "axi.h"
#include "board.h"
#include "chip.h"
#include "verilated.h"

namespace {

constexpr unsigned reset_cycles = 64;
constexpr int out_of_cycles = 254;
constexpr int no_program = 255;

// The chip and the clock that drives it.
class Simulation {
  public:
    Simulation(VerilatedContext& context, soc::Board& board)
        : chip_(&context), board_(board), memory_(board), devices_(board) {
        chip_.reset = 1;
        for (unsigned cycle = 0; cycle < reset_cycles; ++cycle) {
            level(0);
            level(1);
        }
        chip_.reset = 0;
    }
    ~Simulation() { chip_.final(); }

    // Goes on until the program has ended or so many cycles have passed; gives how many have.
    uint64_t run(uint64_t most_cycles) {
        uint64_t cycle = 0;
        for (; cycle < most_cycles && !board_.finished(); ++cycle) {
            memory_.drive(chip_, cycle);
            devices_.drive(chip_, cycle);
            level(0);
            memory_.sample(chip_, cycle);
            devices_.sample(chip_, cycle);
            level(1);
        }
        return cycle;
    }

  private:
    soc::Chip chip_;
    soc::Board& board_;
    rocket::AxiSlave<soc::MemoryPins, soc::Board> memory_;
    rocket::AxiSlave<soc::DevicePins, soc::Board> devices_;

    void level(int clock) {
        chip_.clock = clock;
        chip_.eval();
    }
};

int run(int count, char** words) {
    soc::Board board(soc::map);
    board.load(words[1]);
    const uint64_t most_cycles = count > 2 ? std::strtoull(words[2], nullptr, 0) : ~uint64_t{0};
    VerilatedContext context;
    context.commandArgs(count, words);
    Simulation simulation(context, board);
    const auto start = std::chrono::steady_clock::now();
    const uint64_t cycles = simulation.run(most_cycles);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const int status = board.finished() ? board.exit_code() : out_of_cycles;
    if (count > 3) {
        std::ofstream(words[3]) << "{\"finished\": " << (board.finished() ? "true" : "false")
                                << ", \"exit_code\": " << status << ", \"boot_cycles\": " << board.first_access()
                                << ", \"cycles\": " << cycles - board.first_access()
                                << ", \"wall_seconds\": " << seconds.count() << "}\n";
    }
    return status;
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) {
        std::fprintf(stderr, "usage: %s PROGRAM.elf [MOST_CYCLES [REPORT.json]]\n", words[0]);
        return no_program;
    }
    try {
        return run(count, words);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return no_program;
    }
}
