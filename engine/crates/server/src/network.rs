use crate::bare::{self, DEVICE_LATENCY};
use crate::boot::BootInformation;
use crate::devices::Devices;
use crate::error::ServerError;
use crate::machine::Machine;
use crate::networked::{NetworkRun, NetworkView};
use crate::nic::Nic;
use crate::pager::Pager;
use crate::server::{attach, publish, Observed};
use crate::stamps::{Event, Stamp, Stamps};
use crate::ServerConfig;
use rackwright_cpu::{DeviceAccess, Environment as Mode, Hart, Interrupt, SharedCode, Stop, Timing};
use rackwright_ethernet::{Frame, Ipv4, Mac, OutputPort, PortParameters};
use rackwright_machine::Code;
use rackwright_memory::{GuestMemory, SharedHierarchy};
use rackwright_rtl::Design;
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_stats::Digest;
use rackwright_time::{Clock, Crossing, Cycle, Cycles};
use rackwright_trace::Observation;
use rackwright_unit::{AttachedUnit, Core, SentFrame};
use std::sync::Arc;

/// Cycles of the link after which hart and NIC meet while either is busy: how late a hart may see the NIC's
/// interrupt line and the timer. Within them, the hart's part comes first.
const STEP: u64 = 16;

/// Cycles of the link after which a page-fault unit is told that time has passed, while a walk waits: 10.24 us.
const TICK: u64 = 1 << 15;

/// Time of an access to the NIC, to it and back from it.
const ACCESS_LATENCY: Cycles = Cycles(DEVICE_LATENCY.0 / 2);

/// Bytes of a register.
const REGISTER_BYTES: u8 = 8;

/// What joins a server to its network.
pub struct NetworkConfig<'a> {
    /// The network interface.
    pub nic: &'a Design,
    /// The page-fault unit, if there is one.
    pub pager: Option<&'a Design>,
    /// The clock of the network.
    pub clock: Clock,
    /// Where servers of one network have their decoded programs.
    pub code: &'a Code,
    /// Its port to the link.
    pub port: PortParameters,
    /// Its hardware address.
    pub mac: Mac,
    /// Its Internet address.
    pub address: Ipv4,
    /// The addresses of other servers that its program need not ask for.
    pub neighbours: &'a [(Ipv4, Mac)],
    /// The arguments of its program, of which the first is the program's name.
    pub arguments: &'a [Vec<u8>],
    /// How its hart is observed, if it is.
    pub observation: Option<&'a Observation>,
}

/// What the hart does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Activity {
    Runs,
    /// Waits for an interrupt.
    Waits,
    /// Has begun an access to the NIC that reaches it in that cycle of the link.
    Begins(DeviceAccess, Cycle),
    /// Waits for the answer to an access.
    Accesses,
    /// Waits for the answer of the page-fault unit to a command, whose value goes to this register.
    Commands(u8),
    /// Waits for a remote page.
    Walks,
    Off,
}

/// The interrupt lines of the hart.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Lines {
    external: bool,
    software: bool,
    timer: bool,
}

/// A bare-metal program on a machine, and a NIC in RTL between them and a link. Its cycles are those of the link.
///
/// Nothing here depends on where the windows of the network end: what hart and NIC see of each other is decided at
/// multiples of [`STEP`] and at accesses to registers, both of which are the same whatever the windows.
pub(crate) struct Networked<T: Timing> {
    machine: Machine<T>,
    devices: Devices,
    nic: Nic,
    pager: Option<Pager>,
    to_hart: Crossing,
    to_link: Crossing,
    /// Everything before has happened.
    now: Cycle,
    /// The last multiple of [`STEP`] at which the lines were looked at, and what they were. What the hart itself
    /// does to them is not seen in the step in which it does.
    looked: Cycle,
    lines: Lines,
    activity: Activity,
    /// When the page-fault unit was told the time last.
    ticked: Cycle,
    /// The first cycle behind the last frame that has come.
    arrived: Cycle,
    error: Option<ServerError>,
    output: OutputPort,
    stamps: Stamps,
}

impl<T: Timing> Networked<T> {
    pub(crate) fn start(
        config: &ServerConfig<'_>,
        network: &NetworkConfig<'_>,
        timing: T,
        code: Arc<SharedCode<T::Block>>,
        hierarchy: SharedHierarchy,
        file: &[u8],
    ) -> Result<Networked<T>, ServerError> {
        let mut memory = GuestMemory::new(config.guest_bytes)?;
        let information = BootInformation {
            address: network.address.to_bits(),
            neighbours: network.neighbours,
            arguments: network.arguments,
        };
        let entry = bare::load(file, &mut memory, &information)?;
        let mut units = attach(config, &hierarchy, 0)?;
        let hart_clock = hierarchy.lock().parameters().clock;
        let mut nic = Nic::new(
            network.nic,
            &mut hierarchy.lock(),
            network.clock,
            network.port.rate,
            config.skip_quiescent,
        )?;
        let pager = match network.pager {
            Some(design) => Some(Pager::new(
                design,
                &mut hierarchy.lock(),
                network,
                config.skip_quiescent,
            )?),
            None => None,
        };
        if let Some(observation) = network.observation {
            let events = observation.units(0);
            let first = publish(&mut units, &events);
            nic.publish(events, first);
        }
        let core = Core::new(Hart::new(0, Mode::BareMetal, timing), hierarchy, units);
        let mut machine = Machine::new(core, memory);
        machine.core.hart.set_pc(entry);
        machine.core.hart.share_code(code);
        if let Some(pager) = &pager {
            machine.core.hart.ask_for_remote_pages();
            machine.core.pass_on(pager.opcode());
        }
        nic.set_up(network.mac.bits(), |unit, until| {
            machine.advance_other(unit, until)
        })?;
        Ok(Networked {
            machine,
            devices: Devices::new(false),
            nic,
            pager,
            to_hart: Crossing::new(network.clock, hart_clock),
            to_link: Crossing::new(hart_clock, network.clock),
            now: Cycle::ZERO,
            looked: Cycle::ZERO,
            lines: Lines::default(),
            activity: Activity::Runs,
            ticked: Cycle::ZERO,
            arrived: Cycle::ZERO,
            error: None,
            output: OutputPort::new(network.port),
            stamps: Stamps::default(),
        })
    }

    /// The interrupt lines in the cycle `at`, as far as is known now.
    fn lines_at(&self, at: Cycle) -> Lines {
        Lines {
            external: self.nic.raised() || self.pager.as_ref().is_some_and(Pager::raised),
            software: self.devices.software_interrupt(),
            timer: self.devices.timer_interrupt(self.to_hart.seen(at)),
        }
    }

    /// Shows the hart its interrupt lines, once at each multiple of [`STEP`].
    fn look(&mut self) {
        if self.now.0 % STEP != 0 || self.now <= self.looked {
            return;
        }
        self.looked = self.now;
        self.lines = self.lines_at(self.now);
        let hart = &mut self.machine.core.hart;
        hart.set_interrupt(Interrupt::MachineExternal, self.lines.external);
        hart.set_interrupt(Interrupt::MachineSoftware, self.lines.software);
        hart.set_interrupt(Interrupt::MachineTimer, self.lines.timer);
        if self.activity == Activity::Waits && hart.is_interrupted() {
            self.machine.advance_to(self.to_hart.seen(self.now));
            self.activity = Activity::Runs;
            self.stamp_hart(Event::Wakes);
        }
    }

    /// When the lines are looked at next.
    fn next_look(&self) -> Cycle {
        after_step(self.now.max(self.looked))
    }

    /// When the hart sees the timer's interrupt rise, if it has not.
    fn timer(&self) -> Cycle {
        if self.lines.timer {
            return Cycle::NEVER;
        }
        next_step(self.to_link.seen(self.devices.next_timer())).max(self.next_look())
    }

    /// Whether nothing but the hart itself changes anything before a frame arrives or the timer rises.
    fn is_calm(&self) -> bool {
        let units = &self.machine.core.units;
        let without_units =
            units.is_empty() || self.activity != Activity::Runs && units.iter().all(AttachedUnit::quiescent);
        let settled = self.nic.settled() && self.pager.as_ref().is_none_or(Pager::settled);
        settled && without_units && self.lines == self.lines_at(self.next_look())
    }

    /// How far to go at once, when the next frame arrives in the cycle `arrival`.
    fn reach(&self, arrival: Cycle, until: Cycle) -> Cycle {
        let step = after_step(self.now);
        if arrival < step || !self.is_calm() {
            return step;
        }
        last_step(arrival)
            .min(self.timer())
            .min(self.next_tick())
            .min(until)
    }

    /// Has the hart do its part of the time before the link's cycle `end`; tells whether it came to that.
    fn run_hart(&mut self, end: Cycle) -> bool {
        let limit = self.to_hart.seen(end);
        if self.activity != Activity::Runs || self.machine.core.hart.cycle() >= limit {
            return true;
        }
        match self.machine.run(limit) {
            Ok(Stop::Budget) => {}
            Ok(Stop::Device(access)) => return self.access(access),
            Ok(Stop::Custom(command)) => {
                let (at, pager) = (self.machine.core.hart.cycle(), self.pager.as_mut());
                pager
                    .expect("only its commands are passed on")
                    .command(at, &command);
                if !command.xd {
                    return false;
                }
                self.activity = Activity::Commands(command.rd);
            }
            Ok(Stop::RemotePage(place)) => {
                self.activity = Activity::Walks;
                let (at, pager) = (self.machine.core.hart.cycle(), self.pager.as_mut());
                pager.expect("only with it pages are asked for").walk(at, place);
                self.stamp_hart(Event::Asks);
            }
            Ok(Stop::WaitForInterrupt) if self.machine.core.hart.is_interrupted() => return false,
            Ok(Stop::WaitForInterrupt) => {
                self.activity = Activity::Waits;
                self.stamp_hart(Event::Waits);
            }
            Ok(other) => unreachable!("bare metal cannot stop with {other:?}"),
            Err(error) => {
                self.error = Some(error);
                self.activity = Activity::Off;
            }
        }
        true
    }

    /// Begins an access to the NIC, or does one to another device; tells whether the hart has to wait.
    fn access(&mut self, access: DeviceAccess) -> bool {
        let now = self.machine.core.hart.cycle();
        if let Some(register) = Nic::register(access.address) {
            if access.bytes == REGISTER_BYTES && register % u32::from(REGISTER_BYTES) == 0 {
                self.activity = Activity::Begins(access, self.to_link.seen(now + ACCESS_LATENCY));
                self.stamp_hart(match access.write {
                    Some(_) => Event::Writes(register),
                    None => Event::Reads(register),
                });
                return true;
            }
        }
        self.machine.advance_to(now + DEVICE_LATENCY);
        self.looked = self
            .looked
            .max(last_step(Cycle(self.to_link.fitting(Cycles(now.0)).0)));
        match self.devices.access(access, now) {
            Some(value) => self.machine.core.hart.finish_access(value),
            None => self.machine.core.hart.refuse_access(),
        }
        if self.devices.exit().is_some() {
            self.activity = Activity::Off;
        }
        false
    }

    /// When the page-fault unit is told the time next: while the hart waits for a page.
    fn next_tick(&self) -> Cycle {
        match self.activity {
            Activity::Walks | Activity::Commands(_) => Cycle((self.now.0 / TICK + 1) * TICK),
            _ => Cycle::NEVER,
        }
    }

    /// Has the page-fault unit do its part of the time before `end`; gives the time to which it came, which is before
    /// where the hart goes on by its answer.
    fn run_pager(&mut self, end: Cycle) -> Cycle {
        let Some(pager) = &mut self.pager else { return end };
        let waits = matches!(self.activity, Activity::Walks | Activity::Commands(_));
        if waits && self.now.0 % TICK == 0 && self.ticked != self.now {
            self.ticked = self.now;
            pager.tick(self.to_hart.seen(self.now));
        }
        if pager.settled() {
            return end;
        }
        let machine = &mut self.machine;
        pager.advance(end, |unit, until| machine.advance_other(unit, until));
        let Some(answer) = pager.take_answer() else {
            return end;
        };
        let reached = pager.cycle();
        self.machine.advance_to(answer.cycle);
        match self.activity {
            Activity::Commands(register) => self.machine.core.hart.write_register(register, answer.data),
            Activity::Walks if answer.data == 0 => self.machine.core.hart.finish_walk(),
            Activity::Walks => self.machine.core.hart.refuse_walk(),
            other => unreachable!("nothing is asked of the unit while the hart is {other:?}"),
        }
        if self.activity == Activity::Walks {
            self.stamp_hart(Event::Resumes);
        }
        self.activity = Activity::Runs;
        reached
    }

    /// Has the NIC do its part of the time before `end`, with the access of the hart that falls into it.
    fn run_nic(&mut self, end: Cycle) {
        if let Activity::Begins(access, at) = self.activity {
            if at < end {
                self.advance_nic(at);
                let register = Nic::register(access.address).expect("the access is to the NIC");
                self.nic.access(at, register, access.write);
                self.activity = Activity::Accesses;
                self.stamp(at, Event::Reached(register));
            }
        }
        self.now = end;
        if self.nic.settled() {
            return;
        }
        self.advance_nic(end);
        if let Some((at, value)) = self.nic.take_answer() {
            self.machine.advance_to(self.to_hart.seen(at) + ACCESS_LATENCY);
            self.machine.core.hart.finish_access(value);
            self.activity = Activity::Runs;
            self.now = self.nic.cycle().min(end);
            self.stamp(at, Event::Answered);
            self.stamp_hart(Event::GoesOn);
        }
    }

    /// A frame whose first flit arrives in the cycle `first`, or behind the frame before: one from another NIC is
    /// known from its last flit on only ([`OutputPort::pass`]), so that a short one would come into a long one.
    fn arrive(&mut self, first: Cycle, frame: &Frame) {
        self.output.count_received(frame.length());
        let first = first.max(self.arrived);
        self.arrived = self.nic.last_flit(first, frame.length()) + Cycles(1);
        if self.stamps.are_kept() {
            self.stamp(first, Event::FirstIn);
            self.stamp(self.nic.last_flit(first, frame.length()), Event::LastIn);
        }
        match (frame, &mut self.pager) {
            (Frame::Raw(bytes), Some(pager)) if Pager::is_for(bytes) => pager.arrive(first, bytes),
            (Frame::Raw(bytes), _) => self.nic.arrive(first, bytes),
            (frame, _) => self.nic.arrive(first, &frame.to_bytes()),
        }
    }

    fn depart(&mut self, sent: SentFrame, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        self.stamp(sent.first, Event::FirstOut);
        self.stamp(sent.last, Event::LastOut);
        let frame = Frame::raw(&sent.bytes).expect("the NIC's frames have 1 to 9600 bytes");
        self.output.pass(sent.first, sent.last, frame, until, 0, outbox);
    }

    /// The frames that have left the NIC and the page-fault unit, in the order of their last flits.
    fn sent(&mut self) -> Vec<SentFrame> {
        let mut frames: Vec<_> = std::iter::from_fn(|| self.nic.take_frame()).collect();
        if let Some(pager) = &mut self.pager {
            frames.extend(std::iter::from_fn(|| pager.take_frame()));
            frames.sort_by_key(|frame| frame.last);
        }
        frames
    }

    fn advance_nic(&mut self, until: Cycle) {
        let machine = &mut self.machine;
        let instructions = machine.core.hart.instructions_retired();
        let stamps = &mut self.stamps;
        self.nic.advance(
            until,
            |unit, until| machine.advance_other(unit, until),
            |cycle, level| stamps.note(cycle, Event::Line(level), instructions),
        );
    }

    /// The same for the page-fault unit, in which nothing moves.
    fn advance_pager(&mut self) {
        let (machine, now) = (&mut self.machine, self.now);
        if let Some(pager) = self.pager.as_mut().filter(|pager| pager.settled()) {
            pager.advance(now, |unit, until| machine.advance_other(unit, until));
        }
    }

    /// Notes an event in a cycle of the link.
    fn stamp(&mut self, cycle: Cycle, event: Event) {
        let instructions = self.machine.core.hart.instructions_retired();
        self.stamps.note(cycle, event, instructions);
    }

    /// Notes what the hart does now.
    fn stamp_hart(&mut self, event: Event) {
        self.stamp(self.machine.core.hart.cycle(), event);
    }
}

impl<T: Timing + Send> Model for Networked<T>
where
    T::Block: Send + Sync,
{
    type Item = Frame;

    fn ports(&self) -> usize {
        1
    }

    fn cut_through(&self) -> bool {
        true
    }

    fn next_event(&self) -> Cycle {
        let inside = match self.activity {
            _ if !self.nic.settled() || self.pager.as_ref().is_some_and(|pager| !pager.settled()) => self.now,
            Activity::Off => Cycle::NEVER,
            Activity::Waits if self.is_calm() => self.timer(),
            Activity::Walks | Activity::Commands(_) if self.is_calm() => self.next_tick(),
            _ => self.now,
        };
        inside.min(self.output.next_departure())
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.output.release(until, 0, outbox);
        while self.now < until {
            self.look();
            let end = self.reach(arrivals.peek(), until);
            if !self.run_hart(end) {
                continue;
            }
            let end = end.min(until);
            if arrivals.peek() < end {
                // The NIC may be far behind; it passes over that time at once before there is something in it.
                self.advance_nic(self.now);
                self.advance_pager();
            }
            while arrivals.peek() < end {
                let (_, arrival) = arrivals.next().expect("a frame arrives");
                self.arrive(arrival.cycle, &arrival.item);
            }
            let end = self.run_pager(end);
            self.run_nic(end);
            for frame in self.sent() {
                self.depart(frame, until, outbox);
            }
        }
    }

    fn digest(&self, digest: &mut Digest) {
        self.machine.digest(digest);
        digest.bytes(&self.nic.digest().value().to_le_bytes());
        if let Some(pager) = &self.pager {
            digest.bytes(&pager.digest().value().to_le_bytes());
        }
        digest.bytes(self.devices.console());
        digest.number(self.devices.exit().map_or(u64::MAX, |status| status as u64));
    }
}

impl<T: Timing + Send> NetworkRun for Networked<T>
where
    T::Block: Send + Sync,
{
    fn machine(&self) -> &dyn Observed {
        &self.machine
    }

    fn keep_stamps(&mut self) {
        self.stamps.keep();
    }

    fn stamps(&self) -> &[Stamp] {
        self.stamps.all()
    }

    fn network(&self) -> NetworkView<'_> {
        NetworkView {
            port: &self.output,
            nic: self.nic.events(),
            pager: self.pager.as_ref().map(Pager::events),
            nic_cycles: self.nic.evaluated_cycles() + self.pager.as_ref().map_or(0, Pager::evaluated_cycles),
            exit: self.devices.exit(),
            error: self.error.as_ref(),
            output: self.devices.console(),
        }
    }
}

/// The last multiple of [`STEP`] in a cycle or before it.
fn last_step(cycle: Cycle) -> Cycle {
    Cycle(cycle.0 / STEP * STEP)
}

/// The end of the step of a cycle.
fn after_step(cycle: Cycle) -> Cycle {
    last_step(cycle) + Cycles(STEP)
}

/// The first multiple of [`STEP`] in a cycle or after it.
fn next_step(cycle: Cycle) -> Cycle {
    Cycle(cycle.0.checked_next_multiple_of(STEP).unwrap_or(u64::MAX))
}
