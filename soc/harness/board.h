// What is around the chip: memory, a serial port, and the two registers by which programs print and end.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "axi.h"
#include "program.h"
#include "timing.h"
#include "uart.h"

namespace soc {

class Board {
  public:
    // The range of memory, in how many cycles it answers, and where programs find `tohost`, `console`
    // and the serial port.
    struct Map {
        uint64_t memory_base;
        uint64_t memory_bytes;
        uint64_t memory_cycles;
        uint64_t to_host;
        uint64_t console;
        uint64_t uart;
    };

    explicit Board(const Map& map)
        : map_(map), memory_(new uint8_t[map.memory_bytes]()), timing_(map.memory_cycles) {}

    // Memory takes as long as DRAM does, whose model is in a library.
    void model_memory(const std::string& library, uint64_t clock_hz) { timing_.model(library, clock_hz); }

    // Where what the program prints goes.
    void print_to(std::FILE* console) { console_ = console; }

    void load(const std::string& path) {
        const Program program(path);
        if (program.entry() != map_.memory_base) throw std::runtime_error(path + ": does not begin where memory does");
        program.each_segment([&](uint64_t address, const char* bytes, uint64_t count, uint64_t zeros) {
            if (!holds(address, count + zeros)) throw std::runtime_error(path + ": does not fit into memory");
            std::memcpy(at(address), bytes, count);
        });
    }

    // Puts bytes into memory; gives whether it has them.
    bool put(uint64_t address, const std::vector<uint8_t>& bytes) {
        if (!holds(address, bytes.size())) return false;
        std::memcpy(at(address), bytes.data(), bytes.size());
        return true;
    }

    // Bursts of a single beat are read as whole beats, too.
    static constexpr bool in_parts = false;

    // A burst that the chip reads; gives the cycle of its first beat.
    uint64_t read(const rocket::Burst& burst, uint8_t* data) {
        const auto [number, cycle, address, bytes] = burst;
        if (!holds(address, bytes)) {
            std::memset(data, 0, bytes);
            if (address == map_.uart && bytes == Uart::bytes) uart_.read(data);
            return cycle + device_latency;
        }
        if (first_access_ == none) first_access_ = cycle;
        std::memcpy(data, at(address), bytes);
        return timing_.access(cycle, address, bytes, false);
    }

    // Bytes that the chip writes; gives the cycle of the acknowledgement.
    uint64_t write(const rocket::Burst& burst, const uint8_t* data) {
        const auto [number, cycle, address, bytes] = burst;
        if (holds(address, bytes)) {
            std::memcpy(at(address), data, bytes);
            return timing_.access(cycle, address, bytes, true);
        }
        if (address == map_.console) print(data[0]);
        if (address >= map_.uart && address - map_.uart + bytes <= Uart::bytes) {
            for (uint32_t byte = 0; byte < bytes; ++byte) {
                if (uart_.write(address - map_.uart + byte, data[byte])) print(data[byte]);
            }
        }
        if (address == map_.to_host && bytes == 8) {
            uint64_t word;
            std::memcpy(&word, data, sizeof word);
            if (word & 1) {
                finished_ = true;
                exit_code_ = static_cast<int>(word >> 1);
            }
        }
        return cycle + device_latency;
    }

    bool finished() const { return finished_; }
    int exit_code() const { return exit_code_; }

    // The cycle in which the program was first read from memory; 0 if it never was.
    uint64_t first_access() const { return first_access_ == none ? 0 : first_access_; }

  private:
    static constexpr uint64_t device_latency = 4;
    static constexpr uint64_t none = ~uint64_t{0};

    Map map_;
    std::unique_ptr<uint8_t[]> memory_;
    Timing timing_;
    Uart uart_;
    std::FILE* console_ = stdout;
    bool finished_ = false;
    int exit_code_ = 0;
    uint64_t first_access_ = none;

    bool holds(uint64_t address, uint64_t bytes) const {
        return address >= map_.memory_base && address - map_.memory_base <= map_.memory_bytes - bytes;
    }
    void print(uint8_t byte) { std::fputc(byte, console_); }
    uint8_t* at(uint64_t address) { return memory_.get() + (address - map_.memory_base); }
};

}  // namespace soc
