// Steps the Verilated Rocket system: its memory is the engine's, and accesses of devices end a run.
#include <memory>

#include "Rocket.h"
#include "Rocket___024root.h"
#include "axi.h"
#include "front.h"
#include "rocc.h"
#include "verilated.h"

namespace rocket {
namespace {

constexpr unsigned reset_cycles = 64;

// Once for each core of the system: ROCKET_CORES is given by build.rs.
#if ROCKET_CORES == 1
#define ROCKET_EACH_CORE(DO) DO(0, )
#elif ROCKET_CORES == 4
#define ROCKET_EACH_CORE(DO) DO(0, ) DO(1, _1) DO(2, _2) DO(3, _3)
#endif

// Registers of a core that visible.vlt keeps.
#define ROCKET_CORE(TILE, NAME) \
    ExampleRocketSystem__DOT__tile_prci_domain##TILE##__DOT__tile_reset_domain_tile__DOT__core__DOT__##NAME
#define ROCKET_CSR(TILE, NAME) ROCKET_CORE(TILE, csr__DOT__##NAME)

// Names the pins of one port of the top module.
#define ROCKET_PINS(NAME, PORT, BASE)                                              \
    struct NAME {                                                                  \
        static constexpr uint64_t base = BASE;                                     \
        static constexpr unsigned beat_bytes = sizeof(Rocket::PORT##_r_bits_data); \
        static auto& ar_ready(Rocket& m) { return m.PORT##_ar_ready; }             \
        static auto& ar_valid(Rocket& m) { return m.PORT##_ar_valid; }             \
        static auto& ar_id(Rocket& m) { return m.PORT##_ar_bits_id; }              \
        static auto& ar_addr(Rocket& m) { return m.PORT##_ar_bits_addr; }          \
        static auto& ar_len(Rocket& m) { return m.PORT##_ar_bits_len; }            \
        static auto& ar_size(Rocket& m) { return m.PORT##_ar_bits_size; }          \
        static auto& r_ready(Rocket& m) { return m.PORT##_r_ready; }               \
        static auto& r_valid(Rocket& m) { return m.PORT##_r_valid; }               \
        static auto& r_id(Rocket& m) { return m.PORT##_r_bits_id; }                \
        static auto& r_data(Rocket& m) { return m.PORT##_r_bits_data; }            \
        static auto& r_resp(Rocket& m) { return m.PORT##_r_bits_resp; }            \
        static auto& r_last(Rocket& m) { return m.PORT##_r_bits_last; }            \
        static auto& aw_ready(Rocket& m) { return m.PORT##_aw_ready; }             \
        static auto& aw_valid(Rocket& m) { return m.PORT##_aw_valid; }             \
        static auto& aw_id(Rocket& m) { return m.PORT##_aw_bits_id; }              \
        static auto& aw_addr(Rocket& m) { return m.PORT##_aw_bits_addr; }          \
        static auto& aw_size(Rocket& m) { return m.PORT##_aw_bits_size; }          \
        static auto& w_ready(Rocket& m) { return m.PORT##_w_ready; }               \
        static auto& w_valid(Rocket& m) { return m.PORT##_w_valid; }               \
        static auto& w_data(Rocket& m) { return m.PORT##_w_bits_data; }            \
        static auto& w_strb(Rocket& m) { return m.PORT##_w_bits_strb; }            \
        static auto& w_last(Rocket& m) { return m.PORT##_w_bits_last; }            \
        static auto& b_ready(Rocket& m) { return m.PORT##_b_ready; }               \
        static auto& b_valid(Rocket& m) { return m.PORT##_b_valid; }               \
        static auto& b_id(Rocket& m) { return m.PORT##_b_bits_id; }                \
        static auto& b_resp(Rocket& m) { return m.PORT##_b_bits_resp; }            \
    }

ROCKET_PINS(MemoryPins, mem_axi4_0, 0);
ROCKET_PINS(DevicePins, mmio_axi4_0, 0);

// Those of the port for other masters.
struct FrontPins {
#define ROCKET_FRONT_PIN(NAME, PIN) \
    static auto& NAME(Rocket& m) { return m.l2_frontend_bus_axi4_0_##PIN; }
    ROCKET_FRONT_PIN(ar_ready, ar_ready)
    ROCKET_FRONT_PIN(ar_valid, ar_valid)
    ROCKET_FRONT_PIN(ar_id, ar_bits_id)
    ROCKET_FRONT_PIN(ar_addr, ar_bits_addr)
    ROCKET_FRONT_PIN(ar_len, ar_bits_len)
    ROCKET_FRONT_PIN(ar_size, ar_bits_size)
    ROCKET_FRONT_PIN(ar_burst, ar_bits_burst)
    ROCKET_FRONT_PIN(r_ready, r_ready)
    ROCKET_FRONT_PIN(r_valid, r_valid)
    ROCKET_FRONT_PIN(r_id, r_bits_id)
    ROCKET_FRONT_PIN(r_last, r_bits_last)
    ROCKET_FRONT_PIN(aw_ready, aw_ready)
    ROCKET_FRONT_PIN(aw_valid, aw_valid)
    ROCKET_FRONT_PIN(aw_id, aw_bits_id)
    ROCKET_FRONT_PIN(aw_addr, aw_bits_addr)
    ROCKET_FRONT_PIN(aw_len, aw_bits_len)
    ROCKET_FRONT_PIN(aw_size, aw_bits_size)
    ROCKET_FRONT_PIN(aw_burst, aw_bits_burst)
    ROCKET_FRONT_PIN(w_ready, w_ready)
    ROCKET_FRONT_PIN(w_valid, w_valid)
    ROCKET_FRONT_PIN(w_data, w_bits_data)
    ROCKET_FRONT_PIN(w_strb, w_bits_strb)
    ROCKET_FRONT_PIN(w_last, w_bits_last)
    ROCKET_FRONT_PIN(b_ready, b_ready)
    ROCKET_FRONT_PIN(b_valid, b_valid)
    ROCKET_FRONT_PIN(b_id, b_bits_id)
};

// The memory behind the caches, which the engine has.
class Memory {
  public:
    static constexpr bool in_parts = false;
    RocketMemory* engine = nullptr;

    uint64_t read(const Burst& burst, uint8_t* data) {
        return engine->read(engine->context, burst.number, burst.cycle, burst.address, data, burst.bytes);
    }

    uint64_t write(const Burst& burst, const uint8_t* data) {
        return engine->write(engine->context, burst.number, burst.cycle, burst.address, data, burst.bytes);
    }
};

// Everything below memory: the code with which the boot ROM continues, and the devices of the machine.
class Devices {
  public:
    static constexpr bool in_parts = true;

    struct Pending {
        uint64_t number;
        RocketAccess access;
    };

    // Accesses without a response.
    std::deque<Pending> pending;

    explicit Devices(uint64_t latency) : latency_(latency) {}

    void boot(const uint8_t* code) { std::memcpy(code_, code, rocket_boot_bytes); }

    // Only code is read in pieces longer than a register.
    uint64_t read(const Burst& burst, uint8_t* data) {
        const uint64_t offset = burst.address - base;
        if (offset < rocket_boot_bytes && offset + burst.bytes <= rocket_boot_bytes) {
            std::memcpy(data, code_ + offset, burst.bytes);
            return burst.cycle + latency_;
        }
        if (burst.bytes > 8) {
            std::memset(data, 0, burst.bytes);
            return burst.cycle + latency_;
        }
        pending.push_back({burst.number, {burst.address, 0, burst.bytes, 0}});
        return rocket_unknown;
    }

    uint64_t write(const Burst& burst, const uint8_t* data) {
        RocketAccess access{burst.address, 0, burst.bytes, 1};
        std::memcpy(&access.data, data, std::min<size_t>(burst.bytes, 8));
        pending.push_back({burst.number, access});
        return rocket_unknown;
    }

  private:
    // Where the boot ROM jumps to.
    static constexpr uint64_t base = 0x1000'0000;
    uint8_t code_[rocket_boot_bytes] = {};
    uint64_t latency_;
};

class Cores {
  public:
    explicit Cores(uint64_t latency)
        : context_(std::make_unique<VerilatedContext>()), model_(std::make_unique<Rocket>(context_.get())),
          devices_(latency), memory_port_(memory_), device_port_(devices_) {
        auto& root = *model_->rootp;
#define ROCKET_ROCC_PORT(CORE, TILE)                                                          \
    rocc_ports_.emplace_back(                                                                 \
        CORE, RoccPins{&root.ROCKET_CORE(TILE, rocc_opcodes), &root.ROCKET_CORE(TILE, rocc_ready),        \
                       &root.ROCKET_CORE(TILE, rocc_busy), &root.ROCKET_CORE(TILE, rocc_response_valid),  \
                       &root.ROCKET_CORE(TILE, rocc_response_data),                           \
                       &root.ROCKET_CORE(TILE, rocc_response_rd),                             \
                       &root.ROCKET_CORE(TILE, rocc_request), &root.ROCKET_CORE(TILE, ex_reg_inst),       \
                       &root.ROCKET_CORE(TILE, div_io_req_bits_in1),                          \
                       &root.ROCKET_CORE(TILE, div_io_req_bits_in2),                          \
                       &root.ROCKET_CORE(TILE, div_io_kill), &root.ROCKET_CORE(TILE, div_io_resp_ready)});
        ROCKET_EACH_CORE(ROCKET_ROCC_PORT)
        set_reset(1);
        for (unsigned cycle = 0; cycle < reset_cycles; ++cycle) {
            settle();
            edge();
        }
        set_reset(0);
    }

    ~Cores() { model_->final(); }

    void boot(const uint8_t* code) { devices_.boot(code); }

    RocketState run(RocketMemory& memory, uint64_t until) {
        memory_.engine = &memory;
        while (cycle_ < until && devices_.pending.empty() && commands_.empty() && completions_.empty()) {
            memory_port_.drive(*model_, cycle_);
            device_port_.drive(*model_, cycle_);
            front_port_.drive(*model_, cycle_);
            for (auto& port : rocc_ports_) port.drive(cycle_);
            settle();
            memory_port_.sample(*model_, cycle_);
            device_port_.sample(*model_, cycle_);
            front_port_.sample(*model_, cycle_,
                               [this](const RocketCompletion& completion) { completions_.push_back(completion); });
            for (auto& port : rocc_ports_) {
                if (const auto command = port.sample(cycle_)) commands_.push_back(*command);
            }
            edge();
            ++cycle_;
        }
        memory_.engine = nullptr;
        return state();
    }

    void complete(uint64_t burst, uint64_t due) { memory_port_.answer(burst, due); }

    RocketState answer(uint64_t due, uint64_t data) {
        device_port_.answer(devices_.pending.front().number, due, data);
        devices_.pending.pop_front();
        return state();
    }

    bool take_command(RocketCommand& command) { return take(commands_, command); }

    bool take_completion(RocketCompletion& completion) { return take(completions_, completion); }

    void offer(uint8_t opcodes) {
        for (auto& port : rocc_ports_) port.offer(opcodes);
    }

    RoccPort& rocc(uint32_t core) { return rocc_ports_[core]; }

    void request(const RocketRequest& request) { front_port_.request(request); }

  private:
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Rocket> model_;
    Memory memory_;
    Devices devices_;
    AxiSlave<MemoryPins, Memory> memory_port_;
    AxiSlave<DevicePins, Devices> device_port_;
    FrontPort<FrontPins> front_port_;
    std::vector<RoccPort> rocc_ports_;
    std::deque<RocketCommand> commands_;
    std::deque<RocketCompletion> completions_;
    uint64_t cycle_ = 0;

    template <class Event>
    static bool take(std::deque<Event>& events, Event& event) {
        if (events.empty()) return false;
        event = events.front();
        events.pop_front();
        return true;
    }

    void set_reset(int value) {
        model_->reset = value;
#define ROCKET_RESET(CORE, TILE) model_->resetctrl_hartIsInReset_##CORE = value;
        ROCKET_EACH_CORE(ROCKET_RESET)
        model_->debug_reset = value;
    }

    void settle() {
        model_->clock = 0;
        model_->eval();
    }

    void edge() {
        model_->clock = 1;
        model_->eval();
    }

    RocketState state() const {
        const auto& root = *model_->rootp;
        RocketState state{cycle_, instructions(), root.ROCKET_CORE(, wb_reg_pc), uint32_t(devices_.pending.size()),
                          uint32_t(commands_.size() + completions_.size()), {}};
        if (!devices_.pending.empty()) state.access = devices_.pending.front().access;
        return state;
    }

    // A core keeps minstret in two registers, the low 6 bits and a counter of their overflows.
    uint64_t instructions() const {
        const auto& root = *model_->rootp;
        uint64_t sum = 0;
#define ROCKET_RETIRED(CORE, TILE) sum += root.ROCKET_CSR(TILE, large_) << 6 | (root.ROCKET_CSR(TILE, small_) & 63);
        ROCKET_EACH_CORE(ROCKET_RETIRED)
        return sum;
    }
};

}  // namespace
}  // namespace rocket

extern "C" {

uint32_t rocket_version() { return rocket_interface_version; }

void* rocket_create(uint64_t latency) { return new rocket::Cores(latency); }

void rocket_destroy(void* cores) { delete static_cast<rocket::Cores*>(cores); }

void rocket_boot(void* cores, const uint8_t* code) { static_cast<rocket::Cores*>(cores)->boot(code); }

RocketState rocket_run(void* cores, RocketMemory* memory, uint64_t until) {
    return static_cast<rocket::Cores*>(cores)->run(*memory, until);
}

void rocket_complete(void* cores, uint64_t burst, uint64_t due) {
    static_cast<rocket::Cores*>(cores)->complete(burst, due);
}

RocketState rocket_answer(void* cores, uint64_t due, uint64_t data) {
    return static_cast<rocket::Cores*>(cores)->answer(due, data);
}

uint32_t rocket_take_command(void* cores, RocketCommand* command) {
    return static_cast<rocket::Cores*>(cores)->take_command(*command);
}

uint32_t rocket_take_completion(void* cores, RocketCompletion* completion) {
    return static_cast<rocket::Cores*>(cores)->take_completion(*completion);
}

void rocket_offer(void* cores, uint32_t opcodes) { static_cast<rocket::Cores*>(cores)->offer(opcodes); }

void rocket_set_units(void* cores, uint32_t core, uint32_t room, uint32_t busy) {
    static_cast<rocket::Cores*>(cores)->rocc(core).set_state(room, busy);
}

void rocket_respond(void* cores, uint32_t core, uint64_t cycle, uint32_t rd, uint64_t data) {
    static_cast<rocket::Cores*>(cores)->rocc(core).respond(cycle, rd, data);
}

void rocket_request(void* cores, const RocketRequest* request) {
    static_cast<rocket::Cores*>(cores)->request(*request);
}
}
