// Ports as AMBA defines them, of units that were not made for this host: what they do is checked against the rules of
// AXI4 and AXI4-Lite (IHI 0022), and a unit that breaks one has stopped. APB (IHI 0024) has none for a completer.
#pragma once
#include <string>

#include "axi.h"

namespace rackwright {

// Has the unit that is evaluated now stop, for a reason.
void complain(const std::string& reason);

// A register port answers an access with an error.
inline void complain_of_error(const std::string& port, const RackwrightRegisterAccess& access) {
    char address[32];
    std::snprintf(address, sizeof address, "%#x", access.address);
    complain(port + ": it answers with an error to a " + (access.write != 0 ? "write to " : "read of ") + address);
}

// What a unit offers through a channel until it is taken: it may neither change nor go away (section A3.2.1).
template <size_t numbers>
class Offer {
  public:
    using Payload = std::array<uint64_t, numbers>;

    // Takes note of a cycle; tells whether the unit kept the rule.
    bool keeps(bool valid, bool ready, const Payload& payload) {
        const bool kept = !waits_ || (valid && payload == payload_);
        waits_ = valid && !ready;
        payload_ = payload;
        return kept;
    }

  private:
    bool waits_ = false;
    Payload payload_{};
};

// An AXI4 manager port of the unit, which must keep the protocol.
template <class Pins>
class CheckedAxiChannel : public AxiChannel<Pins> {
  public:
    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRequest>& requests) {
        const bool reads = Pins::ar_valid(model), writes = Pins::aw_valid(model), beats = Pins::w_valid(model);
        const auto read = burst(Pins::ar_id(model), Pins::ar_address(model), Pins::ar_length(model),
                                Pins::ar_size(model), Pins::ar_burst(model));
        const auto write = burst(Pins::aw_id(model), Pins::aw_address(model), Pins::aw_length(model),
                                 Pins::aw_size(model), Pins::aw_burst(model));
        if (!read_.keeps(reads, Pins::ar_ready(model), read)) change("AR");
        if (!write_.keeps(writes, Pins::aw_ready(model), write)) change("AW");
        uint64_t words[4] = {};
        if (beats) std::memcpy(words, &Pins::w_data(model), Pins::bytes);
        const typename Offer<6>::Payload beat{words[0], words[1], words[2], words[3],
                                              static_cast<uint64_t>(Pins::w_mask(model)), Pins::w_last(model)};
        if (!beat_.keeps(beats, Pins::w_ready(model), beat)) change("W");
        if (reads && Pins::ar_ready(model)) check("AR", read);
        if (writes && Pins::aw_ready(model)) check("AW", write);
        if (beats && Pins::w_ready(model) && Pins::w_last(model) != (this->beats_to_write() == 1)) {
            complain(std::string(Pins::name) + ": WLAST is not with the last beat of a burst");
        }
        AxiChannel<Pins>::sample(model, cycle, requests);
    }

  private:
    using Burst = Offer<5>::Payload;

    Offer<5> read_;
    Offer<5> write_;
    Offer<6> beat_;

    static Burst burst(uint64_t id, uint64_t address, uint64_t length, uint64_t size, uint64_t type) {
        return {id, address, length, size, type};
    }

    static void change(const char* channel) {
        complain(std::string(Pins::name) + ": " + channel + "VALID or what goes with it changed before " + channel +
                 "READY");
    }

    // A burst that is taken, against section A3.4.1.
    static void check(const char* channel, const Burst& burst) {
        const auto [id, address, length, size, type] = burst;
        const uint64_t beats = length + 1, bytes = uint64_t(1) << size;
        const char* broken = nullptr;
        if (bytes > Pins::bytes) broken = "a beat that is wider than the bus";
        else if (type == 3) broken = "a burst of the reserved type";
        else if (type == 1 && (address & 4095) / bytes + beats > 4096 / bytes) broken = "a burst over 4 KiB";
        else if (type != 1 && beats > 16) broken = "more than 16 beats of a burst that does not increment";
        else if (type == 2 && ((beats & (beats - 1)) != 0 || beats == 1 || address % bytes != 0))
            broken = "a burst that wraps and cannot";
        if (broken != nullptr) complain(std::string(Pins::name) + ": " + channel + " asks for " + broken);
    }
};

// The registers of the unit, as a subordinate of AXI4-Lite: one access after the other. Of a write, `write` has a bit
// for each byte, from the lowest of `data` on.
template <class Pins>
class LiteChannel {
  public:
    DueQueue<RackwrightRegisterAccess> accesses;
    uint64_t unanswered = 0;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        if (!busy_ && accesses.ready(cycle)) begin();
        Pins::ar_valid(model) = address_waits_ && !writes();
        Pins::aw_valid(model) = address_waits_ && writes();
        Pins::w_valid(model) = data_waits_;
        Pins::r_ready(model) = busy_ && !writes();
        Pins::b_ready(model) = busy_ && writes();
        if (!busy_) return;
        const uint64_t lanes = access_.address % Pins::bytes;
        Pins::ar_address(model) = access_.address;
        Pins::aw_address(model) = access_.address;
        Pins::w_data(model) = static_cast<Word>(access_.data << 8 * lanes);
        Pins::w_mask(model) = static_cast<uint8_t>(access_.write << lanes);
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRegisterAnswer>& answers) {
        if (!busy_) {
            if (Pins::r_valid(model) || Pins::b_valid(model)) fail("answers what it was not asked");
            return;
        }
        if (writes() ? Pins::aw_ready(model) : Pins::ar_ready(model)) address_waits_ = false;
        if (Pins::w_ready(model)) data_waits_ = false;
        const bool answered = writes() ? Pins::b_valid(model) : Pins::r_valid(model);
        if (!answered) return;
        if (address_waits_ || data_waits_) fail("answers before it has taken what it is asked");
        if ((writes() ? Pins::b_response(model) : Pins::r_response(model)) != 0) complain_of_error(Pins::name, access_);
        const uint64_t data = Pins::r_data(model);
        answers.push_back({cycle, data >> 8 * (access_.address % Pins::bytes)});
        busy_ = address_waits_ = data_waits_ = false;
        --unanswered;
    }

  private:
    using Word = std::conditional_t<Pins::bytes == 8, uint64_t, uint32_t>;

    RackwrightRegisterAccess access_{};
    bool busy_ = false;
    bool address_waits_ = false;
    bool data_waits_ = false;

    bool writes() const { return access_.write != 0; }

    void begin() {
        access_ = accesses.front();
        accesses.pop();
        ++unanswered;
        busy_ = address_waits_ = true;
        data_waits_ = writes();
    }

    static void fail(const char* what) { complain(std::string(Pins::name) + ": it " + what); }
};

// The registers of the unit, as a completer of APB (IHI 0024): one transfer after the other, of a cycle of set-up and
// those of access until the unit is ready. Without strobes, a write of less than a register is one of all of it.
template <class Pins>
class ApbChannel {
  public:
    DueQueue<RackwrightRegisterAccess> accesses;
    uint64_t unanswered = 0;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        if (phase_ == Phase::idle && accesses.ready(cycle)) begin();
        Pins::select(model) = phase_ != Phase::idle;
        Pins::enable(model) = phase_ == Phase::access;
        if (phase_ == Phase::idle) return;
        const uint64_t lanes = access_.address % Pins::bytes;
        Pins::address(model) = access_.address - lanes;
        Pins::write(model) = writes();
        Pins::write_data(model) = static_cast<uint32_t>(access_.data << 8 * lanes);
        Pins::mask(model) = static_cast<uint8_t>(access_.write << lanes);
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightRegisterAnswer>& answers) {
        if (phase_ == Phase::setup) {
            phase_ = Phase::access;
            return;
        }
        if (phase_ == Phase::idle || !Pins::ready(model)) return;
        if (Pins::error(model)) complain_of_error(Pins::name, access_);
        const uint64_t data = Pins::read_data(model);
        answers.push_back({cycle, data >> 8 * (access_.address % Pins::bytes)});
        phase_ = Phase::idle;
        --unanswered;
    }

  private:
    enum class Phase { idle, setup, access };

    RackwrightRegisterAccess access_{};
    Phase phase_ = Phase::idle;

    bool writes() const { return access_.write != 0; }

    void begin() {
        access_ = accesses.front();
        accesses.pop();
        ++unanswered;
        phase_ = Phase::setup;
    }
};

}  // namespace rackwright
