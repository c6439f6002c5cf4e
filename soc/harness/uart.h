// The serial port of the board: a 16550 that is always ready to send, and receives nothing.
#pragma once
#include <cstdint>
#include <cstring>

namespace soc {

class Uart {
  public:
    // Its registers are bytes at the lowest eight addresses.
    static constexpr uint64_t bytes = 8;

    void read(uint8_t* registers) const {
        std::memcpy(registers, stored_, bytes);
        registers[interrupt_identification] = no_interrupt;
        registers[line_status] = transmitter_empty;
        if (!selects_divisor()) registers[data] = 0;
    }

    // A write of a register; gives whether it sends its value.
    bool write(uint64_t place, uint8_t value) {
        const bool sends = place == data && !selects_divisor();
        if (!sends) stored_[place] = value;
        return sends;
    }

  private:
    // Offsets of registers and values of their bits (National Semiconductor 1995, PC16550D, table II).
    static constexpr uint64_t data = 0, interrupt_identification = 2, line_control = 3, line_status = 5;
    static constexpr uint8_t no_interrupt = 0x01, divisor_latch = 0x80, transmitter_empty = 0x60;

    uint8_t stored_[bytes] = {};

    bool selects_divisor() const { return stored_[line_control] & divisor_latch; }
};

}  // namespace soc
