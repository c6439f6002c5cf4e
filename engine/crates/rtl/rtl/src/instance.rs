use crate::interface::{
    InterruptChange, MemoryRequest, MemoryResponse, RawCommand, RawCommandResponse, RawSetup, RawStep,
    RegisterAccess, RegisterAnswer, StreamFlit,
};
use crate::{Design, RtlError};
use rackwright_contract::{Command, CommandContext};
use rackwright_time::unit::Cycle;
use std::ffi::{c_void, CStr, CString};
use std::path::Path;

/// The registers of the hart as a unit sees them; addresses as in `host/translated.h`.
mod hart_register {
    pub(super) const SATP: u32 = 0;
    pub(super) const MODE: u32 = 8;
    pub(super) const FENCE: u32 = 16;
}

/// The value a unit gives for the destination register of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandResponse {
    /// When it left the unit.
    pub cycle: Cycle,
    /// Number of the register.
    pub rd: u8,
    /// The value.
    pub data: u64,
}

/// The host's number for a clock that runs while `idle` is checked.
const CHECK_IDLE: u32 = 2;

/// Why a unit does not go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Broken {
    /// In this cycle it did something although its `idle` output had said that it would not; told if that is checked.
    Idle(Cycle),
    /// In this cycle an assertion of its own failed, or it ended the simulation in another way; and what it said.
    Stopped(Cycle, String),
}

/// What a unit did during one [`Instance::step`].
pub struct Step<'a> {
    /// The first cycle not yet simulated.
    pub cycle: Cycle,
    /// Nothing will happen before a command, an answer or a register access arrives.
    pub idle: bool,
    /// Commands taken since the start.
    pub commands_accepted: u64,
    /// When the last of them was taken.
    pub last_accept: Cycle,
    /// Why it stays where it is, if it does.
    pub broken: Option<Broken>,
    /// Values for registers, in order.
    pub command_responses: &'a [CommandResponse],
    /// Answers to register accesses, in order.
    pub register_answers: &'a [RegisterAnswer],
    /// What left through the stream ports, ordered by (cycle, port).
    pub flits: &'a [StreamFlit],
    /// Changes of the interrupt line, in order.
    pub interrupts: &'a [InterruptChange],
}

/// One simulated copy of a unit, with its own state and clock.
pub struct Instance {
    design: Design,
    host: *mut c_void,
    cycle: Cycle,
    evaluated: u64,
    command_responses: Vec<CommandResponse>,
    /// What the last step asked of memory; the host's own array, until the next step.
    requests: *const MemoryRequest,
    request_count: usize,
}

// SAFETY: the host owns all state behind its pointer and uses no thread-local state; it is only
// reached through `&mut self`.
unsafe impl Send for Instance {}
// SAFETY: what is reachable through `&self` only reads the host's state, or works on a copy.
unsafe impl Sync for Instance {}

impl Instance {
    /// A copy of `design` that has just left reset, at cycle 0.
    ///
    /// With `waves`, its signals go to that FST file; the design must have been built with waves.
    ///
    /// # Errors
    /// [`RtlError::Text`] for a path or an argument with a zero byte, [`RtlError::Memory`] when there is none left for it,
    /// [`RtlError::Stopped`] when it does not come out of its reset.
    pub fn new(design: &Design, waves: Option<&Path>) -> Result<Instance, RtlError> {
        let host = Setup::of(design, waves)?.create(design)?;
        let mut instance = Instance {
            design: design.clone(),
            host,
            cycle: Cycle::ZERO,
            evaluated: 0,
            command_responses: Vec::new(),
            requests: std::ptr::null(),
            request_count: 0,
        };
        match instance.step(Cycle::ZERO).broken {
            None => Ok(instance),
            Some(Broken::Idle(cycle)) => Err(instance.stopped(cycle, "it was not idle".into())),
            Some(Broken::Stopped(cycle, reason)) => Err(instance.stopped(cycle, reason)),
        }
    }

    fn stopped(&self, cycle: Cycle, reason: String) -> RtlError {
        RtlError::Stopped {
            unit: self.design.manifest.unit.clone(),
            cycle,
            reason,
        }
    }

    /// The design that this is a copy of.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The first cycle not yet simulated.
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// Cycles that were evaluated, without those skipped while the unit was idle.
    pub fn evaluated_cycles(&self) -> u64 {
        self.evaluated
    }

    /// Whether to stop the clock of the unit while it is idle (on at the start).
    pub fn skip_idle(&mut self, enabled: bool) {
        self.clocking(u32::from(enabled));
    }

    /// Clocks the unit always, and watches whether it does anything of its own while its `idle` output says that it
    /// will not; [`Step::broken`] tells.
    pub fn check_idle(&mut self) {
        self.clocking(CHECK_IDLE);
    }

    fn clocking(&mut self, clocking: u32) {
        // SAFETY: `host` is alive until `drop`.
        unsafe { (self.design.functions.clocking)(self.host, clocking) }
    }

    /// Offers a command to the unit from cycle `due` on, after those given before.
    pub fn command(&mut self, due: Cycle, command: Command) {
        let raw = RawCommand {
            due: due.0,
            rs1: command.rs1,
            rs2: command.rs2,
            opcode: command.opcode,
            funct: command.funct,
            rd: command.rd,
            xd: u8::from(command.xd),
        };
        // SAFETY: `host` is alive and copies the command.
        unsafe { (self.design.functions.command)(self.host, &raw) }
    }

    /// Offers a register access to the unit.
    pub fn register_access(&mut self, access: RegisterAccess) {
        // SAFETY: `host` is alive and copies the access.
        unsafe { (self.design.functions.register_access)(self.host, &access) }
    }

    /// What commands given from now on come with; for units that translate addresses.
    pub fn context(&mut self, context: &CommandContext) {
        let flags = u64::from(context.user_memory) | u64::from(context.executable_readable) << 1;
        self.tell(0, hart_register::SATP, context.satp);
        self.tell(0, hart_register::MODE, u64::from(context.privilege) | flags << 2);
    }

    /// Has a unit that translates addresses forget translations in cycle `due`.
    pub fn fence(&mut self, due: Cycle) {
        self.tell(due.0, hart_register::FENCE, 0);
    }

    fn tell(&mut self, due: u64, address: u32, data: u64) {
        debug_assert!(self.design.manifest.is_translated());
        self.register_access(RegisterAccess {
            due,
            data,
            address,
            write: 1,
        });
    }

    /// Offers a flit to the stream port of its number, after those given before.
    pub fn flit(&mut self, flit: StreamFlit) {
        debug_assert!(flit.cycle >= self.cycle.0, "a flit came too late");
        // SAFETY: `host` is alive and copies the flit.
        unsafe { (self.design.functions.flit)(self.host, &flit) }
    }

    /// What the last step asked of memory, ordered by (cycle, port).
    #[inline]
    pub fn requests(&self) -> &[MemoryRequest] {
        // SAFETY: the host keeps its array unchanged until the next step, which takes `&mut self`.
        unsafe { slice(self.requests, self.request_count as u32) }
    }

    /// Answers a request.
    pub fn respond(&mut self, response: &MemoryResponse) {
        debug_assert!(response.due >= self.cycle, "an answer came too late");
        // SAFETY: `host` is alive and copies the response.
        unsafe { (self.design.functions.respond)(self.host, response) }
    }

    /// Simulates up to cycle `until` (exclusive), or fewer cycles when the buffers are full, or when the
    /// unit has answered a command or a register access.
    pub fn step(&mut self, until: Cycle) -> Step<'_> {
        let mut raw = empty_step();
        // SAFETY: `host` is alive; the step's pointers stay valid until the next call, and the
        // returned borrow of `self` prevents one.
        unsafe { (self.design.functions.step)(self.host, until.0, &mut raw) };
        self.cycle = Cycle::new(raw.cycle);
        self.evaluated = raw.evaluated;
        // SAFETY: as above; each pointer is valid for its count.
        let (responses, answers) = unsafe {
            (
                slice::<RawCommandResponse>(raw.command_responses, raw.command_response_count),
                slice(raw.register_answers, raw.register_answer_count),
            )
        };
        self.requests = raw.requests;
        self.request_count = raw.request_count as usize;
        self.command_responses.clear();
        self.command_responses
            .extend(responses.iter().map(|raw| CommandResponse {
                cycle: Cycle::new(raw.cycle),
                rd: raw.rd as u8,
                data: raw.data,
            }));
        Step {
            cycle: self.cycle,
            idle: raw.idle != 0,
            commands_accepted: raw.commands_accepted,
            last_accept: Cycle::new(raw.last_accept),
            broken: broken(&raw),
            command_responses: &self.command_responses,
            register_answers: answers,
            // SAFETY: as above.
            flits: unsafe { slice(raw.flits, raw.flit_count) },
            // SAFETY: as above.
            interrupts: unsafe { slice(raw.interrupts, raw.interrupt_count) },
        }
    }

    /// Whether to keep the inputs of every evaluated cycle for [`Instance::replay`] (off at the start).
    pub fn record(&mut self, enabled: bool) {
        // SAFETY: `host` is alive until `drop`.
        unsafe { (self.design.functions.record)(self.host, u32::from(enabled)) }
    }

    /// Cycles recorded so far.
    pub fn recorded_cycles(&self) -> u64 {
        // SAFETY: `host` is alive until `drop`.
        unsafe { (self.design.functions.recorded)(self.host) }
    }

    /// Gives a fresh copy of the design the recorded inputs again, cycle by cycle, in a bare
    /// Verilator loop: the baseline that the cost of the engine is measured against.
    pub fn replay(&self) {
        // SAFETY: `host` is alive until `drop`; replaying does not change it.
        unsafe { (self.design.functions.replay)(self.host) }
    }

    /// The sum of an event over all cycles; `index` is its place among the manifest's events.
    pub fn event(&self, index: usize) -> u64 {
        assert!(
            index < self.design.manifest.events().count(),
            "the unit has no event {index}"
        );
        // SAFETY: `host` is alive and the index is within the host's array.
        unsafe { (self.design.functions.event)(self.host, index as u32) }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: `host` came from `create` and is not used again.
        unsafe { (self.design.functions.destroy)(self.host) }
    }
}

/// What a copy of a unit is made with, as C has it.
struct Setup {
    waves: Option<CString>,
    folder: CString,
    arguments: Vec<CString>,
}

impl Setup {
    fn of(design: &Design, waves: Option<&Path>) -> Result<Setup, RtlError> {
        let waves = waves.map(|path| std::path::absolute(path).map_err(RtlError::file(path)));
        let waves = waves.transpose()?;
        let path = |path: &Path| c_text(path.as_os_str().as_encoded_bytes());
        let arguments = design.plusargs.iter().map(|word| c_text(format!("+{word}")));
        Ok(Setup {
            waves: waves.as_deref().map(path).transpose()?,
            folder: path(&design.manifest.data_folder())?,
            arguments: arguments.collect::<Result<_, _>>()?,
        })
    }

    fn create(&self, design: &Design) -> Result<*mut c_void, RtlError> {
        let arguments: Vec<_> = self.arguments.iter().map(|word| word.as_ptr()).collect();
        let raw = RawSetup {
            wave_path: self.waves.as_ref().map_or(std::ptr::null(), |path| path.as_ptr()),
            folder: self.folder.as_ptr(),
            arguments: arguments.as_ptr(),
            argument_count: arguments.len() as u32,
        };
        // SAFETY: every pointer is null or leads to C strings that outlive the call.
        let host = unsafe { (design.functions.create)(&raw) };
        if host.is_null() {
            return Err(RtlError::Memory {
                unit: design.manifest.unit.clone(),
            });
        }
        Ok(host)
    }
}

fn c_text(text: impl Into<Vec<u8>>) -> Result<CString, RtlError> {
    CString::new(text).map_err(|error| RtlError::Text {
        text: String::from_utf8_lossy(&error.into_vec()).into_owned(),
    })
}

fn broken(raw: &RawStep) -> Option<Broken> {
    if raw.stopped_at != u64::MAX {
        // SAFETY: the host keeps the text, which ends with 0, as long as it is alive.
        let said = unsafe { CStr::from_ptr(raw.complaint) }.to_string_lossy();
        return Some(Broken::Stopped(Cycle::new(raw.stopped_at), reason(&said)));
    }
    (raw.idle_broken != u64::MAX).then_some(Broken::Idle(Cycle::new(raw.idle_broken)))
}

/// What Verilator makes of an error, without the time, what is said twice, and a level that only it knows.
fn reason(said: &str) -> String {
    let marks = ["%Error: ", "%Fatal: "];
    let text = marks.iter().find_map(|mark| Some(said.split_once(mark)?.1));
    text.unwrap_or(said)
        .replace("Assertion failed: ", "")
        .replacen("in TOP.", "in ", 1)
        .trim()
        .to_string()
}

fn empty_step() -> RawStep {
    RawStep {
        cycle: 0,
        evaluated: 0,
        commands_accepted: 0,
        last_accept: 0,
        idle_broken: u64::MAX,
        stopped_at: u64::MAX,
        complaint: std::ptr::null(),
        requests: std::ptr::null(),
        command_responses: std::ptr::null(),
        register_answers: std::ptr::null(),
        flits: std::ptr::null(),
        interrupts: std::ptr::null(),
        request_count: 0,
        command_response_count: 0,
        register_answer_count: 0,
        flit_count: 0,
        interrupt_count: 0,
        idle: 0,
    }
}

/// # Safety
/// `pointer` is null with a count of 0, or valid for `count` items during `'a`.
unsafe fn slice<'a, T>(pointer: *const T, count: u32) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(pointer, count as usize) }
}
