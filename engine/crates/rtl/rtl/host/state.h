// The state of a copy of the unit as bytes: Verilator's of the design, and the host's of its channels. Only with designs
// that are compiled for checkpoints, after host.cpp: others do without the code that Verilator adds.
#pragma once
#include "verilated_save.h"

namespace rackwright {

using Bytes = std::vector<uint8_t>;

// Appends what it is given to bytes.
class StateOutput final : public VerilatedSerialize {
  public:
    static constexpr bool restores = false;

    explicit StateOutput(Bytes& bytes) : bytes_(bytes) {}
    void flush() override {
        bytes_.insert(bytes_.end(), m_bufp, m_cp);
        m_cp = m_bufp;
    }
    template <class Value>
    void operator()(Value& value) {
        write(&value, sizeof value);
    }

  private:
    Bytes& bytes_;
};

// Reads it back, up to the end of the bytes.
class StateInput final : public VerilatedDeserialize {
  public:
    static constexpr bool restores = true;

    StateInput(const uint8_t* bytes, size_t size) : rest_(bytes), left_(size) { m_endp = m_bufp; }
    void fill() override {
        if (m_cp > m_endp) throw Halted{};
        const size_t kept = m_endp - m_cp;
        std::memmove(m_bufp, m_cp, kept);
        const size_t taken = std::min(left_, bufferSize() - kept);
        std::memcpy(m_bufp + kept, rest_, taken);
        rest_ += taken;
        left_ -= taken;
        m_cp = m_bufp;
        m_endp = m_bufp + kept + taken;
    }
    template <class Value>
    void operator()(Value& value) {
        read(&value, sizeof value);
    }
    // Whether there was exactly as much as was read.
    bool ended() const { return left_ == 0 && m_cp == m_endp; }

  private:
    const uint8_t* rest_;
    size_t left_;
};

template <class By, class Item>
void pass(By& by, DueQueue<Item>& queue) {
    uint64_t count = 0;
    while (queue.ready(UINT64_MAX, count)) ++count;
    if constexpr (By::restores) queue = DueQueue<Item>();
    by(count);
    for (uint64_t item = 0; item < count; ++item) {
        if constexpr (By::restores) {
            Item saved;
            by(saved);
            queue.push(saved);
        } else {
            by(queue.behind(item));
        }
    }
}

template <class By, class Pins>
void pass(By& by, MemoryChannel<Pins>& channel, Model&) {
    pass(by, channel.responses);
}

template <class By, class Pins>
void pass(By& by, CommandChannel<Pins>& channel, Model&) {
    pass(by, channel.commands);
    by(channel.accepted);
    by(channel.last_accept);
}

template <class By, class Pins>
void pass(By& by, RegisterChannel<Pins>& channel, Model&) {
    pass(by, channel.accesses);
    by(channel.unanswered);
}

template <class By, class Pins>
void pass(By&, StreamOutput<Pins>&, Model&) {}

// Which flits are joined is decided anew in each cycle.
template <class By, class Pins>
void pass(By& by, StreamInput<Pins>& channel, Model&) {
    pass(by, channel.flits);
}

// The level that the line had when it was last sampled: a further sample is a change, or is not.
template <class Pins>
uint8_t sampled_level(InterruptLine<Pins> line, Model& model) {
    std::vector<RackwrightInterrupt> changes;
    line.sample(model, 0, changes);
    const bool level = Pins::level(model);
    return changes.empty() ? level : !level;
}

template <class By, class Pins>
void pass(By& by, InterruptLine<Pins>& line, Model& model) {
    uint8_t level = sampled_level(line, model);
    by(level);
    if constexpr (By::restores) {
        auto& pin = Pins::level(model);
        const auto present = pin;
        std::vector<RackwrightInterrupt> changes;
        pin = level;
        line.sample(model, 0, changes);
        pin = present;
    }
}

// In the source that includes this one: passes each channel of the design.
template <class By>
void pass_channels(By& by, binding::Channels& channels, Model& model);

// The model comes first: lines are sampled at its pins.
template <class By>
void pass(By& by, RackwrightHost& host) {
    if constexpr (By::restores) {
        by >> host.model;
    } else {
        by << host.model;
    }
    by(host.cycle);
    by(host.evaluated);
    by(host.quiet_cycles);
    by(host.events.total);
    pass_channels(by, host.channels, host.model);
}

}  // namespace rackwright

extern "C" {

// The state between two steps. The bytes stay valid until this thread saves another copy.
void rackwright_save(RackwrightHost* host, const uint8_t** bytes, uint64_t* size) {
    static thread_local rackwright::Bytes saved;
    saved.clear();
    host->evaluating([host] {
        rackwright::StateOutput output(saved);
        rackwright::pass(output, *host);
        output.flush();
    });
    *bytes = saved.data();
    *size = saved.size();
}

// Continues from such a state of a copy of the same design; returns 0 if it is none. The copy cannot be used then.
uint32_t rackwright_restore(RackwrightHost* host, const uint8_t* bytes, uint64_t size) {
    bool read = false;
    host->evaluating([&] {
        rackwright::StateInput input(bytes, size);
        rackwright::pass(input, *host);
        read = input.ended();
    });
    return read && !host->broken();
}
}
