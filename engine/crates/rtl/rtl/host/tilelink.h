// Ports as TileLink defines them (SiFive TileLink Specification 1.8.1), without caches: what a unit does is checked
// against the rules of TL-UL and TL-UH, and a unit that breaks one has stopped.
#pragma once
#include <array>
#include <deque>

#include "amba.h"

namespace rackwright {

// Opcodes of channel A, and of the answers on channel D (section 6.2).
enum TileLinkRequest : unsigned { put_full = 0, put_partial = 1, arithmetic = 2, logical = 3, get = 4, intent = 5 };
enum TileLinkAnswer : unsigned { access_ack = 0, access_ack_data = 1, hint_ack = 2 };

inline unsigned log2_of(uint64_t bytes) {
    unsigned size = 0;
    while (uint64_t(1) << size < bytes) ++size;
    return size;
}

// The registers of the unit, which receives requests of TL-UL: one access after the other. A read is of a whole word of
// the bus; of a write, `write` has a bit for each byte, from the lowest of `data` on.
template <class Pins>
class TileLinkRegisters {
  public:
    DueQueue<RackwrightRegisterAccess> accesses;
    uint64_t unanswered = 0;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        if (!busy_ && accesses.ready(cycle)) begin();
        Pins::a_valid(model) = waits_;
        Pins::d_ready(model) = busy_;
        if (!busy_) return;
        const uint64_t lanes = access_.address % Pins::bytes;
        Pins::a_opcode(model) = writes() ? put_full : get;
        Pins::a_size(model) = size();
        Pins::a_source(model) = 0;
        Pins::a_address(model) = writes() ? access_.address : access_.address - lanes;
        Pins::a_mask(model) = writes() ? static_cast<uint8_t>(access_.write << lanes) : (1u << Pins::bytes) - 1;
        Pins::a_data(model) = static_cast<Word>(access_.data << 8 * lanes);
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRegisterAnswer>& answers) {
        if (!busy_) {
            if (Pins::d_valid(model)) fail("answers what it was not asked");
            return;
        }
        if (Pins::a_ready(model)) waits_ = false;
        if (!Pins::d_valid(model)) return;
        if (waits_) fail("answers before it has taken what it is asked");
        if (Pins::d_opcode(model) != (writes() ? access_ack : access_ack_data)) fail("answers with another opcode");
        if (Pins::d_size(model) != size()) fail("answers with another size than it was asked for");
        if (Pins::d_source(model) != 0) fail("answers another source than the one that asks");
        if (Pins::d_denied(model) || (!writes() && Pins::d_corrupt(model))) complain_of_error(Pins::name, access_);
        const uint64_t data = Pins::d_data(model);
        answers.push_back({cycle, data >> 8 * (access_.address % Pins::bytes)});
        busy_ = waits_ = false;
        --unanswered;
    }

  private:
    using Word = std::conditional_t<Pins::bytes == 8, uint64_t, uint32_t>;

    RackwrightRegisterAccess access_{};
    bool busy_ = false;
    bool waits_ = false;

    bool writes() const { return access_.write != 0; }

    // Of a write, its bytes are those from the lowest on.
    unsigned size() const { return log2_of(writes() ? log2_of(access_.write + uint64_t(1)) : Pins::bytes); }

    void begin() {
        access_ = accesses.front();
        accesses.pop();
        ++unanswered;
        busy_ = waits_ = true;
    }

    static void fail(const char* what) { complain(std::string(Pins::name) + ": it " + what); }
};

// Memory of the unit, which sends requests of TL-UH: operations of several beats become a request for each word of the
// bus. Operations are answered in the order in which they came, a read when all of its beats are there.
template <class Pins>
class TileLinkMemory {
  public:
    // Answers from the engine, by due cycle.
    DueQueue<RackwrightResponse> responses;
    // Operations that the unit has begun, and that are not answered.
    uint64_t unanswered = 0;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        collect(cycle);
        // An operation has room for all of its beats from the first one on.
        Pins::a_ready(model) = is_in_burst() || free_.size() >= longest;
        const bool valid = !operations_.empty() && operations_.front().is_complete();
        Pins::d_valid(model) = valid;
        if (!valid) return;
        const Operation& front = operations_.front();
        Pins::d_opcode(model) = front.answer();
        Pins::d_size(model) = front.size;
        Pins::d_source(model) = front.source;
        Pins::d_denied(model) = front.fault;
        // Data of a denied read are corrupt (section 3.6).
        Pins::d_corrupt(model) = front.fault && front.opcode == get;
        if (front.opcode == get) std::memcpy(&Pins::d_data(model), data_[front.slots[front.given]].data(), Pins::bytes);
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        if (Pins::d_valid(model) && Pins::d_ready(model)) give();
        if (!Pins::a_valid(model) || !Pins::a_ready(model)) return;
        Request request{static_cast<unsigned>(Pins::a_opcode(model)), static_cast<unsigned>(Pins::a_size(model)),
                        static_cast<uint64_t>(Pins::a_source(model)), static_cast<uint64_t>(Pins::a_address(model)),
                        static_cast<uint32_t>(Pins::a_mask(model)), {}};
        std::memcpy(request.data, &Pins::a_data(model), Pins::bytes);
        take(request, cycle, requests);
    }

  private:
    static constexpr unsigned largest = 12;
    // Beats of the largest operation, and of all that are not answered.
    static constexpr unsigned longest = (1u << largest) / Pins::bytes;
    static constexpr unsigned beats = 2 * longest;

    struct Request {
        unsigned opcode;
        unsigned size;
        uint64_t source;
        uint64_t address;
        uint32_t mask;
        uint8_t data[32];
    };

    struct Operation {
        unsigned opcode;
        unsigned size;
        uint64_t source;
        uint64_t address;
        // Beats of the request that have not come yet.
        unsigned left;
        std::vector<uint16_t> slots;
        unsigned waits = 0;
        unsigned given = 0;
        bool fault = false;

        bool is_complete() const { return left == 0 && waits == 0; }
        unsigned answer() const { return opcode == get ? access_ack_data : opcode == intent ? hint_ack : access_ack; }
    };

    std::array<std::array<uint8_t, Pins::bytes>, beats> data_{};
    std::vector<uint16_t> free_ = all_slots();
    std::array<Operation*, beats> owner_{};
    // Their places in memory stay while others come and go at the ends.
    std::deque<Operation> operations_;

    static std::vector<uint16_t> all_slots() {
        std::vector<uint16_t> slots;
        for (uint16_t slot = beats; slot > 0; --slot) slots.push_back(slot - 1);
        return slots;
    }

    static void fail(const char* what) { complain(std::string(Pins::name) + ": " + what); }

    static unsigned beats_of(unsigned size) {
        const uint64_t bytes = uint64_t(1) << size;
        return bytes <= Pins::bytes ? 1 : static_cast<unsigned>(bytes / Pins::bytes);
    }

    void collect(uint64_t cycle) {
        while (responses.ready(cycle)) {
            const RackwrightResponse& response = responses.front();
            std::memcpy(data_[response.tag].data(), response.data, Pins::bytes);
            Operation& operation = *owner_[response.tag];
            operation.fault = operation.fault || response.fault;
            --operation.waits;
            responses.pop();
        }
    }

    // A beat of the answer has been taken.
    void give() {
        Operation& front = operations_.front();
        if (front.opcode == get && ++front.given < front.slots.size()) return;
        free_.insert(free_.end(), front.slots.rbegin(), front.slots.rend());
        operations_.pop_front();
        --unanswered;
    }

    bool is_in_burst() const { return !operations_.empty() && operations_.back().left != 0; }

    void take(const Request& request, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        if (is_in_burst()) {
            Operation& burst = operations_.back();
            const bool same = request.opcode == burst.opcode && request.size == burst.size &&
                              request.source == burst.source && request.address == burst.address;
            if (!same) return fail("A changes within an operation of several beats");
            return write(burst, request, cycle, requests);
        }
        if (const char* broken = check(request)) return fail(broken);
        const unsigned count = beats_of(request.size);
        const bool puts = request.opcode == put_full || request.opcode == put_partial;
        operations_.push_back(
            {request.opcode, request.size, request.source, request.address, puts ? count : 0, {}});
        ++unanswered;
        Operation& operation = operations_.back();
        if (puts) return write(operation, request, cycle, requests);
        for (unsigned i = 0; request.opcode == get && i < count; ++i) ask(operation, cycle, requests);
    }

    // What the first beat of an operation breaks (sections 6.2 to 6.4).
    const char* check(const Request& request) const {
        if (request.opcode == arithmetic || request.opcode == logical)
            return "A asks for an atomic operation, which memory does not do";
        if (request.opcode > intent) return "A asks for an operation that TL-UH does not have";
        if (request.size > largest) return "A asks for more than 4 KiB";
        if ((request.address & ((uint64_t(1) << request.size) - 1)) != 0)
            return "A asks for an address that is no multiple of the size";
        for (const Operation& other : operations_) {
            // The first beat of its answer ends the use of a source.
            if (other.source == request.source && other.given == 0) return "A uses a source that waits for an answer";
        }
        return check_mask(request);
    }

    // The lanes of an operation: all of its bytes, or for part of a write some of them (section 4.5).
    static const char* check_mask(const Request& request) {
        const uint64_t bytes = uint64_t(1) << request.size, all = (uint64_t(1) << Pins::bytes) - 1;
        const uint64_t lanes =
            bytes >= Pins::bytes ? all : ((uint64_t(1) << bytes) - 1) << request.address % Pins::bytes;
        if ((request.mask & ~lanes) != 0) return "A has a mask with lanes outside of the operation";
        if (request.opcode != put_partial && request.mask != lanes) return "A has a mask without all lanes";
        return nullptr;
    }

    void write(Operation& operation, const Request& beat, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        if (const char* broken = check_mask(beat)) return fail(broken);
        RackwrightRequest& request = ask(operation, cycle, requests);
        request.write = 1;
        request.mask = beat.mask;
        std::memcpy(request.data, beat.data, Pins::bytes);
        --operation.left;
    }

    // Asks memory for the next word of an operation.
    RackwrightRequest& ask(Operation& operation, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        const uint64_t first = operation.address & ~uint64_t(Pins::bytes - 1);
        const uint16_t slot = free_.back();
        free_.pop_back();
        requests.push_back({cycle, first + operation.slots.size() * Pins::bytes, 0, slot, Pins::index, 0, {}});
        owner_[slot] = &operation;
        operation.slots.push_back(slot);
        ++operation.waits;
        return requests.back();
    }
};

}  // namespace rackwright
