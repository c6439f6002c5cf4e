use rackwright_contract::Level;
use rackwright_cpu::{Feature, Interrupt, Stop, Timing};
use rackwright_device::Lines;
use rackwright_memory::{GuestMemory, Interconnect};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::{Core, RocketCores, Sleeper, Stall, UnitError, Wait};

/// A processor of a machine, with the units beside it: one modelled hart, or a design in RTL with one or more harts.
///
/// A machine runs its processors in turn, each on its own clock, and passes the responses of devices to them.
pub trait Processor: Sized {
    /// The first cycle that is not simulated yet.
    fn cycle(&self) -> Cycle;

    /// Has it start at `entry` as hart `number`, with a time that ticks every `tick`.
    fn start_at(&mut self, number: usize, entry: u64, tick: Cycles);

    /// Runs until cycle `limit`, or until an event that does not concern only its harts and units.
    ///
    /// # Errors
    /// [`UnitError`] when a unit does not answer, or breaks a rule.
    fn run(&mut self, memory: &mut GuestMemory, limit: Cycle) -> Result<Stop, UnitError>;

    /// Has it pass time without executing instructions, up to `cycle`.
    fn wait_until(&mut self, cycle: Cycle);

    /// Advances busy units to `cycle`, while the hart is stalled.
    fn advance_units(&mut self, memory: &mut GuestMemory, cycle: Cycle);

    /// Whether a unit may raise an interrupt line for the waiting hart before anybody else acts.
    fn expects_interrupt(&mut self, _memory: &mut GuestMemory) -> bool {
        false
    }

    /// Advances units while the hart waits for their interrupts, up to `limit` or until one is raised, at which time the
    /// hart continues; returns whether one is.
    fn await_units(&mut self, _memory: &mut GuestMemory, _limit: Cycle) -> bool {
        false
    }

    /// Whether an interrupt line of the units that it shares with other processors is high at `cycle`; `None` if none of
    /// them has one.
    fn shared_line(&mut self, _cycle: Cycle) -> Option<bool> {
        None
    }

    /// Lends its units to another processor, in exchange for those of that one.
    fn lend_units(&mut self, _other: &mut Self) {}

    /// The cause of its stall, if it is stalled as a whole.
    fn stalled(&self) -> Option<Stall>;

    /// Has it stall; it is not run until that is over.
    fn stall(&mut self, stall: Stall);

    /// Ends a stall, as an interrupt does.
    fn resume(&mut self);

    /// Ends the stall for a response, which arrives at `at`.
    fn answer(&mut self, memory: &mut GuestMemory, at: Cycle, value: u64);

    /// Ends the access for which a run has stopped: the response arrives at `at`.
    fn finish_access(&mut self, at: Cycle, value: u64);

    /// Ends the access for which a run has stopped, at `at`, since there is no device.
    fn refuse_access(&mut self, at: Cycle);

    /// Sets its interrupt lines: those of the interrupt controllers outside, and that of the timer outside.
    fn set_interrupts(&mut self, lines: Lines, timer: bool);

    /// Adds a controller of message-signalled interrupts to its hart. A design in RTL has the controllers that it has.
    fn offer_messages(&mut self) {}

    /// A message-signalled interrupt has arrived for a level of privilege of its hart.
    fn receive(&mut self, _level: Level, _identity: u32) {}

    /// Whether an interrupt that it has enabled is raised.
    fn is_interrupted(&self) -> bool;

    /// Time at which a timer of the supervisor is raised, if it has one outside.
    fn supervisor_timer(&self) -> Option<Cycle> {
        None
    }

    /// Drops a reservation if other processors may have written its line since the last run.
    fn check_reservation(&mut self) {}

    /// The latest tick of the machine's time that it has read.
    fn latest_time(&self) -> u64 {
        0
    }

    /// Ensures that it reads no time before that tick.
    fn follow_time(&mut self, _time: u64) {}

    /// Cycles that a line takes from its caches to those of another processor; `None` if it needs no other one's.
    fn line_transfer(&self) -> Option<Cycles> {
        None
    }

    /// Address of the next instruction of its first hart.
    fn pc(&self) -> u64;

    /// Instructions executed.
    fn instructions(&self) -> u64;

    /// Commands issued to units.
    fn commands(&self) -> u64;

    /// Cycles of RTL that were evaluated, of all units together.
    fn unit_cycles(&self) -> u64;

    /// The unit that it is stalled for.
    fn wait(&self) -> Option<Wait>;

    /// Counts of the events of units, each added up over all `processors`; none without units.
    fn unit_counters(processors: &[Self]) -> Counters;

    /// The same, appended to those of the caches that they share.
    fn counters(processors: &[Self]) -> Counters;

    /// Adds all events so far to a digest.
    fn digest(&self, digest: &mut Digest);
}

/// The register with a hart's number at the start.
const HART_NUMBER: u8 = 10;

impl<T: Timing> Processor for Core<T> {
    #[inline]
    fn cycle(&self) -> Cycle {
        self.hart.cycle()
    }

    fn start_at(&mut self, number: usize, entry: u64, tick: Cycles) {
        self.hart.counters_mut().set_cycles_per_tick(tick.0);
        self.hart.state_mut().set_pc(entry);
        self.hart.state_mut().write_register(HART_NUMBER, number as u64);
    }

    #[inline]
    fn run(&mut self, memory: &mut GuestMemory, limit: Cycle) -> Result<Stop, UnitError> {
        self.run(memory, limit)
    }

    #[inline]
    fn wait_until(&mut self, cycle: Cycle) {
        self.hart.advance_to(cycle);
    }

    fn advance_units(&mut self, memory: &mut GuestMemory, cycle: Cycle) {
        self.advance_units(memory, cycle);
    }

    fn expects_interrupt(&mut self, memory: &mut GuestMemory) -> bool {
        Sleeper(self).expects_interrupt(memory)
    }

    fn await_units(&mut self, memory: &mut GuestMemory, limit: Cycle) -> bool {
        Sleeper(self).await_units(memory, limit)
    }

    fn shared_line(&mut self, cycle: Cycle) -> Option<bool> {
        Sleeper(self).shared_line(cycle)
    }

    fn lend_units(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.units, &mut other.units);
    }

    #[inline]
    fn stalled(&self) -> Option<Stall> {
        self.stalled()
    }

    fn stall(&mut self, stall: Stall) {
        self.stall(stall);
    }

    fn resume(&mut self) {
        self.resume();
    }

    fn answer(&mut self, memory: &mut GuestMemory, at: Cycle, value: u64) {
        self.answer(memory, at, value);
    }

    fn finish_access(&mut self, at: Cycle, value: u64) {
        self.hart.advance_to(at);
        self.hart.reply().finish_access(value);
    }

    fn refuse_access(&mut self, at: Cycle) {
        self.hart.advance_to(at);
        // It has a trap for that.
        _ = self.hart.reply().refuse_access();
    }

    fn set_interrupts(&mut self, lines: Lines, timer: bool) {
        let now = self.hart.cycle();
        let external = lines.machine_external || Sleeper(self).is_raised_by_own(now);
        let hart = &mut self.hart;
        hart.control_mut()
            .set_interrupt(Interrupt::MachineSoftware, lines.software);
        hart.control_mut()
            .set_interrupt(Interrupt::MachineExternal, external);
        hart.control_mut()
            .set_interrupt(Interrupt::SupervisorExternal, lines.supervisor_external);
        hart.control_mut().set_interrupt(Interrupt::MachineTimer, timer);
        if let Some(timer) = hart.supervisor_timer() {
            hart.control_mut()
                .set_interrupt(Interrupt::SupervisorTimer, timer <= now);
        }
    }

    fn offer_messages(&mut self) {
        self.hart.offer(Feature::Messages);
    }

    fn receive(&mut self, level: Level, identity: u32) {
        self.hart.control_mut().receive(level, identity);
    }

    fn is_interrupted(&self) -> bool {
        self.hart.control().is_interrupted()
    }

    fn supervisor_timer(&self) -> Option<Cycle> {
        self.hart.supervisor_timer()
    }

    fn check_reservation(&mut self) {
        self.hart.sharing().check_reservation();
    }

    fn latest_time(&self) -> u64 {
        self.hart.counters().latest_time()
    }

    fn follow_time(&mut self, time: u64) {
        self.hart.counters_mut().follow_time(time);
    }

    fn line_transfer(&self) -> Option<Cycles> {
        self.hart.timing().line_transfer()
    }

    fn pc(&self) -> u64 {
        self.hart.state().pc()
    }

    fn instructions(&self) -> u64 {
        self.hart.counters().instructions()
    }

    fn commands(&self) -> u64 {
        self.commands()
    }

    fn unit_cycles(&self) -> u64 {
        self.unit_cycles()
    }

    fn wait(&self) -> Option<Wait> {
        self.wait()
    }

    fn unit_counters(processors: &[Self]) -> Counters {
        rackwright_unit::unit_counters(processors)
    }

    fn counters(processors: &[Self]) -> Counters {
        rackwright_unit::counters(processors)
    }

    fn digest(&self, digest: &mut Digest) {
        self.digest(digest);
    }
}

/// Its harts keep step in the RTL, which has their interrupt controllers and their time.
impl<I: Interconnect> Processor for RocketCores<I> {
    fn cycle(&self) -> Cycle {
        self.cycle()
    }

    fn start_at(&mut self, _number: usize, entry: u64, _tick: Cycles) {
        self.start_at(entry);
    }

    fn run(&mut self, memory: &mut GuestMemory, limit: Cycle) -> Result<Stop, UnitError> {
        self.run(memory, limit)
    }

    /// It executes whatever its harts do, also while they wait.
    fn wait_until(&mut self, _cycle: Cycle) {}

    fn advance_units(&mut self, _memory: &mut GuestMemory, _cycle: Cycle) {}

    fn stalled(&self) -> Option<Stall> {
        self.stalled()
    }

    fn stall(&mut self, stall: Stall) {
        self.stall(stall);
    }

    fn resume(&mut self) {
        self.resume();
    }

    fn answer(&mut self, _memory: &mut GuestMemory, at: Cycle, value: u64) {
        self.resume();
        self.finish_access(at, value);
    }

    fn finish_access(&mut self, at: Cycle, value: u64) {
        self.finish_access(at, value);
    }

    /// Its bus does not report errors: loads return zero, and stores have no effect.
    fn refuse_access(&mut self, at: Cycle) {
        self.finish_access(at, 0);
    }

    fn set_interrupts(&mut self, _lines: Lines, _timer: bool) {}

    fn is_interrupted(&self) -> bool {
        false
    }

    fn pc(&self) -> u64 {
        self.pc()
    }

    fn instructions(&self) -> u64 {
        self.instructions()
    }

    fn commands(&self) -> u64 {
        self.commands()
    }

    fn unit_cycles(&self) -> u64 {
        self.unit_cycles()
    }

    fn wait(&self) -> Option<Wait> {
        self.wait()
    }

    fn unit_counters(processors: &[Self]) -> Counters {
        processors[0].unit_counters()
    }

    fn counters(processors: &[Self]) -> Counters {
        processors[0].counters()
    }

    fn digest(&self, digest: &mut Digest) {
        self.digest(digest);
    }
}
