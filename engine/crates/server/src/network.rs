use crate::bare::{self, DEVICE_LATENCY};
use crate::boot::BootInformation;
use crate::devices::Devices;
use crate::error::ServerError;
use crate::harts::Harts;
use crate::networked::{NetworkRun, NetworkView};
use crate::nic::Nic;
use crate::pager::Pager;
use crate::server::{attach, Observed};
use crate::stamps::{Event, Stamp, Stamps};
use crate::ServerConfig;
use rackwright_cpu::{DeviceAccess, Environment as Mode, Fault, Hart, Interrupt, SharedCode, Stop, Timing};
use rackwright_ethernet::{Frame, Ipv4, Mac, OutputPort, PortParameters};
use rackwright_machine::Code;
use rackwright_memory::{GuestMemory, SharedHierarchy};
use rackwright_rtl::Design;
use rackwright_schedule::{Incoming, Model, Outbox};
use rackwright_stats::Digest;
use rackwright_time::{Clock, Crossing, Cycle, Cycles};
use rackwright_trace::Observation;
use rackwright_unit::{publish, AttachedUnit, Core, SentFrame};
use std::ops::Range;
use std::sync::Arc;

/// Cycles of the link after which hart and NIC meet while either is busy: how late a hart may see the NIC's
/// interrupt line and the timer. Within them, the hart's part comes first.
const STEP: u64 = 16;

/// Cycles of the link after which a page-fault unit is told that time has passed, while a walk waits: 10.24 us.
const TICK: u64 = 1 << 15;

/// Time of an access to the NIC, to it and back from it.
const ACCESS_LATENCY: Cycles = Cycles(DEVICE_LATENCY.0 / 2);

/// The register with a hart's number at the start.
const HART_NUMBER: u8 = 10;

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
    /// How its harts are observed, if they are.
    pub observation: Option<&'a Observation>,
}

/// What a hart does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Activity {
    /// Has not begun: waits for its software interrupt.
    Parked,
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

impl Activity {
    /// Harts behind the first begin when software calls them.
    fn at_reset(hart: usize) -> Activity {
        match hart {
            0 => Activity::Runs,
            _ => Activity::Parked,
        }
    }

    /// Whether what the hart does next depends on nothing but itself and the NIC's answer.
    fn is_busy(&self) -> bool {
        matches!(self, Activity::Runs | Activity::Begins(..) | Activity::Accesses)
    }

    /// Whether the hart waits for the page-fault unit.
    fn awaits_pager(&self) -> bool {
        matches!(self, Activity::Walks | Activity::Commands(_))
    }
}

/// The interrupt lines of a hart.
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
///
/// Harts take turns, in the order of their numbers. While several are busy, they go from one multiple of [`STEP`] to the
/// next together; one that is alone may run ahead.
pub(crate) struct Networked<T: Timing> {
    machine: Harts<T>,
    devices: Devices,
    nic: Nic,
    pager: Option<Pager>,
    to_hart: Crossing,
    to_link: Crossing,
    /// Everything before has happened.
    now: Cycle,
    /// The last multiple of [`STEP`] at which the lines were looked at, and what they were, by hart. What a hart does to
    /// them is not seen in the step in which it does.
    looked: Cycle,
    lines: Vec<Lines>,
    activity: Vec<Activity>,
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
        timings: Vec<T>,
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
        let harts = timings.len();
        let mut cores = Vec::with_capacity(harts);
        for (number, timing) in timings.into_iter().enumerate() {
            let mut units = attach(config, &hierarchy, number)?;
            if let Some(observation) = network.observation {
                let events = observation.units(number);
                let first = publish(&mut units, &events);
                if number == 0 {
                    nic.publish(events, first);
                }
            }
            let hart = Hart::new(number as u64, Mode::BareMetal, timing);
            let mut core = Core::new(hart, hierarchy.clone(), units);
            core.hart.set_pc(entry);
            core.hart.write_register(HART_NUMBER, number as u64);
            core.hart.share_code(code.clone());
            if let Some(pager) = &pager {
                core.hart.ask_for_remote_pages();
                core.pass_on(pager.opcode());
            }
            cores.push(core);
        }
        let mut machine = Harts::new(cores, memory);
        nic.set_up(network.mac.bits(), |unit, until| {
            machine.advance_other(unit, until)
        })?;
        Ok(Networked {
            machine,
            devices: Devices::new(false, harts),
            nic,
            pager,
            to_hart: Crossing::new(network.clock, hart_clock),
            to_link: Crossing::new(hart_clock, network.clock),
            now: Cycle::ZERO,
            looked: Cycle::ZERO,
            lines: vec![Lines::default(); harts],
            activity: (0..harts).map(Activity::at_reset).collect(),
            ticked: Cycle::ZERO,
            arrived: Cycle::ZERO,
            error: None,
            output: OutputPort::new(network.port),
            stamps: Stamps::default(),
        })
    }

    fn harts(&self) -> Range<usize> {
        0..self.activity.len()
    }

    /// The interrupt lines of a hart in the cycle `at`, as far as is known now.
    fn lines_at(&self, hart: usize, at: Cycle) -> Lines {
        Lines {
            external: self.nic.linked.raised()
                || self.pager.as_ref().is_some_and(|pager| pager.linked.raised()),
            software: self.devices.software_interrupt(hart),
            timer: self.devices.timer_interrupt(hart, self.to_hart.seen(at)),
        }
    }

    /// Shows the harts their interrupt lines, once at each multiple of [`STEP`].
    fn look(&mut self) {
        if self.now.0 % STEP != 0 || self.now <= self.looked {
            return;
        }
        self.looked = self.now;
        for index in self.harts() {
            let lines = self.lines_at(index, self.now);
            self.lines[index] = lines;
            let hart = &mut self.machine.cores[index].hart;
            hart.set_interrupt(Interrupt::MachineExternal, lines.external);
            hart.set_interrupt(Interrupt::MachineSoftware, lines.software);
            hart.set_interrupt(Interrupt::MachineTimer, lines.timer);
            let wakes = match self.activity[index] {
                Activity::Parked => lines.software,
                Activity::Waits => hart.is_interrupted(),
                _ => false,
            };
            if wakes {
                self.machine.advance_to(index, self.to_hart.seen(self.now));
                self.activity[index] = Activity::Runs;
                self.stamp_hart(index, Event::Wakes);
            }
        }
    }

    /// When the lines are looked at next.
    fn next_look(&self) -> Cycle {
        after_step(self.now.max(self.looked))
    }

    /// When a hart sees its timer's interrupt rise, if it has not.
    fn timer(&self) -> Cycle {
        let rises = |hart: &usize| !self.lines[*hart].timer;
        let timers = self
            .harts()
            .filter(rises)
            .map(|hart| self.devices.next_timer(hart));
        timers.min().map_or(Cycle::NEVER, |timer| {
            next_step(self.to_link.seen(timer)).max(self.next_look())
        })
    }

    /// Whether nothing but one hart itself changes anything before a frame arrives or a timer rises.
    fn is_calm(&self) -> bool {
        let settled =
            self.nic.linked.settled() && self.pager.as_ref().is_none_or(|pager| pager.linked.settled());
        let busy = self.activity.iter().filter(|activity| activity.is_busy());
        settled && busy.count() <= 1 && self.harts().all(|hart| self.is_calm_for(hart))
    }

    /// Whether neither a unit of a hart nor its interrupt lines change anything.
    fn is_calm_for(&self, hart: usize) -> bool {
        let units = &self.machine.cores[hart].units;
        let without_units = units.is_empty()
            || self.activity[hart] != Activity::Runs && units.iter().all(AttachedUnit::quiescent);
        without_units && self.lines[hart] == self.lines_at(hart, self.next_look())
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

    /// Has a hart do its part of the time before the link's cycle `end`; tells whether it came to that.
    fn run_hart(&mut self, index: usize, end: Cycle) -> bool {
        let limit = self.to_hart.seen(end);
        if self.activity[index] != Activity::Runs || self.machine.cores[index].hart.cycle() >= limit {
            return true;
        }
        let stop = self.machine.run(index, limit);
        let hart = &self.machine.cores[index].hart;
        let (at, pager) = (hart.cycle(), self.pager.as_mut());
        match stop {
            Ok(Stop::Budget) => {}
            Ok(Stop::Device(access)) => return self.access(index, access),
            Ok(Stop::Custom(command)) => {
                pager
                    .expect("only its commands are passed on")
                    .command(index, at, &command);
                if !command.xd {
                    return false;
                }
                self.activity[index] = Activity::Commands(command.rd);
            }
            Ok(Stop::RemotePage(place)) => {
                self.activity[index] = Activity::Walks;
                let pager = pager.expect("only with it pages are asked for");
                pager.walk(index, at, place);
                self.stamp_hart(index, Event::Asks);
            }
            Ok(Stop::Prefetch(place)) => {
                let pager = pager.expect("only with it pages are asked for");
                pager.prefetch(index, at, place);
                return false;
            }
            Ok(Stop::WaitForInterrupt) if hart.is_interrupted() => return false,
            Ok(Stop::WaitForInterrupt) => {
                self.activity[index] = Activity::Waits;
                self.stamp_hart(index, Event::Waits);
            }
            Ok(other) => unreachable!("bare metal cannot stop with {other:?}"),
            Err(error) => self.fail(error),
        }
        true
    }

    /// The same for all harts.
    fn run_harts(&mut self, end: Cycle) -> bool {
        self.harts().all(|index| self.run_hart(index, end))
    }

    /// Begins an access to the NIC, or does one to another device; tells whether the hart has to wait.
    fn access(&mut self, index: usize, access: DeviceAccess) -> bool {
        let now = self.machine.cores[index].hart.cycle();
        if let Some(register) = Nic::register(access.address) {
            if access.bytes == REGISTER_BYTES && register % u32::from(REGISTER_BYTES) == 0 {
                self.activity[index] = Activity::Begins(access, self.to_link.seen(now + ACCESS_LATENCY));
                let event = match access.write {
                    Some(_) => Event::Writes(register),
                    None => Event::Reads(register),
                };
                self.stamp_hart(index, event);
                return true;
            }
        }
        self.machine.advance_to(index, now + DEVICE_LATENCY);
        self.looked = self
            .looked
            .max(last_step(Cycle(self.to_link.fitting(Cycles(now.0)).0)));
        let hart = &mut self.machine.cores[index].hart;
        match self.devices.access(access, now) {
            Some(value) => hart.finish_access(value),
            None => hart.refuse_access(),
        }
        if self.devices.exit().is_some() {
            self.activity.fill(Activity::Off);
        }
        false
    }

    /// Whether a hart waits for the page-fault unit.
    fn awaits_pager(&self) -> bool {
        self.activity.iter().any(|activity| activity.awaits_pager())
    }

    /// Whether the page-fault unit is to be told the time now. A window may end right before that.
    fn tick_is_due(&self) -> bool {
        self.awaits_pager() && self.now.0 % TICK == 0 && self.ticked != self.now
    }

    /// When the page-fault unit is told the time after now: while a hart waits for a page.
    fn next_tick(&self) -> Cycle {
        if self.awaits_pager() {
            return Cycle((self.now.0 / TICK + 1) * TICK);
        }
        Cycle::NEVER
    }

    /// Has the page-fault unit do its part of the time before `end`; gives the time to which it came, which is before
    /// where a hart goes on by its answer.
    fn run_pager(&mut self, end: Cycle) -> Cycle {
        let ticks = self.tick_is_due();
        let Some(pager) = &mut self.pager else { return end };
        if ticks {
            self.ticked = self.now;
            pager.tick(self.to_hart.seen(self.now));
        }
        if pager.linked.settled() {
            return end;
        }
        let machine = &mut self.machine;
        pager.advance(end, |unit, until| machine.advance_other(unit, until));
        if let Err(error) = pager.linked.unit.check() {
            self.fail(error.into());
            return end;
        }
        let (asked, served) = pager.span();
        let Some((index, answer)) = pager.take_answer() else {
            return end;
        };
        // A wide unit may have come further than asked by a part of its cycle.
        let reached = pager.linked.cycle().min(end);
        self.machine.advance_to(index, answer.cycle);
        let hart = &mut self.machine.cores[index].hart;
        match self.activity[index] {
            Activity::Commands(register) => hart.write_register(register, answer.data),
            Activity::Walks if answer.data == 0 => hart.finish_walk(),
            Activity::Walks => hart.refuse_walk(),
            // The program has ended meanwhile.
            Activity::Off => return reached,
            other => unreachable!("nothing is asked of the unit while the hart is {other:?}"),
        }
        if self.activity[index] == Activity::Walks {
            self.stamp(asked, Event::Asked);
            self.stamp(served, Event::Served);
            self.stamp_hart(index, Event::Resumes);
        }
        self.activity[index] = Activity::Runs;
        reached
    }

    /// The access to the NIC that is next, if none is under way.
    fn next_access(&self) -> Option<(Cycle, usize, DeviceAccess)> {
        if self.activity.contains(&Activity::Accesses) {
            return None;
        }
        let begins = self.activity.iter().enumerate().filter_map(|(index, activity)| {
            let Activity::Begins(access, at) = activity else {
                return None;
            };
            Some((self.nic.linked.cycle().max(*at), index, *access))
        });
        begins.min_by_key(|(at, index, _)| (*at, *index))
    }

    /// Has the NIC do its part of the time before `end`, with the access of a hart that falls into it.
    fn run_nic(&mut self, end: Cycle) {
        if let Some((at, index, access)) = self.next_access().filter(|(at, ..)| *at < end) {
            self.advance_nic(at);
            let register = Nic::register(access.address).expect("the access is to the NIC");
            self.nic.access(at, register, access.write);
            self.activity[index] = Activity::Accesses;
            self.stamp(at, Event::Reached(register));
        }
        self.now = end;
        if self.nic.linked.settled() {
            return;
        }
        self.advance_nic(end);
        if let Some((at, value)) = self.nic.take_answer() {
            self.now = self.nic.linked.cycle().min(end);
            let accesses = self
                .activity
                .iter()
                .position(|activity| *activity == Activity::Accesses);
            // None when the program has ended meanwhile.
            let Some(index) = accesses else { return };
            self.machine
                .advance_to(index, self.to_hart.seen(at) + ACCESS_LATENCY);
            self.machine.cores[index].hart.finish_access(value);
            self.activity[index] = Activity::Runs;
            self.stamp(at, Event::Answered);
            self.stamp_hart(index, Event::GoesOn);
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
            (Frame::Raw(bytes), Some(pager)) if Pager::is_for(bytes) => pager.linked.arrive(first, bytes),
            (Frame::Raw(bytes), _) => self.nic.linked.arrive(first, bytes),
            (frame, _) => self.nic.linked.arrive(first, &frame.to_bytes()),
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
        let mut frames: Vec<_> = std::iter::from_fn(|| self.nic.linked.take_frame()).collect();
        if let Some(pager) = &mut self.pager {
            frames.extend(std::iter::from_fn(|| pager.linked.take_frame()));
            frames.sort_by_key(|frame| frame.last);
        }
        frames
    }

    /// Ends the run of the harts.
    fn fail(&mut self, error: ServerError) {
        self.error.get_or_insert(error);
        self.activity.fill(Activity::Off);
    }

    fn advance_nic(&mut self, until: Cycle) {
        let machine = &mut self.machine;
        let instructions = machine.cores[0].hart.instructions_retired();
        let stamps = &mut self.stamps;
        self.nic.advance(
            until,
            |unit, until| machine.advance_other(unit, until),
            |cycle, level| stamps.note(cycle, Event::Line(level), instructions),
        );
        if let Err(error) = self.nic.linked.unit.check() {
            self.fail(error.into());
        }
    }

    /// The same for the page-fault unit, in which nothing moves.
    fn advance_pager(&mut self) {
        let (machine, now) = (&mut self.machine, self.now);
        if let Some(pager) = self.pager.as_mut().filter(|pager| pager.linked.settled()) {
            pager.advance(now, |unit, until| machine.advance_other(unit, until));
        }
    }

    /// Notes an event in a cycle of the link, with how many instructions hart 0 has executed.
    fn stamp(&mut self, cycle: Cycle, event: Event) {
        let instructions = self.machine.cores[0].hart.instructions_retired();
        self.stamps.note(cycle, event, instructions);
    }

    /// Notes what a hart does now.
    fn stamp_hart(&mut self, index: usize, event: Event) {
        if !self.stamps.are_kept() {
            return;
        }
        let hart = &mut self.machine.cores[index].hart;
        for fault in hart.take_faults() {
            let (cycle, event) = match fault {
                Fault::Taken(cycle) => (cycle, Event::Faults),
                Fault::Left(cycle) => (cycle, Event::Leaves),
            };
            self.stamps.note(cycle, event, hart.instructions_retired());
        }
        self.stamps.note(hart.cycle(), event, hart.instructions_retired());
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
        let settled =
            self.nic.linked.settled() && self.pager.as_ref().is_none_or(|pager| pager.linked.settled());
        let inside = if !settled {
            self.now
        } else if self.activity.iter().all(|activity| *activity == Activity::Off) {
            Cycle::NEVER
        } else if self.activity.iter().any(Activity::is_busy) || !self.is_calm() || self.tick_is_due() {
            self.now
        } else {
            self.timer().min(self.next_tick())
        };
        inside.min(self.output.next_departure())
    }

    fn advance(&mut self, until: Cycle, arrivals: &mut Incoming<'_, Frame>, outbox: &mut Outbox<'_, Frame>) {
        self.output.release(until, 0, outbox);
        while self.now < until {
            self.look();
            let end = self.reach(arrivals.peek(), until);
            if !self.run_harts(end) {
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
        digest.bytes(&self.nic.linked.digest().value().to_le_bytes());
        if let Some(pager) = &self.pager {
            digest.bytes(&pager.linked.digest().value().to_le_bytes());
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
        self.machine
            .cores
            .iter_mut()
            .for_each(|core| core.hart.keep_faults());
    }

    fn stamps(&self) -> &[Stamp] {
        self.stamps.all()
    }

    fn network(&self) -> NetworkView<'_> {
        NetworkView {
            port: &self.output,
            nic: self.nic.linked.events(),
            pager: self.pager.as_ref().map(|pager| pager.linked.events()),
            nic_cycles: self.nic.linked.evaluated_cycles()
                + self
                    .pager
                    .as_ref()
                    .map_or(0, |pager| pager.linked.evaluated_cycles()),
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
