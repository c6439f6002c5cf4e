// The protobuf units from processes of an operating system, on pages that are not there yet: PROCESSES ROUNDS.
//
// Each process makes messages, has the units serialize and parse them, one at a time, in batches and as requests, in memory of which no
// page is there, and compares with the official library.
#include <google/protobuf/arena.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "messages.pb.h"
#include "rackwright/protobuf.h"

namespace {

using google::protobuf::Arena;
using pages::Node;

constexpr size_t room_bytes = 1 << 20;

// Memory of which no page is there.
char *untouched()
{
    void *const place = mmap(nullptr, room_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) std::abort();
    return static_cast<char *>(place);
}

void expect(bool holds, const char *what)
{
    if (holds) return;
    std::printf("%s\n", what);
    std::fflush(stdout);
    _exit(1);
}

// Some hundred bytes or some hundred KB, never twice the same.
void fill(Node *node, int number, int children)
{
    node->set_id(number);
    node->set_name("node number " + std::to_string(number));
    node->set_content(std::string(static_cast<size_t>(number) * 37 % 5000, static_cast<char>(number)));
    for (int i = 0; i < number % 50; i++) node->add_marks(i * number);
    for (int i = 0; i < children; i++) fill(node->add_children(), number + i + 1, i % 7 == 6 ? 2 : 0);
}

void round_trip(int number)
{
    Node node;
    fill(&node, number, number % 5 == 4 ? 60 : number % 4);
    const std::string official = node.SerializeAsString();
    char *const room = untouched();
    const std::string_view made = rackwright::SerializeToTail(node, room, room_bytes);
    expect(made == official, "serialized wrongly");

    // Input on pages that are there and none that is not: of a copy, some of it an unknown field.
    const std::string input = official + std::string("\x92\x4e\x03new", 6);
    char *const copy = untouched();
    std::memcpy(copy, input.data(), input.size());
    Arena arena;
    auto *const parsed = Arena::CreateMessage<Node>(&arena);
    expect(rackwright::ParseFromArray(parsed, copy, input.size()), "not parsed");
    expect(parsed->SerializeAsString() == input, "parsed wrongly");
    expect(!rackwright::ParseFromArray(parsed, copy, official.size() - 1), "a part is parsed");

    rackwright::ParseRequest request;
    auto *const requested = Arena::CreateMessage<Node>(&arena);
    request.start(requested, copy, official.size());
    expect(request.wait() && requested->SerializeAsString() == official, "a request is parsed wrongly");

    std::vector<Node *> messages;
    std::vector<std::string_view> data, outputs(4);
    for (int i = 0; i < 4; i++) {
        messages.push_back(Arena::CreateMessage<Node>(&arena));
        data.emplace_back(copy, official.size());
    }
    expect(rackwright::ParseBatch(messages.data(), data.data(), data.size()), "a batch is not parsed");
    if (official.size() < room_bytes / 8) {
        expect(rackwright::SerializeBatch(messages.data(), messages.size(), room, room_bytes, outputs.data()), "no batch");
        for (const std::string_view each : outputs) expect(each == official, "a batch is serialized wrongly");
    }
    munmap(room, room_bytes);
    munmap(copy, room_bytes);
}

int work(int rounds)
{
    for (int round = 0; round < rounds; round++) round_trip(round + 1);
    const auto &counters = rackwright::protobuf_counters;
    // What is malformed is the library's; that the pages were missing is not its business.
    std::printf("%d rounds right, %d by units, %d left to the library\n", rounds,
                static_cast<int>(counters.parsed + counters.serialized),
                static_cast<int>(counters.all_fallbacks()) - rounds);
    std::fflush(stdout);
    return 0;
}

} // namespace

int main(int count, char **words)
{
    if (count != 3) {
        std::fprintf(stderr, "usage: %s PROCESSES ROUNDS\n", words[0]);
        return 2;
    }
    const int processes = std::atoi(words[1]);
    for (int number = 0; number < processes; number++) {
        if (fork() == 0) _exit(work(std::atoi(words[2])));
    }
    int failures = 0;
    for (int number = 0; number < processes; number++) {
        int status = 0;
        wait(&status);
        failures += status != 0;
    }
    return failures;
}
