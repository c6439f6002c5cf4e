//! The effect of each instruction on the times of the core, as functions that are called one after the other.
//!
//! A step receives the core, its own entry and the state in program order, executes, and calls the step of the
//! following entry in tail position, like the handlers of instructions: the data that almost every instruction needs
//! then stay in registers. Rare cases are separate functions, with the same arguments, so that the common path needs no
//! stack frame.

use super::block::Entry;
use super::memory::Access;
use super::predictor::Guess;
use super::resources::{commit, InOrder, Slot};
use super::Boom;
use crate::timing::explain::Count;
use crate::timing::{DivideOperands, VectorRun, FAILED_STORE};
use rackwright_memory::{Cache, HartPort};

/// Of an entry: the core, the entry, the latest dispatch, the cycle of the latest commit, the entry's place in the
/// reorder buffer, and the values of the run from there on.
///
/// # Safety
/// The entry belongs to a block that ends with [`end`], the place to a run of the core's reorder buffer that is long enough,
/// and there are as many values as the block's instructions have.
pub(super) type Step<const EXPLAINED: bool> =
    unsafe fn(&mut Boom<EXPLAINED>, *const Entry<EXPLAINED>, InOrder, u64, Slot, *const u64);

/// Defines steps, which have a long list of arguments in common.
macro_rules! steps {
    ($($(#[$attribute:meta])* $name:ident $(<$(const $parameter:ident: $type:ty),+>)?
        ($core:ident, $entry:ident, $dispatch:ident, $committed:ident, $slot:ident, $values:ident) $body:block)*) => {$(
        $(#[$attribute])*
        pub(super) unsafe fn $name<$($(const $parameter: $type,)+)? const EXPLAINED: bool>(
            $core: &mut Boom<EXPLAINED>,
            $entry: *const Entry<EXPLAINED>,
            $dispatch: InOrder,
            $committed: u64,
            $slot: Slot,
            $values: *const u64,
        ) {
            // SAFETY: as `Step` asks for.
            unsafe { $body }
        }
    )*};
}

/// Records the time at which the result of an instruction that starts at `start` is ready, commits the instruction, and
/// continues.
#[inline(always)]
unsafe fn complete<const EXPLAINED: bool>(
    core: &mut Boom<EXPLAINED>,
    entry: *const Entry<EXPLAINED>,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    start: u64,
) {
    // SAFETY: as `Step` asks for; behind an instruction comes another entry.
    unsafe {
        core.ready[usize::from((*entry).target)] = start + u64::from((*entry).latency);
        let now = commit(slot, committed, start + u64::from((*entry).commit));
        core.explain_commit(committed, now, dispatch);
        next(core, entry, dispatch, now, slot.add(1), values);
    }
}

#[inline(always)]
unsafe fn next<const EXPLAINED: bool>(
    core: &mut Boom<EXPLAINED>,
    entry: *const Entry<EXPLAINED>,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
) {
    // SAFETY: as `Step` asks for, and the entry is not the last.
    unsafe {
        let following = entry.add(1);
        ((*following).step)(core, following, dispatch, committed, slot, values);
    }
}

/// Ends a load whose line has the data for a start at `start`.
#[inline(always)]
unsafe fn loaded<const EXPLAINED: bool>(
    core: &mut Boom<EXPLAINED>,
    entry: *const Entry<EXPLAINED>,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    start: u64,
) {
    // SAFETY: as `Step` asks for; a load has a value.
    unsafe {
        core.load_store
            .loads
            .hold(committed.max(start + u64::from((*entry).commit)));
        complete(core, entry, dispatch, committed, slot, values.add(1), start);
    }
}

/// Ends a store that starts at `start`, and whose line has the data at `there`.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what goes in order stays in registers")]
unsafe fn stored<const EXPLAINED: bool>(
    core: &mut Boom<EXPLAINED>,
    entry: *const Entry<EXPLAINED>,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    start: u64,
    there: u64,
) {
    // SAFETY: as `Step` asks for; a store has a value.
    unsafe {
        core.load_store.drained = core.load_store.drained.max(there);
        core.load_store.stores.hold(there);
        complete(core, entry, dispatch, committed, slot, values.add(1), start);
    }
}

/// Ends a branch that starts at `start`; a run ends with one that is taken.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what goes in order stays in registers")]
unsafe fn branched<const EXPLAINED: bool>(
    core: &mut Boom<EXPLAINED>,
    entry: *const Entry<EXPLAINED>,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    start: u64,
    taken: bool,
) {
    // SAFETY: as `Step` asks for.
    unsafe {
        if !taken {
            return complete(core, entry, dispatch, committed, slot, values, start);
        }
        let now = commit(slot, committed, start + u64::from((*entry).commit));
        core.explain_commit(committed, now, dispatch);
        end(core, entry, dispatch, now, slot.add(1), values);
    }
}

/// Ends an instruction that was alone in the pipeline, and flushes the pipeline after it.
#[inline(always)]
unsafe fn flushed<const EXPLAINED: bool>(
    core: &mut Boom<EXPLAINED>,
    entry: *const Entry<EXPLAINED>,
    mut dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    start: u64,
) {
    // SAFETY: as `Step` asks for.
    unsafe {
        let restart = start + u64::from((*entry).commit) + core.parameters.flush;
        core.explain_restart(dispatch, restart, Count::FrontEnd);
        dispatch.restart(restart);
        core.front.restart(restart);
        complete(core, entry, dispatch, committed, slot, values, start);
    }
}

/// Ends a store that starts at `start`, for any state of its line in the data cache.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what goes in order stays in registers")]
unsafe fn finish_store<const EXPLAINED: bool>(
    core: &mut Boom<EXPLAINED>,
    entry: *const Entry<EXPLAINED>,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    start: u64,
    dispatched: u64,
) {
    // SAFETY: as `Step` asks for; a store has a value.
    unsafe {
        core.load_store
            .write(committed.max(start + u64::from((*entry).commit)));
        let access = access(&core.memory, dispatched, *values);
        let ready = start + u64::from((*entry).latency);
        let there = core
            .load_store
            .data
            .store(ready, core.load_store.written, &access);
        core.explain_store(there);
        stored(core, entry, dispatch, committed, slot, values, start, there)
    }
}

fn access(memory: &HartPort, dispatched: u64, address: u64) -> Access<'_> {
    Access {
        address,
        dispatched,
        memory,
    }
}

impl<const EXPLAINED: bool> Boom<EXPLAINED> {
    /// Time at which the operands of an instruction dispatched at `dispatched` are ready. Only some floating-point
    /// operations have three.
    #[inline(always)]
    fn operands<const SOURCES: usize>(&self, entry: &Entry<EXPLAINED>, dispatched: u64) -> u64 {
        let earliest = dispatched + self.parameters.dispatch;
        (entry.sources[..SOURCES].iter())
            .fold(earliest, |at, &source| at.max(self.ready[usize::from(source)]))
    }

    /// Times at which the address and the data of a store dispatched at `dispatched` are ready.
    #[inline(always)]
    fn store_sources(&self, entry: &Entry<EXPLAINED>, dispatched: u64) -> [u64; 2] {
        let earliest = dispatched + self.parameters.dispatch;
        let [address, data, _] = entry.sources;
        [address, data].map(|source| earliest.max(self.ready[usize::from(source)]))
    }

    /// Times at which the first and the second of them are ready: the first one is issued alone, and takes a slot of
    /// the port.
    #[inline(always)]
    fn store_operands(&self, entry: &Entry<EXPLAINED>, dispatched: u64) -> (u64, u64) {
        let [address, data] = self.store_sources(entry, dispatched);
        (address.min(data), address.max(data))
    }

    /// Continues after a jump that starts at `start` according to the front end's prediction.
    #[inline(always)]
    fn follow(&mut self, order: &mut InOrder, guess: Guess, start: u64) {
        if guess.right {
            self.front.lose(guess.lost);
        } else {
            let restart = start + self.parameters.redirect;
            self.explain_restart(*order, restart, Count::Branch);
            self.count(Count::Mispredictions);
            order.restart(restart);
            self.front.restart(restart);
        }
    }

    /// Dispatches an instruction into an empty pipeline with no store left; returns when.
    #[inline(always)]
    fn dispatch_alone(&self, order: &mut InOrder, committed: u64) -> u64 {
        order.step(self.load_store.drained.max(committed) + 1)
    }

    /// Dispatches a store; returns when.
    ///
    /// # Safety
    /// As [`Step`].
    #[inline(always)]
    unsafe fn dispatch_store(&self, order: &mut InOrder, slot: Slot) -> u64 {
        // SAFETY: the caller's.
        order.step(unsafe { self.reorder.free(slot) }.max(self.load_store.stores.free()))
    }

    /// Dispatches an instruction; returns the time at which its operands are ready.
    ///
    /// # Safety
    /// As [`Step`].
    #[inline(always)]
    unsafe fn dispatch<const SOURCES: usize>(
        &self,
        order: &mut InOrder,
        slot: Slot,
        entry: &Entry<EXPLAINED>,
    ) -> u64 {
        // SAFETY: the caller's.
        unsafe { self.dispatch_to_queue::<SOURCES>(order, slot, entry, 0).1 }
    }

    /// The same for an instruction that needs an entry of a queue, which is free at `room`; returns also when it is dispatched.
    ///
    /// # Safety
    /// As [`Step`].
    #[inline(always)]
    unsafe fn dispatch_to_queue<const SOURCES: usize>(
        &self,
        order: &mut InOrder,
        slot: Slot,
        entry: &Entry<EXPLAINED>,
        room: u64,
    ) -> (u64, u64) {
        // SAFETY: the caller's.
        let dispatched = order.step(unsafe { self.reorder.free(slot) }.max(room));
        (dispatched, self.operands::<SOURCES>(entry, dispatched))
    }
}

steps! {
    /// Takes a cycle and no contended resource.
    simple<const SOURCES: usize>(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let start = core.dispatch::<SOURCES>(&mut dispatch, slot, &*entry);
        complete(core, entry, dispatch, committed, slot, values, start)
    }

    /// A multiplier is pipelined: its operand has no effect.
    multiply(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let operands = core.dispatch::<2>(&mut dispatch, slot, &*entry);
        let start = core.execution.multiplier_port.take(operands);
        complete(core, entry, dispatch, committed, slot, values.add(1), start)
    }

    /// Takes the port of the floating-point unit.
    float(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let operands = core.dispatch::<3>(&mut dispatch, slot, &*entry);
        let start = core.execution.float_port.take(operands);
        complete(core, entry, dispatch, committed, slot, values, start)
    }

    /// Uses the path from the integer to the floating-point registers.
    integer_to_float(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let operands = core.dispatch::<1>(&mut dispatch, slot, &*entry);
        let start = core.execution.conversion_port.take(operands);
        complete(core, entry, dispatch, committed, slot, values, start)
    }

    /// A load that hits, and whose port is free soon.
    load(core, entry, dispatch, committed, slot, values) {
        let address = *values;
        if !core.load_store.data.loads_at_once(address) {
            return load_slowly(core, entry, dispatch, committed, slot, values);
        }
        let mut order = dispatch;
        let (_, operands) = core.dispatch_to_queue::<1>(&mut order, slot, &*entry, core.load_store.loads.free());
        let Some(start) = core.execution.memory_port.take_at_once(operands) else {
            return load_slowly(core, entry, dispatch, committed, slot, values);
        };
        let there = start.max(core.load_store.data.forwarded(address));
        loaded(core, entry, order, committed, slot, values, there)
    }

    /// Any load.
    #[inline(never)]
    load_slowly(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let (dispatched, operands) =
            core.dispatch_to_queue::<1>(&mut dispatch, slot, &*entry, core.load_store.loads.free());
        let start = core.execution.memory_port.take(operands);
        let there = core.load_store.data.load(start, &access(&core.memory, dispatched, *values));
        loaded(core, entry, dispatch, committed, slot, values, there)
    }

    /// A store that hits a writable line, and whose port is free soon.
    store(core, entry, dispatch, committed, slot, values) {
        let address = *values;
        if !core.load_store.data.stores_at_once(address) {
            return store_slowly(core, entry, dispatch, committed, slot, values);
        }
        let mut order = dispatch;
        let dispatched = core.dispatch_store(&mut order, slot);
        let (early, late) = core.store_operands(&*entry, dispatched);
        let Some(start) = core.execution.memory_port.take_at_once(early) else {
            return store_slowly(core, entry, dispatch, committed, slot, values);
        };
        let start = if late > start { core.execution.memory_port.take(late) } else { start };
        core.load_store.write(committed.max(start + u64::from((*entry).commit)));
        core.load_store.data.forward(address, start + u64::from((*entry).latency));
        stored(core, entry, order, committed, slot, values, start, core.load_store.written)
    }

    /// Any store.
    #[inline(never)]
    store_slowly(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let dispatched = core.dispatch_store(&mut dispatch, slot);
        let (early, late) = core.store_operands(&*entry, dispatched);
        let start = core.execution.memory_port.take(early);
        let start = if late > start { core.execution.memory_port.take(late) } else { start };
        finish_store(core, entry, dispatch, committed, slot, values, start, dispatched)
    }

    /// A store from a floating-point register, whose data use the port of that unit.
    store_float(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let dispatched = core.dispatch_store(&mut dispatch, slot);
        let [address, data] = core.store_sources(&*entry, dispatched);
        let start = core.execution.memory_port.take(address).max(core.execution.float_port.take(data));
        finish_store(core, entry, dispatch, committed, slot, values, start, dispatched)
    }

    /// A conditional branch.
    branch(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let start = core.dispatch::<2>(&mut dispatch, slot, &*entry);
        let taken = (*entry).index == core.left.taken_at;
        let guess = core.front.predictor.branch((*entry).site(), (*entry).chunk, taken);
        core.follow(&mut dispatch, guess, start);
        branched(core, entry, dispatch, committed, slot, values, start, taken)
    }

    /// A direct jump, a `CALL` or not: always predicted.
    fixed<const CALL: bool>(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let start = core.dispatch::<2>(&mut dispatch, slot, &*entry);
        let lost = core.front.predictor.fixed((*entry).site());
        core.front.lose(lost);
        if CALL {
            core.front.predictor.call((*entry).following());
        }
        complete(core, entry, dispatch, committed, slot, values, start)
    }

    /// A jump to an address in a register, a `CALL` or not.
    jump<const CALL: bool>(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let start = core.dispatch::<2>(&mut dispatch, slot, &*entry);
        let learnt = committed.max(start + u64::from((*entry).commit));
        let guess = core.front.predictor.jump((*entry).site(), core.left.next_pc, core.front.packet, learnt);
        core.follow(&mut dispatch, guess, start);
        if CALL {
            core.front.predictor.call((*entry).following());
        }
        complete(core, entry, dispatch, committed, slot, values, start)
    }

    /// A jump that has the form of a function's return.
    function_return(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let start = core.dispatch::<2>(&mut dispatch, slot, &*entry);
        let learnt = committed.max(start + u64::from((*entry).commit));
        let guess = core.front.predictor.function_return((*entry).site(), core.left.next_pc, core.front.packet, learnt);
        core.follow(&mut dispatch, guess, start);
        complete(core, entry, dispatch, committed, slot, values, start)
    }

    /// A reservation, alone in the pipeline.
    reserve(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let dispatched = core.dispatch_alone(&mut dispatch, committed);
        let start = dispatched + core.parameters.dispatch;
        let there = core.load_store.data.load(start, &access(&core.memory, dispatched, *values));
        flushed(core, entry, dispatch, committed, slot, values.add(1), there)
    }

    /// A read-modify-write, alone in the pipeline.
    atomic(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let dispatched = core.dispatch_alone(&mut dispatch, committed);
        let start = dispatched + core.parameters.dispatch;
        let access = access(&core.memory, dispatched, *values & !FAILED_STORE);
        // A store-conditional that fails does not take the line from other caches: their harts may have reserved it.
        let there = if *values & FAILED_STORE == 0 {
            core.load_store.data.store(start, start, &access)
        } else {
            core.load_store.data.load(start, &access)
        };
        flushed(core, entry, dispatch, committed, slot, values.add(1), there)
    }

    /// An integer division, as long as its quotient; one at a time.
    divide(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let operands = core.dispatch::<2>(&mut dispatch, slot, &*entry);
        let sizes = DivideOperands::unpack(*values);
        let least = u64::from((*entry).latency);
        let steps = sizes.quotient_bits().map_or(64, u64::from) + u64::from(sizes.negations());
        let start = operands.max(core.execution.divider) + steps;
        core.execution.divider = start + least;
        complete(core, entry, dispatch, committed, slot, values.add(1), start)
    }

    /// A floating-point division or square root; one at a time.
    float_divide(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let operands = core.dispatch::<2>(&mut dispatch, slot, &*entry);
        let start = core.execution.float_port.take(operands.max(core.execution.float_divider));
        core.execution.float_divider = start + u64::from((*entry).latency) - core.parameters.latencies.float_divide_tail;
        complete(core, entry, dispatch, committed, slot, values, start)
    }

    /// Issued to a unit when no earlier instruction can fail any more; later instructions continue.
    ///
    /// BOOM stores commands in a separate queue and sends one per cycle, in order, once they are not speculative; it
    /// neither drains the pipeline nor refetches (its `RoCCShim`).
    command(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let start = core.dispatch::<3>(&mut dispatch, slot, &*entry).max(committed);
        complete(core, entry, dispatch, committed, slot, values, start)
    }

    /// Issued to the vector unit when no earlier instruction can fail any more; the core stalls if the unit has no
    /// room.
    vector(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let start = core.dispatch::<3>(&mut dispatch, slot, &*entry).max(committed);
        let given = core.execution.vector.arithmetic(start, (*entry).word, VectorRun::unpack(*values));
        core.ready[usize::from((*entry).target)] = given.result;
        let now = commit(slot, committed, given.taken + u64::from((*entry).commit));
        core.explain_commit(committed, now, dispatch);
        next(core, entry, dispatch, now, slot.add(1), values.add(1));
    }

    /// The same of a load or `STORE`, whose addresses the core translates before.
    vector_access<const STORE: bool>(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let (dispatched, operands) = core.dispatch_to_queue::<2>(&mut dispatch, slot, &*entry, 0);
        let run = VectorRun::unpack(*values);
        let lines = std::slice::from_raw_parts(values.add(1), usize::from(run.lines));
        let (data, memory) = (&mut core.load_store.data, &core.memory);
        let line = |at, address| {
            let access = access(memory, dispatched, address);
            if STORE { data.store(at, at, &access) } else { data.load(at, &access) }
        };
        let start = operands.max(committed);
        let taken = core.execution.vector.access(start, (*entry).word, run, STORE, lines.iter().copied(), line);
        core.load_store.drained = core.load_store.drained.max(core.execution.vector.quiet());
        if STORE {
            core.explain_store(core.execution.vector.quiet());
        }
        let now = commit(slot, committed, taken + u64::from((*entry).commit));
        core.explain_commit(committed, now, dispatch);
        next(core, entry, dispatch, now, slot.add(1), values.add(1 + lines.len()));
    }

    /// A fence or an access to a control register, alone in the pipeline. If it `FORGETS`, instructions in the cache may be
    /// out of date.
    serial<const FORGETS: bool>(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        if FORGETS {
            core.front.instructions = Cache::new(core.parameters.instructions);
        }
        let start = core.dispatch_alone(&mut dispatch, committed) + core.parameters.dispatch;
        flushed(core, entry, dispatch, committed, slot, values, start)
    }

    /// Not an instruction: the next one is in another line of the instruction cache.
    line(core, entry, dispatch, committed, slot, values) {
        if !core.front.instructions.is_latest((*entry).address, 0, 0) {
            core.look_for_line((*entry).address);
        }
        next(core, entry, dispatch, committed, slot, values)
    }

    /// Not an instruction: the next one is in another packet of the front end.
    packet(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let parameters = &core.parameters;
        let ahead = dispatch.next().saturating_sub(parameters.fetch + parameters.fetch_ahead);
        core.front.packet = core.front.fetch.max(ahead);
        core.front.fetch = core.front.packet + 1;
        let supplied = core.front.packet + parameters.fetch;
        dispatch.not_before(supplied);
        if EXPLAINED {
            core.explanation.packet(supplied);
        }
        next(core, entry, dispatch, committed, slot, values)
    }
}

/// Not an instruction: the block is over.
pub(super) unsafe fn end<const EXPLAINED: bool>(
    core: &mut Boom<EXPLAINED>,
    entry: *const Entry<EXPLAINED>,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    _: *const u64,
) {
    // SAFETY: as `Step` asks for.
    core.front.predictor.leave(unsafe { (*entry).chunk });
    core.dispatch = dispatch;
    core.committed = committed;
    core.reorder.end(slot);
}
