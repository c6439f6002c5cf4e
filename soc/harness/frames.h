// Frames as files of pcap, which Wireshark reads.
#pragma once
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace soc {

// All frames of a link, both ways, in the order in which they end. Times are in nanoseconds from the end of reset.
class Frames {
  public:
    Frames(const std::string& path, uint64_t clock_hz) : file_(path, std::ios::binary), clock_hz_(clock_hz) {
        if (!file_) throw std::runtime_error(path + ": cannot be written");
        // Magic number of nanoseconds, version 2.4, no correction of time, whole frames of Ethernet.
        put({0xa1b23c4d, 2 | 4 << 16, 0, 0, 65535, 1});
    }

    void add(uint64_t cycle, const std::vector<uint8_t>& frame) {
        const uint64_t seconds = cycle / clock_hz_;
        const auto nanoseconds = uint32_t((cycle % clock_hz_) * 1000000000 / clock_hz_);
        const auto length = uint32_t(frame.size());
        put({uint32_t(seconds), nanoseconds, length, length});
        file_.write(reinterpret_cast<const char*>(frame.data()), length);
    }

  private:
    std::ofstream file_;
    uint64_t clock_hz_;

    void put(const std::vector<uint32_t>& words) {
        file_.write(reinterpret_cast<const char*>(words.data()), 4 * words.size());
    }
};

}  // namespace soc
