//! One hart: registers, decoded code, and the loop that runs it.

use crate::address::{AddressSpace, Privilege};
use crate::block::{Block, Blocks, Key, MAXIMUM};
use crate::cause::{Exception, Fault};
use crate::code::{Code, SharedCode, Way};
use crate::control::{status, Control, Legal};
use crate::counters::Counters;
use crate::fetch::{self, Source};
use crate::lower::lower;
use crate::protection::Regions;
use crate::state::{leave, State, Trouble};
use crate::stop::Stop;
use crate::timing::{BlockInstruction, BlockRun, Timing};
use crate::translations::{Contexts, FetchContext};
use crate::vector::LINES_OF_ACCESS;
use crate::view::View;
use crate::Instruction;
use rackwright_memory::{GuestMemory, ProtectionStamps, PAGE_BYTES};
use rackwright_time::Cycle;
use std::ops::Range;
use std::sync::Arc;

/// The kind of software that the hart runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExecutionEnvironment {
    /// A program in user mode: environment calls and faults stop the hart.
    Program,
    /// All software from machine mode on: it handles traps itself.
    BareMetal,
}

/// An access to a device that the hart waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingAccess {
    pub(crate) instruction: Instruction,
    pub(crate) address: u64,
}

/// What the hart waits for.
#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) access: Option<PendingAccess>,
    /// The fault of a walk that waits for a remote page.
    pub(crate) walk: Option<Exception>,
}

/// What the hart keeps of translations, and the conditions under which that is valid.
pub(crate) struct Kept {
    /// The state of memory's protection at the latest run.
    seen: Option<ProtectionStamps>,
    pub(crate) contexts: Contexts,
    /// The context of fetches.
    fetch: *mut FetchContext,
    /// Which instructions are legal in it.
    legal: Legal,
    /// The stamps under which exits from page to page, and within a page, are valid at present.
    stamps: [u64; 2],
}

/// A RISC-V hart (RV64GC) whose instruction timing is that of `T`.
pub struct Hart<T: Timing> {
    pub(crate) state: Box<State>,
    pub(crate) control: Control,
    pub(crate) environment: ExecutionEnvironment,
    pub(crate) timing: T,
    pub(crate) counters: Counters,
    pub(crate) pending: Pending,
    /// The addresses at which a program may access devices.
    pub(crate) devices: Range<u64>,
    /// Page faults and supervisor returns that have not been taken yet, if they are recorded.
    pub(crate) faults: Option<Vec<Fault>>,
    blocks: Blocks<T::Block>,
    pub(crate) shared: Option<Arc<SharedCode<T::Block>>>,
    values: Box<[u64]>,
    pub(crate) kept: Kept,
    /// Number of `fence.i` instructions so far.
    pub(crate) code_fences: u64,
}

// SAFETY: the raw pointers in the state are set anew by every run and not used between runs, or lead to contexts that the
// hart owns.
unsafe impl<T: Timing + Send> Send for Hart<T> where T::Block: Send + Sync {}

impl<T: Timing> Hart<T> {
    /// Hart number `number`, standing at address 0 with all registers zero.
    pub fn new(number: u64, environment: ExecutionEnvironment, timing: T) -> Hart<T> {
        let privilege = match environment {
            ExecutionEnvironment::Program => Privilege::User,
            ExecutionEnvironment::BareMetal => Privilege::Machine,
        };
        let mut control = Control::new(number, privilege);
        if environment == ExecutionEnvironment::Program {
            control.status |= status::FS | status::VS;
            control.open_counters();
        }
        let legal = control.legal();
        let mut state = State::new();
        if environment == ExecutionEnvironment::Program {
            state.regions = Regions::open();
        }
        let mut hart = Hart {
            state,
            control,
            environment,
            timing,
            counters: Counters::new(),
            pending: Pending::default(),
            devices: 0..0,
            faults: None,
            blocks: Blocks::new(),
            shared: None,
            values: vec![0; MAXIMUM].into(),
            kept: Kept {
                seen: None,
                contexts: Contexts::new(),
                fetch: std::ptr::null_mut(),
                legal,
                stamps: [0; 2],
            },
            code_fences: 0,
        };
        if environment == ExecutionEnvironment::Program {
            hart.offer_vector();
        }
        hart.renew_context();
        hart
    }

    /// Adds a vector unit.
    pub(crate) fn offer_vector(&mut self) {
        self.control.offers.vector = true;
        self.values = vec![0; MAXIMUM * (1 + LINES_OF_ACCESS)].into();
    }

    /// Runs until `until` or until a decision of the caller is needed. A started block of code is completed, so that
    /// [`Hart::cycle`] may then be later than `until`.
    pub fn run(&mut self, memory: &mut GuestMemory, until: Cycle) -> Stop {
        self.begin(memory);
        self.timing.begin_turn();
        if self.take_interrupt() {
            self.timing.trap();
        }
        loop {
            if self.timing.cycle() >= until {
                return Stop::Budget;
            }
            let stop = match self.find() {
                Ok(block) => self.follow(block, until),
                Err(exception) => self.raise(exception),
            };
            if let Some(stop) = stop {
                return stop;
            }
        }
    }

    /// Updates the state that may have changed outside since the last run.
    fn begin(&mut self, memory: &mut GuestMemory) {
        let stamps = memory.stamps();
        if self.kept.seen.map(|seen| seen.data) != Some(stamps.data) {
            self.kept.contexts.clear_data();
        }
        if self.kept.seen.map(|seen| seen.code) != Some(stamps.code) {
            self.kept.contexts.clear_fetch();
            self.fence_instructions();
        }
        self.kept.seen = Some(stamps);
        self.state.host_base = memory.host().base() as u64;
        self.state.memory = memory;
    }

    /// Runs from `block` on until an event other than the next block.
    fn follow(&mut self, mut block: *mut Block<T::Block>, until: Cycle) -> Option<Stop> {
        let values = self.values.as_mut_ptr();
        loop {
            // SAFETY: blocks live until `forget_code`, which only a full store reaches, after which no pointer is used any
            // more. A block has an operation that leaves it, and the buffer holds a value for each of its instructions.
            let current = unsafe { &mut *block };
            let compiled = &current.code.timing;
            let code = unsafe {
                let first = current.first;
                ((*first).handler)(&mut self.state, first, values)
            };
            // SAFETY: exits live as long as their block, and only it leads to them.
            if let Some(exit) = unsafe { &mut *current.exits }.get_mut(code as usize) {
                account(
                    &mut self.timing,
                    &mut self.counters,
                    compiled,
                    &self.state,
                    values,
                    &exit.way,
                    current.pc,
                );
                if !self.kept.stamps.contains(&exit.stamp) {
                    let pc = exit.way.target(current.pc);
                    self.state.pc = pc;
                    exit.target = self.link()?;
                    // SAFETY: as above.
                    let crosses = unsafe { (*exit.target).second_page().is_some() };
                    let is_local = !crosses && (pc ^ current.pc) < PAGE_BYTES;
                    exit.stamp = self.kept.stamps[usize::from(is_local)];
                }
                block = exit.target;
            } else if code == leave::INDIRECT {
                let pc = self.state.pc;
                self.retire(current, current.code.instructions.len(), true, pc);
                match self.blocks.recent(pc, self.kept.stamps[0]) {
                    Some(found) => block = found,
                    None => block = self.link()?,
                }
            } else if let Some(way) = current.code.ways.get(code as usize) {
                self.state.pc = way.target(current.pc);
                self.retire(current, way.executed.into(), way.taken, self.state.pc);
                self.blocks.has_run(current);
                block = self.link()?;
            } else {
                return self.leave(current, code);
            }
            if self.timing.cycle() >= until {
                // SAFETY: as above.
                self.state.pc = unsafe { (*block).pc };
                return Some(Stop::Budget);
            }
        }
    }

    fn leave(&mut self, block: &mut Block<T::Block>, code: u32) -> Option<Stop> {
        if code == leave::SYSTEM {
            return self.system(block);
        }
        let index = self.state.stopped.at as usize;
        let at = block.code.instructions[index];
        let trouble = std::mem::replace(&mut self.state.stopped.trouble, Trouble::None);
        if let Trouble::Prefetch(place) = trouble {
            self.state.pc = at.pc.wrapping_add(at.instruction.length.into());
            self.retire(block, index + 1, false, self.state.pc);
            return Some(Stop::Prefetch(place));
        }
        self.state.pc = at.pc;
        self.retire(block, index, false, at.pc);
        match trouble {
            Trouble::Exception(mut exception) => {
                if exception.cause == crate::Cause::IllegalInstruction {
                    exception.value = at.instruction.word.into();
                }
                self.raise(exception)
            }
            Trouble::Device(access) => self.stop_for_device(at.instruction, access),
            Trouble::None | Trouble::Prefetch(_) => unreachable!("a handler stopped without trouble"),
        }
    }

    /// Accounts for the first `executed` instructions of `block`.
    pub(crate) fn retire(&mut self, block: &Block<T::Block>, executed: usize, taken: bool, next_pc: u64) {
        self.counters.retire(executed as u64);
        let run = BlockRun {
            executed,
            taken,
            next_pc,
            values: recorded::<T>(&self.state, self.values.as_ptr()),
        };
        self.timing.retire(&block.code.timing, &run);
        self.timing
            .observe(&block.code.timing, &run, View::new(&self.state));
    }

    /// The block at the program counter, if it can be had without forgetting others.
    fn link(&mut self) -> Option<*mut Block<T::Block>> {
        if self.blocks.is_full() {
            return None;
        }
        self.find().ok()
    }

    /// The block at the program counter.
    fn find(&mut self) -> Result<*mut Block<T::Block>, Exception> {
        let pc = self.state.pc;
        if let Some(found) = self.blocks.recent(pc, self.kept.stamps[0]) {
            return Ok(found);
        }
        if self.blocks.is_full() {
            self.forget_code();
        }
        // SAFETY: `begin` set the pointer to the memory that `run` borrows; the context is the hart's own, and what is
        // done here changes no contexts.
        let mut source = unsafe {
            Source {
                memory: &mut *self.state.memory,
                space: self.state.space,
                regions: &*std::ptr::addr_of!(self.state.regions),
                context: &mut *self.kept.fetch,
            }
        };
        let physical = fetch::locate(&mut source, pc)?;
        let key = Key {
            pc,
            physical,
            context: self.context(),
        };
        let block = match self.known(&key, &mut source)? {
            Some(block) => block,
            None => self.decode(&mut source, key)?,
        };
        self.blocks.remember(pc, self.kept.stamps[0], block);
        Ok(block)
    }

    /// The block of `key`, if it was decoded already and its instructions are still the same.
    fn known(
        &mut self,
        key: &Key,
        source: &mut Source<'_>,
    ) -> Result<Option<*mut Block<T::Block>>, Exception> {
        let Some(found) = self.blocks.get(key) else {
            return Ok(None);
        };
        // SAFETY: as in `follow`.
        let block = unsafe { &mut *found };
        if let Some(second) = block.second_page() {
            if fetch::locate(source, key.pc + 2)? != second {
                return Ok(None);
            }
        }
        let generation = self.kept.stamps[1];
        if block.generation != generation {
            let instructions = &block.code.instructions;
            if !fetch::unchanged(source.memory, instructions, key.physical, block.second_page()) {
                return Ok(None);
            }
            block.generation = generation;
        }
        Ok(Some(found))
    }

    fn decode(&mut self, source: &mut Source<'_>, key: Key) -> Result<*mut Block<T::Block>, Exception> {
        let legal = self.control.legal();
        let fetched = fetch::fetch(source, key.pc, key.physical, legal)?;
        let timing = &mut self.timing;
        let mut make = |instructions: Vec<BlockInstruction>| {
            let lowered = if T::RECORDS {
                lower::<true>(&instructions)
            } else {
                lower::<false>(&instructions)
            };
            Code::new(lowered, timing.compile(&instructions), instructions)
        };
        let code = match &self.shared {
            Some(shared) => shared.of(fetched.instructions, make),
            None => Arc::new(make(fetched.instructions)),
        };
        let second_page = fetched.second_page;
        Ok(self.blocks.insert(&key, code, second_page, self.kept.stamps[1]))
    }

    /// Forgets all decoded code.
    fn forget_code(&mut self) {
        self.blocks.clear();
        self.fence_instructions();
    }

    /// Compares memory before decoded code is executed again, as required by `fence.i`.
    pub(crate) fn fence_instructions(&mut self) {
        self.kept.contexts.fence_instructions();
        self.renew_context();
    }

    /// To be called whenever the regions of memory that modes may use have changed.
    pub(crate) fn refresh_regions(&mut self) {
        self.kept.contexts.clear_data();
        self.kept.contexts.clear_fetch();
        self.renew_context();
    }

    fn context(&self) -> u8 {
        let Legal { float, vector } = self.control.legal();
        self.control.privilege as u8 | u8::from(float) << 2 | u8::from(vector) << 3
    }

    /// To be called whenever privilege, `mstatus` or `satp` has changed.
    pub(crate) fn refresh_context(&mut self) {
        self.state.supervisor_scratch = self.control.supervisor.scratch;
        let space = self.space();
        if space != self.state.space || self.control.legal() != self.kept.legal {
            self.enter_context(space);
        }
    }

    /// To be called after every fence.
    pub(crate) fn renew_context(&mut self) {
        self.enter_context(self.space());
    }

    fn space(&self) -> AddressSpace {
        let control = &self.control;
        let data = if control.status & status::MPRV != 0 {
            Privilege::from_bits(control.status >> 11)
        } else {
            control.privilege
        };
        AddressSpace {
            satp: control.satp,
            fetch: control.privilege,
            data,
            user_memory: control.status & status::SUM != 0,
            executable_readable: control.status & status::MXR != 0,
        }
    }

    fn enter_context(&mut self, space: AddressSpace) {
        self.state.space = space;
        self.kept.legal = self.control.legal();
        self.state.data = self.kept.contexts.data(&space);
        self.kept.fetch = self.kept.contexts.fetch(&space, self.kept.legal);
        self.kept.stamps = self.kept.contexts.stamps(self.kept.fetch);
    }
}

fn recorded<'a, T: Timing>(state: &State, values: *const u64) -> &'a [u64] {
    if !T::RECORDS {
        return &[];
    }
    // SAFETY: handlers move the cursor from the start of the buffer and write what they pass.
    unsafe { std::slice::from_raw_parts(values, state.cursor.cast_const().offset_from(values) as usize) }
}

/// [`Hart::retire`] for a block left by one of its exits.
#[inline(always)]
fn account<T: Timing>(
    timing: &mut T,
    counters: &mut Counters,
    block: &T::Block,
    state: &State,
    values: *const u64,
    way: &Way,
    pc: u64,
) {
    counters.retire(way.executed.into());
    let run = BlockRun {
        executed: way.executed as usize,
        taken: way.taken,
        next_pc: way.target(pc),
        values: recorded::<T>(state, values),
    };
    timing.retire(block, &run);
    timing.observe(block, &run, View::new(state));
}
