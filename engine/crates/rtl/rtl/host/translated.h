// The command port of a unit that translates addresses.
//
// Commands come with what decides how their addresses are translated: the registers of the hart as they were when it
// issued them. The engine writes those registers like those of a unit, before the command; a write to `fence_register`
// is an `sfence.vma` of the hart.
#pragma once
#include <algorithm>

#include "channels.h"

namespace rackwright {

// Commands and fences, each from its due cycle on.
class TranslatedCommands {
  public:
    struct Item {
        uint64_t due;
        RackwrightCommand command;
        uint64_t satp;
        uint64_t mode;
    };
    struct Fence {
        uint64_t due;
    };

    static constexpr uint32_t satp_register = 0;
    // Bits 1 and 0 the privilege, bit 2 `mstatus.SUM`, bit 3 `mstatus.MXR`.
    static constexpr uint32_t mode_register = 8;
    static constexpr uint32_t fence_register = 16;

    DueQueue<Item> items;
    DueQueue<Fence> fences;

    void push(const RackwrightCommand& command) { items.push({command.due, command, satp_, mode_}); }
    void push(const RackwrightRegisterAccess& access) {
        switch (access.address) {
            case satp_register: satp_ = access.data; break;
            case mode_register: mode_ = access.data; break;
            case fence_register: fences.push({access.due}); break;
        }
    }
    uint64_t next_due() const { return std::min(items.next_due(), fences.next_due()); }

  private:
    uint64_t satp_ = 0;
    uint64_t mode_ = 0;
};

template <class Pins>
class TranslatedCommandChannel {
  public:
    TranslatedCommands commands;
    uint64_t accepted = 0;
    uint64_t last_accept = 0;

    template <class Model>
    void drive(Model& model, uint64_t cycle) {
        Pins::response_ready(model) = 1;
        Pins::fence(model) = commands.fences.ready(cycle);
        const bool valid = commands.items.ready(cycle);
        Pins::request_valid(model) = valid;
        if (valid) {
            const TranslatedCommands::Item& item = commands.items.front();
            Pins::request_opcode(model) = item.command.opcode;
            Pins::request_funct(model) = item.command.funct;
            Pins::request_rs1(model) = item.command.rs1;
            Pins::request_rs2(model) = item.command.rs2;
            Pins::request_rd(model) = item.command.rd;
            Pins::request_xd(model) = item.command.xd;
            Pins::request_satp(model) = item.satp;
            Pins::request_privilege(model) = item.mode & 3;
            Pins::request_sum(model) = item.mode >> 2 & 1;
            Pins::request_mxr(model) = item.mode >> 3 & 1;
        }
    }

    template <class Model>
    void sample(Model& model, uint64_t cycle, std::vector<RackwrightCommandResponse>& responses) {
        if (Pins::fence(model)) commands.fences.pop();
        if (Pins::request_valid(model) && Pins::request_ready(model)) {
            commands.items.pop();
            ++accepted;
            last_accept = cycle;
        }
        if (Pins::response_valid(model)) {
            responses.push_back({cycle, Pins::response_data(model), Pins::response_rd(model)});
        }
    }
};

}  // namespace rackwright
