//! One hart: registers, decoded code, and the loop that runs it.

use crate::address::{AddressSpace, Privilege};
use crate::block::{Block, Blocks, Key, MAXIMUM};
use crate::cause::Exception;
use crate::code::{Code, SharedCode};
use crate::control::{status, Control};
use crate::fetch;
use crate::lower::lower;
use crate::state::{leave, State, Trouble};
use crate::stop::Stop;
use crate::timing::{BlockInstruction, BlockRun, Timing};
use crate::Instruction;
use rackwright_memory::{GuestMemory, Stamps};
use rackwright_time::Cycle;
use std::sync::Arc;

/// What the hart runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Environment {
    /// A program in user mode: environment calls and faults stop the hart.
    Program,
    /// Everything from machine mode on: traps are taken by the code itself.
    BareMetal,
}

/// An access to a device that the hart waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingAccess {
    pub(crate) instruction: Instruction,
    pub(crate) address: u64,
}

/// A RISC-V hart (RV64GC) whose instructions take the time that `T` says.
pub struct Hart<T: Timing> {
    pub(crate) state: Box<State>,
    pub(crate) control: Control,
    pub(crate) environment: Environment,
    pub(crate) timing: T,
    pub(crate) retired: u64,
    pub(crate) cycle_offset: u64,
    pub(crate) retired_offset: u64,
    pub(crate) cycles_per_tick: u64,
    pub(crate) pending_access: Option<PendingAccess>,
    blocks: Blocks<T::Block>,
    shared: Option<Arc<SharedCode<T::Block>>>,
    values: Box<[u64; MAXIMUM]>,
    seen: Option<Stamps>,
    epoch: u64,
    stamp: u64,
}

// SAFETY: the raw pointers in the state are set anew by every run and not used between runs.
unsafe impl<T: Timing + Send> Send for Hart<T> where T::Block: Send + Sync {}

/// Cycles in a tick of `time` unless another number is set: 10 MHz at 2 GHz.
const CYCLES_PER_TICK: u64 = 200;

impl<T: Timing> Hart<T> {
    /// Hart number `number`, standing at address 0 with all registers zero.
    pub fn new(number: u64, environment: Environment, timing: T) -> Hart<T> {
        let privilege = match environment {
            Environment::Program => Privilege::User,
            Environment::BareMetal => Privilege::Machine,
        };
        let mut control = Control::new(number, privilege);
        if environment == Environment::Program {
            control.status |= status::FS;
            control.open_counters();
        }
        let mut hart = Hart {
            state: State::new(),
            control,
            environment,
            timing,
            retired: 0,
            cycle_offset: 0,
            retired_offset: 0,
            cycles_per_tick: CYCLES_PER_TICK,
            pending_access: None,
            blocks: Blocks::new(),
            shared: None,
            values: Box::new([0; MAXIMUM]),
            seen: None,
            epoch: 1,
            stamp: 0,
        };
        hart.refresh_context();
        hart
    }

    /// Has it use code that other harts with the same timing model and parameters have decoded, and they its.
    pub fn share_code(&mut self, shared: Arc<SharedCode<T::Block>>) {
        self.shared = Some(shared);
    }

    /// Runs until `until` has come or something must be decided outside. A block of code that was begun is
    /// ended, so that [`Hart::cycle`] may then lie beyond `until`.
    pub fn run(&mut self, memory: &mut GuestMemory, until: Cycle) -> Stop {
        self.begin(memory);
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

    /// Takes note of what may have changed outside since the last run.
    fn begin(&mut self, memory: &mut GuestMemory) {
        let stamps = memory.stamps();
        if self.seen.map(|seen| seen.data) != Some(stamps.data) {
            self.state.forget_translations();
        }
        if self.seen.map(|seen| seen.code) != Some(stamps.code) {
            self.forget_code();
        }
        self.seen = Some(stamps);
        self.state.host_base = memory.host_base() as u64;
        self.state.memory = memory;
    }

    /// Runs from `block` on until something other than the next block is to be done.
    fn follow(&mut self, mut block: *mut Block<T::Block>, until: Cycle) -> Option<Stop> {
        let values = self.values.as_mut_ptr();
        loop {
            // SAFETY: blocks live until `forget_code`, which only system instructions and a full store reach, after
            // which no pointer is used any more. A block has an operation that leaves it, and the buffer holds a
            // value for each of its instructions.
            let current = unsafe { &mut *block };
            let compiled = &current.code.timing;
            let code = unsafe {
                let first = current.first;
                ((*first).handler)(&mut self.state, first, values)
            };
            if let Some(exit) = current.exits.get_mut(code as usize) {
                account(
                    &mut self.timing,
                    &mut self.retired,
                    compiled,
                    &self.state,
                    values,
                    exit,
                );
                if exit.stamp != self.stamp {
                    self.state.pc = exit.way.pc;
                    exit.target = self.link()?;
                    exit.stamp = self.stamp;
                }
                block = exit.target;
            } else if code == leave::INDIRECT {
                let pc = self.state.pc;
                self.retire(current, current.code.instructions.len(), true, pc);
                match self.blocks.recent(pc, self.stamp) {
                    Some(found) => block = found,
                    None => block = self.link()?,
                }
            } else {
                return self.leave(current, code);
            }
            if self.timing.cycle() >= until {
                // SAFETY: as above.
                self.state.pc = unsafe { (*block).pc() };
                return Some(Stop::Budget);
            }
        }
    }

    fn leave(&mut self, block: &mut Block<T::Block>, code: u32) -> Option<Stop> {
        if code == leave::SYSTEM {
            return self.system(block);
        }
        let index = self.state.stopped_at as usize;
        let at = block.code.instructions[index];
        self.state.pc = at.pc;
        self.retire(block, index, false, at.pc);
        match std::mem::replace(&mut self.state.trouble, Trouble::None) {
            Trouble::Exception(mut exception) => {
                if exception.cause == crate::Cause::IllegalInstruction {
                    exception.value = at.instruction.word.into();
                }
                self.raise(exception)
            }
            Trouble::Device(access) => self.stop_for_device(at.instruction, access),
            Trouble::None => unreachable!("a handler stopped without trouble"),
        }
    }

    /// Accounts for the first `executed` instructions of `block`.
    pub(crate) fn retire(&mut self, block: &Block<T::Block>, executed: usize, taken: bool, next_pc: u64) {
        self.retired += executed as u64;
        let run = BlockRun {
            executed,
            taken,
            next_pc,
            values: recorded::<T>(&self.state, self.values.as_ptr()),
        };
        self.timing.retire(&block.code.timing, &run);
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
        if let Some(found) = self.blocks.recent(pc, self.stamp) {
            return Ok(found);
        }
        if self.blocks.is_full() {
            self.forget_code();
        }
        // SAFETY: `begin` set the pointer to the memory that `run` borrows.
        let memory = unsafe { &mut *self.state.memory };
        let space = self.state.space;
        let physical = fetch::locate(memory, &space, pc)?;
        let context = self.context();
        let key = Key {
            pc,
            physical,
            context,
        };
        let mut found = self.blocks.get(&key);
        if let Some(second) = found.and_then(|block| unsafe { (*block).second_page }) {
            if fetch::locate(memory, &space, pc + 2)? != second {
                found = None;
            }
        }
        let block = match found {
            Some(block) => block,
            None => self.decode(memory, &space, key)?,
        };
        self.blocks.remember(pc, self.stamp, block);
        Ok(block)
    }

    fn decode(
        &mut self,
        memory: &mut GuestMemory,
        space: &AddressSpace,
        key: Key,
    ) -> Result<*mut Block<T::Block>, Exception> {
        let float = self.control.float_enabled();
        let fetched = fetch::fetch(memory, space, key.pc, key.physical, float)?;
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
        Ok(self.blocks.insert(key, Block::new(code, fetched.second_page)))
    }

    /// Forgets all decoded code, as `fence.i` asks for.
    pub fn forget_code(&mut self) {
        self.blocks.clear();
        self.new_epoch();
    }

    /// Makes every remembered way from an address to its code invalid.
    pub(crate) fn new_epoch(&mut self) {
        self.epoch += 1;
        self.stamp = self.epoch << 8 | u64::from(self.context());
    }

    fn context(&self) -> u8 {
        self.control.privilege as u8 | u8::from(self.control.float_enabled()) << 2
    }

    /// To be called whenever privilege, `mstatus` or `satp` has changed.
    pub(crate) fn refresh_context(&mut self) {
        let control = &self.control;
        let data = if control.status & status::MPRV != 0 {
            Privilege::from_bits(control.status >> 11)
        } else {
            control.privilege
        };
        let space = AddressSpace {
            satp: control.satp,
            fetch: control.privilege,
            data,
            user_memory: control.status & status::SUM != 0,
            executable_readable: control.status & status::MXR != 0,
        };
        if space.satp != self.state.space.satp {
            self.epoch += 1;
        }
        if space.data_differs(&self.state.space) {
            self.state.forget_translations();
        }
        self.state.space = space;
        self.stamp = self.epoch << 8 | u64::from(self.context());
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
    retired: &mut u64,
    block: &T::Block,
    state: &State,
    values: *const u64,
    exit: &crate::block::Exit<T::Block>,
) {
    let way = &exit.way;
    *retired += u64::from(way.executed);
    let run = BlockRun {
        executed: way.executed as usize,
        taken: way.taken,
        next_pc: way.pc,
        values: recorded::<T>(state, values),
    };
    timing.retire(block, &run);
}
