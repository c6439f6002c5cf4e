// Hosts one Verilated design: a clock, its channels, and the C interface of interface.h.
//
// `binding.h` is written beside the Verilated sources by src/binding.rs. It names the pins:
// `Model`, `Channels` (a set of channels with `each_*` visitors) and `Events`.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "stimulus.h"
#include "verilated.h"
#ifdef RACKWRIGHT_ACTIVITY
#include "verilated_saif_c.h"
#elif defined(RACKWRIGHT_WAVES)
#include "verilated_fst_c.h"
#endif

namespace {

#ifdef RACKWRIGHT_ACTIVITY
// How often each signal changes, and how long it is 1, in the cycles after reset that are evaluated.
using Waves = VerilatedSaifC;
constexpr bool counts_activity = true;
#elif defined(RACKWRIGHT_WAVES)
using Waves = VerilatedFstC;
constexpr bool counts_activity = false;
#endif

// No cycle of reset is visible outside: the unit sees it before cycle 0.
constexpr int reset_cycles = 8;

// What to do with the clock of an idle unit, as of rackwright_clocking.
enum Clocking : uint32_t { clock_always = 0, skip_idle = 1, check_idle = 2 };

// A call returns early rather than collect more requests than this.
constexpr size_t longest_step = 4096;

// What an evaluation ends in that Verilator cannot go on with.
struct Halted {};

// The folder in which the unit that this thread evaluates now finds its files.
thread_local const std::string* folder_here = nullptr;

// `file` without its folder and, if there is one, `line`: what an error begins with.
std::string place(const char* file, int line) {
    const char* folder_end = std::strrchr(file, '/');
    const std::string name = folder_end == nullptr ? file : folder_end + 1;
    return line == 0 ? name : name + ":" + std::to_string(line);
}

}  // namespace

struct RackwrightHost {
    VerilatedContext context;
    Model model{&context};
    binding::Channels channels;
    binding::Events events;
    std::vector<RackwrightRequest> requests;
    std::vector<RackwrightCommandResponse> command_responses;
    std::vector<RackwrightRegisterAnswer> register_answers;
    std::vector<RackwrightFlit> flits;
    std::vector<RackwrightInterrupt> interrupts;
    uint64_t cycle = 0;
    uint64_t evaluated = 0;
    uint32_t clocking = skip_idle;
    // The first cycle in which something happened although the unit had said that nothing would.
    uint64_t idle_broken = UINT64_MAX;
    // The first cycle in which the unit stopped the simulation, and why.
    uint64_t stopped_at = UINT64_MAX;
    std::string complaint;
    uint64_t quiet_cycles = 0;
    bool recording = false;
    rackwright::Stimulus stimulus;
    const std::string folder;
    const std::vector<std::string> arguments;
#ifdef RACKWRIGHT_WAVES
    std::unique_ptr<Waves> waves;
#endif

    // The host whose unit this thread evaluates now.
    static thread_local RackwrightHost* evaluated_here;

    RackwrightHost(const char* wave_path, const char* unit_folder, std::vector<std::string> plus_arguments)
        : folder(unit_folder), arguments(std::move(plus_arguments)) {
        evaluating([&] {
            rackwright::give_arguments(context, arguments);
            open_waves(wave_path);
            requests.reserve(longest_step);
            rackwright::begin_reset(model);
            for (int i = 0; i < reset_cycles; ++i) tick();
            binding::end_reset(model);
            count_activity(wave_path);
        });
    }

    ~RackwrightHost() {
        evaluating([this] { model.final(); });
#ifdef RACKWRIGHT_WAVES
        if (waves) waves->close();
#endif
    }

    // Does what evaluates the unit. One that cannot be evaluated any further has stopped.
    template <class Act>
    void evaluating(Act act) {
        evaluated_here = this;
        folder_here = &folder;
        try {
            act();
        } catch (const Halted&) {
        }
        evaluated_here = nullptr;
        folder_here = nullptr;
    }

    void open_waves([[maybe_unused]] const char* path) {
#ifdef RACKWRIGHT_WAVES
        if (path == nullptr) return;
        context.traceEverOn(true);
        waves = std::make_unique<Waves>();
        model.trace(waves.get(), 99);
        if (!counts_activity) waves->open(path);
#endif
    }

    // What happens in reset is not counted.
    void count_activity([[maybe_unused]] const char* path) {
#ifdef RACKWRIGHT_ACTIVITY
        if (waves) waves->open(path);
#endif
    }

    // Around an evaluation Verilator takes locks, to print messages and to free class objects. That is a tenth of the
    // time of a small design, and soon enough at the end of a call; only waves need it every time.
    void evaluate() {
#ifdef RACKWRIGHT_WAVES
        model.eval();
#else
        binding::evaluate(model);
#endif
    }

    void settle() {
        binding::clock(model) = 0;
        evaluate();
    }

    void edge() {
        binding::clock(model) = 1;
        evaluate();
        dump(1);
        context.timeInc(1);
    }

    void dump([[maybe_unused]] uint64_t half) {
#ifdef RACKWRIGHT_WAVES
        if (!waves || !waves->isOpen()) return;
        waves->dump(2 * (counts_activity ? evaluated : context.time()) + half);
#endif
    }

    // Waves show what an idle unit is given; its activity has no cycle for that.
    void dump_skipped() {
#ifndef RACKWRIGHT_ACTIVITY
        dump(0);
#endif
    }

    void tick() {
        settle();
        dump(0);
        edge();
    }

    bool idle() {
        return binding::idle(model) && channels.next_due() > cycle && channels.all_answered();
    }

    // One cycle of the unit's clock.
    void simulate() {
        channels.drive(model, cycle);
        if (recording) stimulus.record(model);
        settle();
        dump(0);
        channels.sample(model, cycle, *this);
        events.count(model, 1);
        edge();
        ++cycle;
        ++evaluated;
    }

    // Passes over the cycles before `until`: only the outputs, which stay as they are, are looked at.
    void skip(uint64_t until) {
        channels.drive(model, cycle);
        settle();
        dump_skipped();
        // An interrupt line may have changed with the edge that made the unit idle.
        channels.sample(model, cycle, *this);
        events.count(model, until - cycle);
        context.timeInc(until - cycle);
        cycle = until;
    }

    // One cycle in which nothing may happen, since the unit says so and is given nothing.
    void check_idle_cycle() {
        const size_t before = produced();
        const size_t levels = interrupts.size();
        simulate();
        // As in `skip`, the interrupt line may still change in the first one.
        const bool quiet = produced() == before && (interrupts.size() == levels || quiet_cycles == 0);
        if (!quiet || !binding::idle(model)) idle_broken = std::min(idle_broken, cycle - 1);
        ++quiet_cycles;
    }

    // How much the unit has given out in this call.
    size_t produced() const {
        return requests.size() + command_responses.size() + register_answers.size() + flits.size();
    }

    void advance(uint64_t until) {
        if (clocking == clock_always || !idle()) {
            quiet_cycles = 0;
            simulate();
        } else if (clocking == check_idle) {
            check_idle_cycle();
        } else {
            skip(std::min(channels.next_due(), until));
        }
    }

    // Whoever waits for an answer goes on in its cycle, and so must not find the unit ahead of it.
    bool answered() const { return !command_responses.empty() || !register_answers.empty(); }

    // What comes first is the reason for what follows.
    void complain(const char* text) {
        if (complaint.empty()) complaint = text;
    }

    void stop() { stopped_at = std::min(stopped_at, cycle); }

    bool broken() const { return idle_broken != UINT64_MAX || stopped_at != UINT64_MAX; }

    void step(uint64_t until) {
        requests.clear();
        command_responses.clear();
        register_answers.clear();
        flits.clear();
        interrupts.clear();
        evaluating([this, until] {
            const uint64_t evaluated_before = evaluated;
            while (cycle < until && requests.size() < longest_step && !answered() && !broken()) {
                advance(until);
            }
            if (evaluated != evaluated_before) {
                model.eval();
            }
        });
    }

    void replay() const {
        folder_here = &folder;
        try {
            stimulus.replay(reset_cycles, arguments);
        } catch (const Halted&) {
        }
        folder_here = nullptr;
    }
};

thread_local RackwrightHost* RackwrightHost::evaluated_here = nullptr;

namespace rackwright {
void complain(const std::string& reason) {
    RackwrightHost* host = RackwrightHost::evaluated_here;
    host->complain(reason.c_str());
    host->stop();
}
}  // namespace rackwright

// $stop, and the end of $error and $fatal.
void vl_stop(const char* file, int line, const char*) {
    RackwrightHost* host = RackwrightHost::evaluated_here;
    if (host == nullptr) return;
    host->complain((place(file, line) + ": $stop").c_str());
    host->stop();
}

void vl_finish(const char* file, int line, const char*) {
    RackwrightHost* host = RackwrightHost::evaluated_here;
    if (host == nullptr) return;
    host->complain((place(file, line) + ": $finish").c_str());
    host->stop();
}

// An error from which Verilator's code does not go on: it must not be returned to.
void vl_fatal(const char* file, int line, const char*, const char* message) {
    if (RackwrightHost* host = RackwrightHost::evaluated_here) {
        // Verilator says by a word in capitals which of its errors it is.
        const char* text = message;
        while (std::isupper(static_cast<unsigned char>(*text))) ++text;
        text = text != message && std::strncmp(text, ": ", 2) == 0 ? text + 2 : message;
        // It counts the lines of a file of data from 0 on.
        const bool of_data = std::strncmp(text, "$readmem", 8) == 0;
        const std::string said_at = place(file, line + of_data);
        const bool of_loop = std::strstr(text, "did not converge") != nullptr;
        host->complain(((said_at.empty() ? text : said_at + ": " + text) +
                        (of_loop ? ": a signal depends on itself without a register in between" : ""))
                           .c_str());
        host->stop();
    }
    throw Halted{};
}

void vl_warn(const char* file, int line, const char*, const char* message) {
    const RackwrightHost* host = RackwrightHost::evaluated_here;
    // That a file is not there has been said.
    if (host != nullptr && host->broken()) return;
    std::fprintf(stderr, "%%Warning: %s: %s\n", place(file, line).c_str(), message);
}

extern "C" {

// What Verilator opens for a unit is beside its manifest. One that reads what is not there has stopped.
FILE* rackwright_fopen(const char* path, const char* mode) {
    const bool beside = folder_here != nullptr && path[0] != '/';
    FILE* file = std::fopen((beside ? *folder_here + "/" + path : path).c_str(), mode);
    RackwrightHost* host = RackwrightHost::evaluated_here;
    if (file == nullptr && host != nullptr && mode[0] == 'r') {
        const std::string reason = std::strerror(errno);
        host->complain((std::string(path) + ": " + reason + (beside ? " in " + *folder_here : "")).c_str());
        host->stop();
    }
    return file;
}

int rackwright_print(const char* format, ...) {
    char text[4096];
    va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    RackwrightHost* host = RackwrightHost::evaluated_here;
    const bool complains = std::strstr(text, "%Error") != nullptr || std::strstr(text, "%Fatal") != nullptr;
    if (host == nullptr || !complains) return std::fputs(text, stdout);
    host->complain(text);
    return 0;
}

uint32_t rackwright_version() { return rackwright_interface_version; }

RackwrightHost* rackwright_create(const RackwrightSetup* setup) {
    try {
        return new RackwrightHost(setup->wave_path, setup->folder,
                                  {setup->arguments, setup->arguments + setup->argument_count});
    } catch (...) {
        return nullptr;
    }
}

void rackwright_destroy(RackwrightHost* host) { delete host; }

void rackwright_clocking(RackwrightHost* host, uint32_t clocking) { host->clocking = clocking; }

void rackwright_command(RackwrightHost* host, const RackwrightCommand* command) { host->channels.push(*command); }

void rackwright_register_access(RackwrightHost* host, const RackwrightRegisterAccess* access) {
    host->channels.push(*access);
}

void rackwright_respond(RackwrightHost* host, const RackwrightResponse* response) {
    host->channels.push(*response);
}

void rackwright_flit(RackwrightHost* host, const RackwrightFlit* flit) { host->channels.push(*flit); }

void rackwright_step(RackwrightHost* host, uint64_t until, RackwrightStep* step) {
    host->step(until);
    step->cycle = host->cycle;
    step->evaluated = host->evaluated;
    step->commands_accepted = host->channels.commands_accepted();
    step->last_accept = host->channels.last_accept();
    step->idle_broken = host->idle_broken;
    step->stopped_at = host->stopped_at;
    step->complaint = host->complaint.c_str();
    step->requests = host->requests.data();
    step->command_responses = host->command_responses.data();
    step->register_answers = host->register_answers.data();
    step->flits = host->flits.data();
    step->interrupts = host->interrupts.data();
    step->request_count = static_cast<uint32_t>(host->requests.size());
    step->command_response_count = static_cast<uint32_t>(host->command_responses.size());
    step->register_answer_count = static_cast<uint32_t>(host->register_answers.size());
    step->flit_count = static_cast<uint32_t>(host->flits.size());
    step->interrupt_count = static_cast<uint32_t>(host->interrupts.size());
    step->idle = host->idle() && host->channels.next_due() == UINT64_MAX;
}

void rackwright_record(RackwrightHost* host, uint32_t enabled) { host->recording = enabled != 0; }

uint64_t rackwright_recorded(const RackwrightHost* host) { return host->stimulus.cycles(); }

void rackwright_replay(const RackwrightHost* host) { host->replay(); }

uint64_t rackwright_event(const RackwrightHost* host, uint32_t index) { return host->events.total[index]; }
}
