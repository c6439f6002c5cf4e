// Steps the Verilated Rocket system and answers its two AXI4 ports.
#include <memory>

#include "Rocket.h"
#include "Rocket___024root.h"
#include "axi.h"
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
#define ROCKET_CSR(TILE, NAME) \
    ExampleRocketSystem__DOT__tile_prci_domain##TILE##__DOT__tile_reset_domain_tile__DOT__core__DOT__csr__DOT__##NAME

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

class Core {
  public:
    Core() : context_(std::make_unique<VerilatedContext>()), model_(std::make_unique<Rocket>(context_.get())) {
        set_reset(1);
        for (unsigned cycle = 0; cycle < reset_cycles; ++cycle) {
            settle();
            edge();
        }
        set_reset(0);
    }

    ~Core() { model_->final(); }

    RocketState run(RocketBus& bus, uint64_t until) {
        bool finished = false;
        while (cycle_ < until && !finished) {
            memory_.drive(*model_, cycle_);
            devices_.drive(*model_, cycle_);
            settle();
            const bool asked_memory = memory_.sample(*model_, cycle_, bus);
            const bool asked_device = devices_.sample(*model_, cycle_, bus);
            if (asked_memory || asked_device) finished = bus.finished(bus.context);
            edge();
            ++cycle_;
        }
        return {cycle_, instructions()};
    }

  private:
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Rocket> model_;
    AxiSlave<MemoryPins> memory_;
    AxiSlave<DevicePins> devices_;
    uint64_t cycle_ = 0;

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

void* rocket_create() { return new rocket::Core; }

void rocket_destroy(void* core) { delete static_cast<rocket::Core*>(core); }

RocketState rocket_run(void* core, RocketBus* bus, uint64_t until) {
    return static_cast<rocket::Core*>(core)->run(*bus, until);
}
}
