/* What a queue of several producers and consumers costs: cycles of harts that push and pop words of 8 bytes.
 *
 * PEER says at compile time whose queue it is: RACKWRIGHT, BOOST, CK or TBB. The arguments are producers, consumers, how many elements a
 * call moves (1 for all but ours), places and elements, which are divided among the threads. Each producer pushes numbers in their order; a
 * consumer checks that it gets those of a producer so. A line of numbers says what came of it: cycles from the start of all threads to the
 * last pop, and the sum of all numbers popped. */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "rackwright/rocc.h"

#define RACKWRIGHT 1
#define BOOST 2
#define CK 3
#define TBB 4

namespace {

constexpr std::size_t MOST_BATCH = 64, MOST_PEERS = 16;

#if PEER == RACKWRIGHT
#include "rackwright/shared_queue.h"
class Queue {
  public:
    explicit Queue(std::size_t places) : queue_(rw_shared_create(static_cast<uint32_t>(places), 8)) {}
    void push(const uint64_t *values, std::size_t count) { rw_shared_push_many(queue_, values, count); }
    std::size_t pop(uint64_t *values, std::size_t count) { return rw_shared_pop_many(queue_, values, count); }

  private:
    rw_shared_queue *queue_;
};
#elif PEER == BOOST
}
#include <boost/lockfree/queue.hpp>
namespace {
/* With indices in place of pointers, which are changed together with their counters by one atomic operation of this hart. */
class Queue {
  public:
    explicit Queue(std::size_t) {}
    void push(const uint64_t *values, std::size_t) {
        while (!queue_.push(*values)) {
        }
    }
    std::size_t pop(uint64_t *values, std::size_t) { return queue_.pop(*values); }

  private:
    boost::lockfree::queue<uint64_t, boost::lockfree::capacity<256>> queue_;
};
#elif PEER == CK
}
extern "C" {
#include <ck_ring.h>
}
namespace {
class Queue {
  public:
    /* One place of a ring is always free. */
    explicit Queue(std::size_t places) : buffer_(2 * places) { ck_ring_init(&ring_, static_cast<unsigned>(2 * places)); }
    void push(const uint64_t *values, std::size_t) {
        while (!ck_ring_enqueue_mpmc(&ring_, buffer_.data(), reinterpret_cast<void *>(*values))) {
        }
    }
    std::size_t pop(uint64_t *values, std::size_t) { return ck_ring_dequeue_mpmc(&ring_, buffer_.data(), values); }

  private:
    ck_ring_t ring_;
    std::vector<ck_ring_buffer_t> buffer_;
};
#else
}
#include <oneapi/tbb/concurrent_queue.h>
/* What the library does without an allocator of its own. */
namespace tbb::detail::r1 {
void *cache_aligned_allocate(std::size_t size) { return aligned_alloc(64, (size + 63) / 64 * 64); }
void cache_aligned_deallocate(void *memory) { free(memory); }
std::size_t cache_line_size() { return 64; }
void throw_exception(exception_id) { abort(); }
}  // namespace tbb::detail::r1
namespace {
/* It has no bound, so that producers never wait. */
class Queue {
  public:
    explicit Queue(std::size_t) {}
    void push(const uint64_t *values, std::size_t) { queue_.push(*values); }
    std::size_t pop(uint64_t *values, std::size_t) { return queue_.try_pop(*values); }

  private:
    tbb::concurrent_queue<uint64_t> queue_;
};
#endif

std::atomic<unsigned> waiting, ended;
std::atomic<uint64_t> sum, wrong;

/* All threads begin together, each time. */
void meet(unsigned peers, unsigned round) {
    waiting.fetch_add(1);
    while (waiting.load() < round * peers) {
    }
}

/* A number has its producer in the upper half. */
void produce(Queue &queue, uint64_t number, std::size_t begin, std::size_t end, std::size_t batch) {
    uint64_t values[MOST_BATCH];
    for (std::size_t i = begin; i < end; i += batch) {
        for (std::size_t j = 0; j < batch; j++) values[j] = number << 32 | (i + j);
        queue.push(values, batch);
    }
}

void consume(Queue &queue, uint64_t (&next)[MOST_PEERS], std::size_t elements, std::size_t batch) {
    uint64_t values[MOST_BATCH] = {}, own = 0, bad = 0;
    for (std::size_t left = elements; left;) {
        const std::size_t count = queue.pop(values, batch < left ? batch : left);
        for (std::size_t j = 0; j < count; j++) {
            uint64_t &least = next[values[j] >> 32 & (MOST_PEERS - 1)];
            bad += values[j] < least;
            least = values[j] + 1;
            own += values[j];
        }
        left -= count;
    }
    sum.fetch_add(own);
    wrong.fetch_add(bad);
}

}  // namespace

int main(int count, char **words) {
    if (count != 6) return 2;
    unsigned long of[5];
    for (int i = 0; i < 5; i++) of[i] = strtoul(words[i + 1], nullptr, 10);
    const unsigned producers = static_cast<unsigned>(of[0]), consumers = static_cast<unsigned>(of[1]), peers = producers + consumers;
    const std::size_t batch = of[2], places = of[3], elements = of[4];
    const bool sizes = producers && consumers && peers <= MOST_PEERS && batch && batch <= MOST_BATCH &&
                       elements % (producers * batch) == 0 && elements % consumers == 0;
    if (!sizes) return 2;
    Queue queue(places);
    uint64_t cycles = 0;
    /* Once with every place for the caches, and once for the numbers. */
    const std::size_t warm = producers * consumers * batch * (2 * places / (producers * consumers * batch) + 1);
    const auto act = [&](unsigned peer) {
        uint64_t next[MOST_PEERS] = {};
        for (unsigned round = 0; round < 2; round++) {
            const std::size_t begin = round ? warm : 0, all = round ? elements : warm;
            meet(peers, round + 1);
            const uint64_t start = rackwright_cycles();
            if (peer < producers) produce(queue, peer, begin / producers, (begin + all) / producers, batch);
            else consume(queue, next, all / consumers, batch);
            ended.fetch_add(1);
            while (ended.load() < (round + 1) * peers) {
            }
            if (peer == 0) cycles = rackwright_cycles() - start;
        }
    };
    std::vector<std::thread> threads;
    for (unsigned peer = 1; peer < peers; peer++) threads.emplace_back(act, peer);
    act(0);
    for (std::thread &thread : threads) thread.join();
    uint64_t expected = 0;
    for (uint64_t peer = 0; peer < producers; peer++)
        for (std::size_t i = 0; i < (warm + elements) / producers; i++) expected += peer << 32 | i;
    printf("%lu\n", static_cast<unsigned long>(cycles));
    return sum.load() != expected || wrong.load();
}
