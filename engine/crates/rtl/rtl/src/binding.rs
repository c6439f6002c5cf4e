//! Writes `binding.h`: the types through which `host/host.cpp` reaches the pins of one design.

use crate::manifest::APB_BYTES;
use crate::pins::{self, Pin};
use crate::{clocks, verilator, ClockPins, Direction, Level, Manifest, Naming, Port};
use std::fmt::Write;

/// The text of `binding.h`.
pub(crate) fn header(manifest: &Manifest) -> String {
    let mut out = String::from(INCLUDES);
    for (name, _) in verilator::added(manifest) {
        line(&mut out, &format!("#include \"{name}\""));
    }
    out.push_str(DECLARATIONS);
    control_pins(&mut out, manifest);
    let channels = channels(&mut out, manifest);
    channel_set(&mut out, manifest, &channels);
    inputs(&mut out, manifest);
    events(&mut out, manifest);
    out.push_str("}  // namespace binding\n");
    out
}

const INCLUDES: &str = "// Written by the engine from the unit's manifest.
#pragma once
#include <algorithm>

#include \"Vunit.h\"
#include \"Vunit___024root.h\"
#include \"axi.h\"
#include \"channels.h\"
#include \"stream.h\"
";

const DECLARATIONS: &str = "
using Model = Vunit;

// Evaluates the logic and nothing else, as Verilator's own `Vunit::eval` does in its middle.
void Vunit___024root___eval(Vunit___024root* root);

namespace binding {

inline void evaluate(Model& model) { Vunit___024root___eval(model.rootp); }

";

fn control_pins(out: &mut String, manifest: &Manifest) {
    match manifest.clocks() {
        [only] => {
            accessor(out, "inline", "clock", &only.pin);
            resets(out, manifest, [""; 2]);
        }
        several => several_clocks(out, manifest, several),
    }
    let asynchronous = manifest.clocks().iter().any(|clock| clock.asynchronous);
    line(
        out,
        &format!("constexpr bool asynchronous_reset = {asynchronous};"),
    );
    match &manifest.idle {
        Some(pin) => line(
            out,
            &format!("inline bool idle(Model& model) {{ return model.rootp->{pin}; }}"),
        ),
        None => line(out, "inline bool idle(Model&) { return false; }"),
    }
}

/// The functions that assert and release all resets, each with the statements to execute first.
fn resets(out: &mut String, manifest: &Manifest, first: [&str; 2]) {
    for (function, begins, first) in [("begin_reset", true, first[0]), ("end_reset", false, first[1])] {
        let clocks = manifest.clocks().iter();
        let sets = clocks.filter_map(|clock| {
            let level = u8::from((clock.active == Level::High) == begins);
            Some(format!("model.rootp->{} = {level};", clock.reset.as_deref()?))
        });
        let sets: Vec<String> = sets.collect();
        let body = match (sets.is_empty(), first) {
            (true, "") => "Model&) {}".into(),
            (true, first) => format!("Model&) {{ {first} }}"),
            (false, first) => format!("Model& model) {{ {first}{} }}", sets.join(" ")),
        };
        line(out, &format!("inline void {function}({body}"));
    }
}

/// The clocks of a unit that has more than one, which the host sets instead of a single pin.
fn several_clocks(out: &mut String, manifest: &Manifest, clocks: &[ClockPins]) {
    line(out, "struct Clocks {");
    line(out, "    Model& model;");
    line(out, "    void operator=(int level) const {");
    for clock in clocks {
        let ratio = clocks::ratio(&clocks[0], clock);
        let pin = &clock.pin;
        line(
            out,
            &format!("        rackwright::set_clock<{ratio}>(model.rootp->{pin}, level);"),
        );
    }
    line(out, "    }");
    line(out, "};");
    line(out, "inline Clocks clock(Model& model) { return {model}; }");
    let resetting = |yes: bool| format!("rackwright::in_reset = {yes}; ");
    resets(out, manifest, [&resetting(true), &resetting(false)]);
}

/// The condition before an action on a port of a clock other than the first: the action is executed in cycles with a
/// rising edge of that clock.
fn on_clock(manifest: &Manifest, port: &str) -> String {
    let clocks = manifest.clocks();
    let of = clocks
        .iter()
        .find(|clock| clock.ports.iter().any(|name| name == port));
    match of.map(|clock| clocks::ratio(&clocks[0], clock)) {
        Some(ratio) if ratio > 1 => format!("if (cycle % {ratio} == 0) "),
        _ => String::new(),
    }
}

/// One member of the channel set.
struct Channel {
    member: String,
    kind: ChannelKind,
    index: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChannelKind {
    Command,
    TranslatedCommand,
    Memory,
    WatchingMemory,
    Register,
    Axi,
    CheckedAxi,
    Lite,
    Apb,
    TileLinkRegisters,
    TileLinkMemory,
    StreamOut,
    StreamIn,
    AxiStreamOut,
    AxiStreamIn,
    Interrupt,
}

impl ChannelKind {
    fn template(self) -> &'static str {
        match self {
            ChannelKind::Command => "CommandChannel",
            ChannelKind::TranslatedCommand => "TranslatedCommandChannel",
            ChannelKind::Memory => "MemoryChannel",
            ChannelKind::WatchingMemory => "WatchingMemoryChannel",
            ChannelKind::Register => "RegisterChannel",
            ChannelKind::Axi => "AxiChannel",
            ChannelKind::CheckedAxi => "CheckedAxiChannel",
            ChannelKind::Lite => "LiteChannel",
            ChannelKind::Apb => "ApbChannel",
            ChannelKind::TileLinkRegisters => "TileLinkRegisters",
            ChannelKind::TileLinkMemory => "TileLinkMemory",
            ChannelKind::StreamOut => "StreamOutput",
            ChannelKind::StreamIn => "StreamInput",
            ChannelKind::AxiStreamOut => "AxiStreamOutput",
            ChannelKind::AxiStreamIn => "AxiStreamInput",
            ChannelKind::Interrupt => "InterruptLine",
        }
    }

    /// The host's buffer for the samples of the channel.
    fn buffer(self) -> &'static str {
        match self {
            ChannelKind::Command | ChannelKind::TranslatedCommand => "command_responses",
            ChannelKind::Register | ChannelKind::Lite | ChannelKind::Apb | ChannelKind::TileLinkRegisters => {
                "register_answers"
            }
            ChannelKind::Memory
            | ChannelKind::WatchingMemory
            | ChannelKind::Axi
            | ChannelKind::CheckedAxi
            | ChannelKind::TileLinkMemory => "requests",
            ChannelKind::StreamOut
            | ChannelKind::StreamIn
            | ChannelKind::AxiStreamOut
            | ChannelKind::AxiStreamIn => "flits",
            ChannelKind::Interrupt => "interrupts",
        }
    }

    /// The channel's queue of items that wait for the unit; none if the channel is an output.
    fn queue(self) -> Option<&'static str> {
        match self {
            ChannelKind::Command | ChannelKind::TranslatedCommand => Some("commands"),
            ChannelKind::Register | ChannelKind::Lite | ChannelKind::Apb | ChannelKind::TileLinkRegisters => {
                Some("accesses")
            }
            ChannelKind::Memory
            | ChannelKind::WatchingMemory
            | ChannelKind::Axi
            | ChannelKind::CheckedAxi
            | ChannelKind::TileLinkMemory => Some("responses"),
            ChannelKind::StreamIn | ChannelKind::AxiStreamIn => Some("flits"),
            ChannelKind::StreamOut | ChannelKind::AxiStreamOut | ChannelKind::Interrupt => None,
        }
    }

    fn is_memory(self) -> bool {
        matches!(
            self,
            ChannelKind::Memory
                | ChannelKind::WatchingMemory
                | ChannelKind::Axi
                | ChannelKind::CheckedAxi
                | ChannelKind::TileLinkMemory
        )
    }

    /// Whether it stores its pending requests itself.
    fn answers(self) -> bool {
        matches!(
            self,
            ChannelKind::Register
                | ChannelKind::Lite
                | ChannelKind::Apb
                | ChannelKind::TileLinkRegisters
                | ChannelKind::TileLinkMemory
                | ChannelKind::Axi
                | ChannelKind::CheckedAxi
        )
    }

    /// Whether `host/state.h` knows its state.
    fn has_saved_state(self) -> bool {
        matches!(
            self,
            ChannelKind::Command
                | ChannelKind::Memory
                | ChannelKind::Register
                | ChannelKind::StreamOut
                | ChannelKind::StreamIn
                | ChannelKind::Interrupt
        )
    }

    fn is_command(self) -> bool {
        matches!(self, ChannelKind::Command | ChannelKind::TranslatedCommand)
    }

    fn is_stream(self) -> bool {
        self.takes_frames() || matches!(self, ChannelKind::StreamOut | ChannelKind::AxiStreamOut)
    }

    fn takes_frames(self) -> bool {
        matches!(self, ChannelKind::StreamIn | ChannelKind::AxiStreamIn)
    }
}

fn channels(out: &mut String, manifest: &Manifest) -> Vec<Channel> {
    let mut found = Vec::new();
    let mut memory_ports = 0;
    let mut stream_ports = 0;
    for port in &manifest.ports {
        let (kind, bytes) = match port {
            Port::Command { translated: true, .. } => (ChannelKind::TranslatedCommand, 0),
            Port::Command { .. } => (ChannelKind::Command, 0),
            Port::Mmio { .. } => (ChannelKind::Register, 0),
            Port::Memory {
                bytes, watch: true, ..
            } => (ChannelKind::WatchingMemory, *bytes),
            Port::Memory { bytes, .. } => (ChannelKind::Memory, *bytes),
            Port::Axi4 {
                bytes,
                naming: Naming::Elaborated,
                ..
            } => (ChannelKind::Axi, *bytes),
            Port::Axi4 { bytes, .. } => (ChannelKind::CheckedAxi, *bytes),
            Port::Axi4Lite { bytes, .. } => (ChannelKind::Lite, *bytes),
            Port::Apb { .. } => (ChannelKind::Apb, APB_BYTES),
            Port::TileLink {
                direction: Direction::In,
                bytes,
                ..
            } => (ChannelKind::TileLinkRegisters, *bytes),
            Port::TileLink { bytes, .. } => (ChannelKind::TileLinkMemory, *bytes),
            Port::Stream { direction, bytes, .. } => (stream_kind(*direction), *bytes),
            Port::AxiStream {
                direction: Direction::Out,
                bytes,
                ..
            } => (ChannelKind::AxiStreamOut, *bytes),
            Port::AxiStream { bytes, .. } => (ChannelKind::AxiStreamIn, *bytes),
            Port::Interrupt { .. } => (ChannelKind::Interrupt, 0),
            Port::Event { .. } => continue,
        };
        let index = if kind.is_stream() {
            stream_ports
        } else {
            memory_ports
        };
        memory_ports += usize::from(kind.is_memory());
        stream_ports += usize::from(kind.is_stream());
        pins_type(out, port, bytes, index);
        found.push(Channel {
            member: port.name().to_string(),
            kind,
            index,
        });
    }
    found
}

fn stream_kind(direction: Direction) -> ChannelKind {
    match direction {
        Direction::Out => ChannelKind::StreamOut,
        Direction::In => ChannelKind::StreamIn,
    }
}

fn pins_type(out: &mut String, port: &Port, bytes: u32, index: usize) {
    let name = port.name();
    line(out, &format!("struct {name}_pins {{"));
    line(out, &format!("    static constexpr unsigned bytes = {bytes};"));
    line(out, &format!("    static constexpr uint8_t index = {index};"));
    line(
        out,
        &format!("    static constexpr const char* name = \"{name}\";"),
    );
    for pin in pins::of(port) {
        if pin.is_on(port) {
            accessor(out, "    static", pin.accessor, &pin.of(port));
        } else {
            absent(out, pin, port);
        }
    }
    if let Port::Interrupt { name, pin } = port {
        accessor(out, "    static", "level", &pins::interrupt(name, pin));
    }
    if let Port::AxiStream { keep, last, .. } = port {
        line(out, &format!("    static constexpr bool has_keep = {keep};"));
        line(out, &format!("    static constexpr bool has_last = {last};"));
    }
    line(out, "};");
}

fn channel_set(out: &mut String, manifest: &Manifest, channels: &[Channel]) {
    line(out, "struct Channels {");
    for Channel { member, kind, .. } in channels {
        line(
            out,
            &format!("    rackwright::{}<{member}_pins> {member};", kind.template()),
        );
    }
    drive_and_sample(out, manifest, channels);
    due_times(out, channels);
    pushes(out, channels);
    acceptance(out, channels);
    line(out, "};");
}

/// The function that passes the state of each channel, for `host/state.h`.
///
/// # Errors
/// The name of a port whose channel has state that cannot be saved.
pub(crate) fn state(manifest: &Manifest) -> Result<String, String> {
    let mut out = String::from(
        "namespace rackwright {
template <class By>
void pass_channels([[maybe_unused]] By& by, [[maybe_unused]] binding::Channels& channels, [[maybe_unused]] Model& model) {
",
    );
    for Channel { member, kind, .. } in channels(&mut String::new(), manifest) {
        if !kind.has_saved_state() {
            return Err(member);
        }
        line(&mut out, &format!("    pass(by, channels.{member}, model);"));
    }
    out.push_str("}\n}  // namespace rackwright\n");
    Ok(out)
}

fn drive_and_sample(out: &mut String, manifest: &Manifest, channels: &[Channel]) {
    line(out, "    void drive(Model& model, uint64_t cycle) {");
    if manifest.clocks().len() > 1 {
        line(out, "        rackwright::cycle_here = cycle;");
    }
    for Channel { member, .. } in channels {
        let on_clock = on_clock(manifest, member);
        line(out, &format!("        {on_clock}{member}.drive(model, cycle);"));
    }
    line(out, "    }");
    line(out, "    template <class Host>");
    line(out, "    void sample(Model& model, uint64_t cycle, Host& host) {");
    for Channel { member, kind, .. } in channels {
        let on_clock = on_clock(manifest, member);
        line(
            out,
            &format!(
                "        {on_clock}{member}.sample(model, cycle, host.{});",
                kind.buffer()
            ),
        );
    }
    line(out, "    }");
}

fn due_times(out: &mut String, channels: &[Channel]) {
    line(out, "    uint64_t next_due() const {");
    line(out, "        uint64_t next = UINT64_MAX;");
    for Channel { member, kind, .. } in channels {
        let Some(queue) = kind.queue() else { continue };
        line(
            out,
            &format!("        next = std::min(next, {member}.{queue}.next_due());"),
        );
    }
    line(out, "        return next;");
    line(out, "    }");
    let answering = channels.iter().filter(|channel| channel.kind.answers());
    let terms = answering.map(|channel| format!(" && {}.unanswered == 0", channel.member));
    line(
        out,
        &format!(
            "    bool all_answered() const {{ return true{}; }}",
            terms.collect::<String>()
        ),
    );
}

fn pushes(out: &mut String, channels: &[Channel]) {
    line(out, "    void push(const RackwrightResponse& response) {");
    line(out, "        switch (response.port) {");
    for Channel { member, index, .. } in channels.iter().filter(|channel| channel.kind.is_memory()) {
        line(
            out,
            &format!("            case {index}: {member}.responses.push(response); break;"),
        );
    }
    line(out, "        }");
    line(out, "    }");
    push_flits(out, channels);
    let command = channels.iter().find(|channel| channel.kind.is_command());
    push_to(out, command, "RackwrightCommand");
    // A unit that translates receives the hart's registers in the same way as writes to its own.
    let writable = |channel: &&Channel| {
        matches!(
            channel.kind,
            ChannelKind::Register
                | ChannelKind::Lite
                | ChannelKind::Apb
                | ChannelKind::TileLinkRegisters
                | ChannelKind::TranslatedCommand
        )
    };
    push_to(out, channels.iter().find(writable), "RackwrightRegisterAccess");
}

fn push_flits(out: &mut String, channels: &[Channel]) {
    line(out, "    void push(const RackwrightFlit& flit) {");
    line(out, "        switch (flit.port) {");
    let inputs = channels.iter().filter(|channel| channel.kind.takes_frames());
    for Channel { member, index, .. } in inputs {
        line(
            out,
            &format!("            case {index}: {member}.flits.push(flit); break;"),
        );
    }
    line(out, "        }");
    line(out, "    }");
}

fn push_to(out: &mut String, channel: Option<&Channel>, item: &str) {
    match channel.and_then(|channel| Some((&channel.member, channel.kind.queue()?))) {
        Some((member, queue)) => {
            line(
                out,
                &format!("    void push(const {item}& item) {{ {member}.{queue}.push(item); }}"),
            );
        }
        None => line(out, &format!("    void push(const {item}&) {{}}")),
    }
}

fn acceptance(out: &mut String, channels: &[Channel]) {
    let command = channels.iter().find(|channel| channel.kind.is_command());
    let (accepted, last) = match command {
        Some(Channel { member, .. }) => (format!("{member}.accepted"), format!("{member}.last_accept")),
        None => ("0".into(), "0".into()),
    };
    line(
        out,
        &format!("    uint64_t commands_accepted() const {{ return {accepted}; }}"),
    );
    line(
        out,
        &format!("    uint64_t last_accept() const {{ return {last}; }}"),
    );
}

/// A visitor over all data inputs, in a fixed order.
fn inputs(out: &mut String, manifest: &Manifest) {
    line(out, "template <class Visitor>");
    line(
        out,
        "inline void each_input([[maybe_unused]] Model& model, [[maybe_unused]] Visitor visit) {",
    );
    if manifest.clocks().len() > 1 {
        line(out, "    visit(rackwright::cycle_here);");
    }
    for port in &manifest.ports {
        let inputs = pins::of(port).iter();
        for pin in inputs.filter(|pin| pin.is_input(port) && pin.is_on(port)) {
            line(out, &format!("    visit(model.{});", pin.of(port)));
        }
    }
    line(out, "}");
}

fn events(out: &mut String, manifest: &Manifest) {
    let count = manifest.events().count();
    line(out, "struct Events {");
    line(out, &format!("    uint64_t total[{}] = {{}};", count.max(1)));
    line(
        out,
        "    void count([[maybe_unused]] Model& model, [[maybe_unused]] uint64_t cycles) {",
    );
    for (index, name) in manifest.events().enumerate() {
        line(
            out,
            &format!("        total[{index}] += cycles * model.rootp->event_{name};"),
        );
    }
    line(out, "    }");
    line(out, "};");
}

fn accessor(out: &mut String, prefix: &str, function: &str, pin: &str) {
    line(
        out,
        &format!("{prefix} auto& {function}(Model& model) {{ return model.rootp->{pin}; }}"),
    );
}

/// An unused variable in place of a pin that a port does not have.
fn absent(out: &mut String, pin: &Pin, port: &Port) {
    let function = pin.accessor;
    let body = if pin.is_input(port) {
        "thread_local uint64_t none; return none;".to_string()
    } else {
        format!("static constexpr uint64_t none = {}; return none;", pin.absent())
    };
    line(out, &format!("    static auto& {function}(Model&) {{ {body} }}"));
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("writing to a string cannot fail");
}
