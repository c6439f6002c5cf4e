// A service over TCP, and who asks it. A request is a batch of readings in Protocol Buffers, compressed by Snappy, behind its
// length in four bytes; the service takes it apart, marks the readings that are out of range, and sends the batch back in the
// same way.
//
//     telemetry serve PORT WORKERS units|library
//     telemetry ask ADDRESS PORT CONNECTIONS REQUESTS READINGS
//
// A worker is a process on a hart of its own, with one connection. Who asks compares each answer with its own, made by the
// official libraries.
#include <arpa/inet.h>
#include <google/protobuf/arena.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <snappy.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

#include "rackwright/protobuf.h"
#include "rackwright_snappy.h"
#include "telemetry.pb.h"

namespace {

using example::Batch;
using google::protobuf::Arena;

constexpr int kLimit = 900;
constexpr size_t kMostBytes = 1 << 18;

void require(bool holds, const char *what)
{
    if (!holds) throw std::runtime_error(what);
}

// Bytes of a request or an answer without its length; none when the other side has closed the connection.
bool receive(int connection, std::string *bytes)
{
    const auto all = [connection](void *place, size_t size) {
        return size == 0 || recv(connection, place, size, MSG_WAITALL) == static_cast<ssize_t>(size);
    };
    uint32_t size = 0;
    if (!all(&size, sizeof size)) return false;
    require(size <= kMostBytes, "a message is too long");
    bytes->resize(size);
    require(all(bytes->data(), size), "a message ends early");
    return true;
}

void send_all(int connection, const std::string &bytes)
{
    const uint32_t size = bytes.size();
    std::string all(reinterpret_cast<const char *>(&size), sizeof size);
    all += bytes;
    for (size_t sent = 0; sent < all.size();) {
        const ssize_t more = send(connection, all.data() + sent, all.size() - sent, 0);
        require(more > 0, "the connection is closed");
        sent += more;
    }
}

// Where the libraries and the units differ: the units are called by their drivers.
class Codec {
  public:
    explicit Codec(bool by_units) : by_units_(by_units), text_(kMostBytes, '\0'), packed_(2 * kMostBytes, '\0')
    {
        rackwright::use_units(by_units);
    }

    void unpack(const std::string &packed, Batch *batch)
    {
        size_t size = 0;
        require(snappy::GetUncompressedLength(packed.data(), packed.size(), &size) && size <= kMostBytes, "not Snappy");
        if (by_units_) {
            const auto made = rackwright_snappy_uncompress(packed.data(), packed.size(), text_.data(), size);
            require(made.status == RACKWRIGHT_OK && made.output_bytes == size, "the unit cannot decompress");
        } else {
            require(snappy::RawUncompress(packed.data(), packed.size(), text_.data()), "cannot be decompressed");
        }
        require(rackwright::ParseFromArray(batch, text_.data(), size), "cannot be parsed");
    }

    std::string pack(const Batch &batch)
    {
        const std::string_view text = rackwright::SerializeToTail(batch, text_.data(), text_.size());
        require(text.data() != nullptr, "cannot be serialized");
        if (!by_units_) {
            std::string packed;
            snappy::Compress(text.data(), text.size(), &packed);
            return packed;
        }
        const auto made = rackwright_snappy_compress(text.data(), text.size(), packed_.data(), packed_.size());
        require(made.status == RACKWRIGHT_OK, "the unit cannot compress");
        return packed_.substr(0, made.output_bytes);
    }

  private:
    bool by_units_;
    std::string text_;
    std::string packed_;
};

// What the service is for.
void judge(Batch *batch)
{
    for (int index = 0; index < batch->readings_size(); index++) {
        auto *reading = batch->mutable_readings(index);
        if (reading->value() <= kLimit) continue;
        reading->set_note("out of range, to be looked at by whoever is on duty");
        batch->add_alarms(index);
    }
}

Batch batch_of(uint64_t id, int readings)
{
    Batch batch;
    batch.set_id(id);
    batch.set_source("plant " + std::to_string(id % 7) + ", hall " + std::to_string(id % 3));
    for (int index = 0; index < readings; index++) {
        const uint64_t random = (id * 1000003 + index) * UINT64_C(6364136223846793005) >> 33;
        auto *reading = batch.add_readings();
        reading->set_time(1700000000000 + 250 * index);
        reading->set_sensor("temperature of bearing " + std::to_string(random % 40));
        reading->set_value(static_cast<int>(random % 1000));
    }
    return batch;
}

void stay_on(int hart)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(hart, &set);
    require(sched_setaffinity(0, sizeof set, &set) == 0, "there is no such hart");
}

// One after the other, what a child does in each; the status is that of the worst.
template <class Work> int in_processes(int count, Work work)
{
    for (int index = 0; index < count; index++) {
        if (fork() == 0) {
            int status = 1;
            try {
                status = work(index);
            } catch (const std::exception &error) {
                std::printf("%d: %s\n", index, error.what());
            }
            std::fflush(stdout);
            _exit(status);
        }
    }
    int worst = 0, status = 0;
    while (wait(&status) > 0) worst = status != 0 ? 1 : worst;
    return worst;
}

int worker(int listener, bool by_units)
{
    const int connection = accept(listener, nullptr, nullptr);
    require(connection >= 0, "no connection");
    Codec codec(by_units);
    Arena arena;
    std::string bytes;
    while (receive(connection, &bytes)) {
        auto *batch = Arena::CreateMessage<Batch>(&arena);
        codec.unpack(bytes, batch);
        judge(batch);
        send_all(connection, codec.pack(*batch));
        arena.Reset();
    }
    return 0;
}

int serve(int port, int workers, bool by_units)
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    require(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0, "the port is taken");
    require(listen(listener, workers) == 0, "cannot listen");
    return in_processes(workers, [&](int index) {
        stay_on(index);
        return worker(listener, by_units);
    });
}

int connected(const sockaddr_in &address)
{
    for (int attempt = 0; attempt < 1000; attempt++) {
        const int connection = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(connection, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0) {
            const int on = 1;
            setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return connection;
        }
        close(connection);
        usleep(1000);
    }
    throw std::runtime_error("nobody listens");
}

int64_t now()
{
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

// Sends requests one after the other, after a first one that warms the service up; gives the nanoseconds of all but that one.
// What is sent is made before, and answers are compared when all have come.
int64_t ask_on(int connection, const std::vector<std::string> &requests, std::vector<std::string> *answers)
{
    std::string unused;
    send_all(connection, requests.front());
    require(receive(connection, &unused), "no answer");
    const int64_t start = now();
    for (size_t number = 0; number < requests.size(); number++) {
        send_all(connection, requests[number]);
        require(receive(connection, &(*answers)[number]), "no answer");
    }
    return now() - start;
}

int ask(const sockaddr_in &address, int connections, int requests, int readings)
{
    void *shared = mmap(nullptr, connections * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(shared != MAP_FAILED, "no memory");
    auto *spent = static_cast<int64_t *>(shared);
    const int status = in_processes(connections, [&](int index) {
        Codec codec(false);
        std::vector<std::string> packed, expected, answers(requests);
        for (int number = 0; number < requests; number++) {
            Batch batch = batch_of(1000 * index + number, readings);
            packed.push_back(codec.pack(batch));
            judge(&batch);
            expected.push_back(batch.SerializeAsString());
        }
        spent[index] = ask_on(connected(address), packed, &answers);
        for (int number = 0; number < requests; number++) {
            Batch answer;
            codec.unpack(answers[number], &answer);
            require(answer.SerializeAsString() == expected[number], "a wrong answer");
        }
        return 0;
    });
    const size_t bytes = batch_of(0, readings).ByteSizeLong();
    if (status == 0) {
        std::printf("%d requests of %zu bytes right in %ld us\n", connections * requests, bytes,
                    static_cast<long>(*std::max_element(spent, spent + connections) / 1000));
    }
    return status;
}

} // namespace

int main(int count, char **words)
{
    const std::string role = count > 1 ? words[1] : "";
    if (role == "serve" && count == 5) {
        return serve(std::atoi(words[2]), std::atoi(words[3]), std::strcmp(words[4], "units") == 0);
    }
    if (role == "ask" && count == 7) {
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_port = htons(std::atoi(words[3]));
        if (inet_pton(AF_INET, words[2], &address.sin_addr) == 1) {
            return ask(address, std::atoi(words[4]), std::atoi(words[5]), std::atoi(words[6]));
        }
    }
    std::fputs("usage: telemetry serve PORT WORKERS units|library\n"
               "       telemetry ask ADDRESS PORT CONNECTIONS REQUESTS READINGS\n",
               stderr);
    return 2;
}
