// Sorts and searches pseudo-random numbers: branches that can't be predicted, and a working set
// that outgrows the first-level caches. Prints a checksum.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t count = 1 << 17;
constexpr int rounds = 12;

std::uint64_t next(std::uint64_t& state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

}  // namespace

int main() {
    std::uint64_t state = 88172645463325252;
    std::uint64_t checksum = 0;
    std::vector<std::uint64_t> numbers(count);
    for (int round = 0; round < rounds; ++round) {
        for (auto& number : numbers) number = next(state);
        std::sort(numbers.begin(), numbers.end());
        for (std::size_t i = 0; i < count; i += 16) {
            const auto found = std::lower_bound(numbers.begin(), numbers.end(), next(state));
            checksum = checksum * 31 + static_cast<std::uint64_t>(found - numbers.begin());
        }
    }
    std::printf("%016llx\n", static_cast<unsigned long long>(checksum));
    return 0;
}
