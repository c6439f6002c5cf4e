use crate::interface::{
    Functions, MemoryRequest, MemoryResponse, RawCommand, RawCommandResponse, RawCounts, RawOutputs,
    RawSetup, RawStep, RegisterAccess, StreamFlit,
};
use crate::{Broken, CommandResponse, Design, RtlError, Step};
use rackwright_contract::Command;
use rackwright_time::unit::Cycle;
use std::ffi::{c_void, CStr, CString};
use std::path::Path;
use std::sync::Arc;

/// An instance of a compiled unit behind the interface in C.
pub(crate) struct CompiledHost {
    functions: Arc<Functions>,
    host: *mut c_void,
    evaluated: u64,
    command_responses: Vec<CommandResponse>,
    /// The memory requests of the last step; an array of the host, valid until the next step.
    requests: *const MemoryRequest,
    request_count: usize,
}

// SAFETY: the host owns all state behind its pointer and uses no thread-local state; it is only
// reached through `&mut self`.
unsafe impl Send for CompiledHost {}
// SAFETY: what is reachable through `&self` only reads the host's state, or works on a copy.
unsafe impl Sync for CompiledHost {}

impl CompiledHost {
    /// A copy of `design`, whose functions these are.
    ///
    /// # Errors
    /// As of [`crate::Instance::new`].
    pub(crate) fn new(
        design: &Design,
        functions: &Arc<Functions>,
        waves: Option<&Path>,
    ) -> Result<CompiledHost, RtlError> {
        Ok(CompiledHost {
            functions: Arc::clone(functions),
            host: Setup::of(design, waves)?.create(design, functions)?,
            evaluated: 0,
            command_responses: Vec::new(),
            requests: std::ptr::null(),
            request_count: 0,
        })
    }

    pub(crate) fn evaluated(&self) -> u64 {
        self.evaluated
    }

    pub(crate) fn clocking(&mut self, clocking: u32) {
        // SAFETY: `host` is alive until `drop`.
        unsafe { (self.functions.clocking)(self.host, clocking) }
    }

    pub(crate) fn command(&mut self, due: Cycle, command: Command) {
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
        unsafe { (self.functions.command)(self.host, &raw) }
    }

    pub(crate) fn register_access(&mut self, access: &RegisterAccess) {
        // SAFETY: `host` is alive and copies the access.
        unsafe { (self.functions.register_access)(self.host, access) }
    }

    pub(crate) fn flit(&mut self, flit: &StreamFlit) {
        // SAFETY: `host` is alive and copies the flit.
        unsafe { (self.functions.flit)(self.host, flit) }
    }

    #[inline]
    pub(crate) fn requests(&self) -> &[MemoryRequest] {
        // SAFETY: the host keeps its array unchanged until the next step, which takes `&mut self`.
        unsafe { slice(self.requests, self.request_count as u32) }
    }

    pub(crate) fn respond(&mut self, response: &MemoryResponse) {
        // SAFETY: `host` is alive and copies the response.
        unsafe { (self.functions.respond)(self.host, response) }
    }

    pub(crate) fn step(&mut self, until: Cycle) -> Step<'_> {
        let mut raw = empty_step();
        // SAFETY: `host` is alive; the step's pointers stay valid until the next call, and the
        // returned borrow of `self` prevents one.
        unsafe { (self.functions.step)(self.host, until.0, &mut raw) };
        self.evaluated = raw.evaluated;
        let (outputs, counts) = (&raw.outputs, &raw.counts);
        // SAFETY: as above; each pointer is valid for its count.
        let (responses, answers) = unsafe {
            (
                slice::<RawCommandResponse>(outputs.command_responses, counts.command_responses),
                slice(outputs.register_answers, counts.register_answers),
            )
        };
        self.requests = outputs.requests;
        self.request_count = counts.requests as usize;
        self.command_responses.clear();
        self.command_responses
            .extend(responses.iter().map(|raw| CommandResponse {
                cycle: Cycle::new(raw.cycle),
                rd: raw.rd as u8,
                data: raw.data,
            }));
        Step {
            cycle: Cycle::new(raw.cycle),
            idle: raw.idle != 0,
            commands_accepted: raw.commands_accepted,
            last_accept: Cycle::new(raw.last_accept),
            broken: broken(&raw),
            command_responses: &self.command_responses,
            register_answers: answers,
            // SAFETY: as above.
            flits: unsafe { slice(outputs.flits, counts.flits) },
            // SAFETY: as above.
            interrupts: unsafe { slice(outputs.interrupts, counts.interrupts) },
        }
    }

    /// Its state between two steps; `None` if it was not compiled for that.
    pub(crate) fn save(&mut self) -> Option<Vec<u8>> {
        let functions = self.functions.state?;
        let (mut bytes, mut size) = (std::ptr::null(), 0);
        // SAFETY: `host` is alive; the bytes stay valid until this thread saves again.
        let saved = unsafe {
            (functions.save)(self.host, &mut bytes, &mut size);
            std::slice::from_raw_parts(bytes, size as usize)
        };
        Some(saved.to_vec())
    }

    /// Continues from such a state; returns whether it is one.
    pub(crate) fn restore(&mut self, state: &[u8], evaluated: u64) -> bool {
        let Some(functions) = self.functions.state else {
            return false;
        };
        self.evaluated = evaluated;
        self.request_count = 0;
        // SAFETY: `host` is alive and copies the state, which has as many bytes.
        unsafe { (functions.restore)(self.host, state.as_ptr(), state.len() as u64) != 0 }
    }

    pub(crate) fn record(&mut self, enabled: bool) {
        // SAFETY: `host` is alive until `drop`.
        unsafe { (self.functions.record)(self.host, u32::from(enabled)) }
    }

    pub(crate) fn recorded(&self) -> u64 {
        // SAFETY: `host` is alive until `drop`.
        unsafe { (self.functions.recorded)(self.host) }
    }

    pub(crate) fn replay(&self) {
        // SAFETY: `host` is alive until `drop`; replaying does not change it.
        unsafe { (self.functions.replay)(self.host) }
    }

    /// The sum of an event, which the manifest has.
    pub(crate) fn event(&self, index: usize) -> u64 {
        // SAFETY: `host` is alive and the index is within the host's array.
        unsafe { (self.functions.event)(self.host, index as u32) }
    }
}

impl Drop for CompiledHost {
    fn drop(&mut self) {
        // SAFETY: `host` came from `create` and is not used again.
        unsafe { (self.functions.destroy)(self.host) }
    }
}

/// Parameters of an instance of a unit, in C's layout.
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

    fn create(&self, design: &Design, functions: &Functions) -> Result<*mut c_void, RtlError> {
        let arguments: Vec<_> = self.arguments.iter().map(|word| word.as_ptr()).collect();
        let raw = RawSetup {
            wave_path: self.waves.as_ref().map_or(std::ptr::null(), |path| path.as_ptr()),
            folder: self.folder.as_ptr(),
            arguments: arguments.as_ptr(),
            argument_count: arguments.len() as u32,
        };
        // SAFETY: every pointer is null or leads to C strings that outlive the call.
        let host = unsafe { (functions.create)(&raw) };
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

/// Verilator's message without the time, repetitions, and its own severity level.
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
        outputs: RawOutputs {
            requests: std::ptr::null(),
            command_responses: std::ptr::null(),
            register_answers: std::ptr::null(),
            flits: std::ptr::null(),
            interrupts: std::ptr::null(),
        },
        counts: RawCounts {
            requests: 0,
            command_responses: 0,
            register_answers: 0,
            flits: 0,
            interrupts: 0,
        },
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
