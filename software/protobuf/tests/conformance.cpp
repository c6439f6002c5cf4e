// Cases by the rules of the official conformance suite, through the units in both directions.
//
//   conformance FILE
//
// FILE holds cases one after the other, each of four strings with their lengths (32 bits) before them: name,
// class, input, and what is written again, whose length is 0xffffffff where the input is wrong. A case that
// ends otherwise is named on stderr. Prints how many there were, and how often the units left one to the
// library although the input was right, by case.
#include <google/protobuf/arena.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "rackwright/protobuf.h"
#include "schemas.h"
#include "serialized.h"

namespace {

constexpr uint32_t absent = UINT32_MAX;

class Reader {
  public:
    explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

    bool is_at_end() const { return at_ == bytes_.size(); }

    // False where there is no string.
    bool read(std::string *text)
    {
        uint32_t size;
        std::memcpy(&size, bytes_.data() + at_, sizeof size);
        at_ += sizeof size;
        if (size == absent) return false;
        text->assign(bytes_, at_, size);
        at_ += size;
        return true;
    }

  private:
    std::string bytes_;
    size_t at_ = 0;
};

// Whether a case ends as it should; `left` takes how often the library was called for a right input.
template <class Message>
bool passes(const std::string &input, bool is_right, const std::string &expected, uint64_t *left)
{
    google::protobuf::Arena arena;
    auto *message = google::protobuf::Arena::CreateMessage<Message>(&arena);
    const uint64_t before = rackwright::protobuf_counters.all_fallbacks();
    if (rackwright::ParseFromArray(message, input.data(), input.size()) != is_right) return false;
    if (!is_right) return true;
    std::string room(expected.size() + 64, '#');
    const std::string_view written = rackwright::SerializeToTail(*message, room.data(), room.size());
    *left = rackwright::protobuf_counters.all_fallbacks() - before;
    return written == expected && serialized(*message) == expected;
}

bool passes(const std::string &name, const std::string &input, bool is_right, const std::string &expected,
            uint64_t *left)
{
#define TRY(CLASS)                                                                             \
    if (CLASS::descriptor()->full_name() == name) {                                            \
        return passes<CLASS>(input, is_right, expected, left);                                 \
    }
    CLASSES(TRY)
    return false;
}

} // namespace

int main(int, char **arguments)
{
    google::protobuf::SetLogHandler(nullptr);
    std::ifstream file(arguments[1], std::ios::binary);
    Reader reader(std::string(std::istreambuf_iterator<char>(file), {}));
    std::map<std::string, uint64_t> left;
    unsigned cases = 0, failures = 0;
    while (!reader.is_at_end()) {
        std::string name, type, input, expected;
        reader.read(&name);
        reader.read(&type);
        reader.read(&input);
        const bool is_right = reader.read(&expected);
        uint64_t count = 0;
        cases++;
        if (!passes(type, input, is_right, expected, &count)) {
            std::fprintf(stderr, "%s of %s\n", name.c_str(), type.c_str());
            failures++;
        }
        if (count != 0) left[name] += count;
    }
    std::printf("%u\n", cases);
    for (const auto &each : left) {
        std::printf("%s %d\n", each.first.c_str(), static_cast<int>(each.second));
    }
    return failures == 0 ? 0 : 1;
}
