// A chip, the clock that drives it, and what is around each of its systems.
#pragma once
#include <tuple>

#include "axi.h"
#include "board.h"
#include "map.h"
#include "network.h"
#include "verilated.h"

namespace soc {

// A system: harts with memory and devices, and its streams.
template <class Pins>
class Surroundings {
  public:
    Surroundings() : board_(map), memory_(board_), devices_(board_) {}

    Board& board() { return board_; }
    Network<typename Pins::Streams>& network() { return network_; }

    void drive(Chip& chip, uint64_t cycle) {
        memory_.drive(chip, cycle);
        devices_.drive(chip, cycle);
        network_.drive(chip, cycle);
    }
    void sample(Chip& chip, uint64_t cycle) {
        memory_.sample(chip, cycle);
        devices_.sample(chip, cycle);
        network_.sample(chip, cycle);
    }

  private:
    Board board_;
    rocket::AxiSlave<typename Pins::Memory, Board> memory_;
    rocket::AxiSlave<typename Pins::Devices, Board> devices_;
    Network<typename Pins::Streams> network_;
};

template <class Systems>
class Simulation;

template <class... Pins>
class Simulation<std::tuple<Pins...>> {
  public:
    Simulation(VerilatedContext& context, const char* name) : chip_(&context, name) {
        chip_.reset = 1;
        for (unsigned cycle = 0; cycle < reset_cycles; ++cycle) {
            level(0);
            level(1);
        }
        chip_.reset = 0;
    }
    ~Simulation() { chip_.final(); }

    std::vector<Board*> boards() {
        return std::apply([](auto&... each) { return std::vector<Board*>{&each.board()...}; }, systems_);
    }
    // The streams that leave the chip.
    auto& network() { return std::get<0>(systems_).network(); }

    // Its inputs of `cycle`, until all its logic has settled.
    void settle(uint64_t cycle) {
        std::apply([&](auto&... each) { (each.drive(chip_, cycle), ...); }, systems_);
        level(0);
        std::apply([&](auto&... each) { (each.sample(chip_, cycle), ...); }, systems_);
    }
    // The clock edge that ends the cycle.
    void step() { level(1); }

  private:
    static constexpr unsigned reset_cycles = 64;

    Chip chip_;
    std::tuple<Surroundings<Pins>...> systems_;

    void level(int clock) {
        chip_.clock = clock;
        chip_.eval();
    }
};

}  // namespace soc
