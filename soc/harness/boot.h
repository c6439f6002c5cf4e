// What programs are told when they begin: `struct boot_information` of software/bare-metal/bare.h.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace soc {

// Where programs find it: the last page of their memory (software/bare-metal/link.ld).
constexpr uint64_t boot_information = 0x8ffff000;

// Its bytes: an Internet address, no known neighbours, and words, the first of which is the program's name.
inline std::vector<uint8_t> boot_bytes(uint32_t address, const std::vector<std::string>& words) {
    constexpr size_t head_words = 4;
    std::vector<uint64_t> numbers = {address, 0, 0, words.size()};
    std::string text;
    for (const auto& word : words) {
        numbers.push_back(boot_information + 8 * (head_words + words.size() + 1) + text.size());
        text += word;
        text += '\0';
    }
    numbers.push_back(0);
    std::vector<uint8_t> bytes(8 * numbers.size() + text.size());
    std::memcpy(bytes.data(), numbers.data(), 8 * numbers.size());
    std::memcpy(bytes.data() + 8 * numbers.size(), text.data(), text.size());
    return bytes;
}

}  // namespace soc
