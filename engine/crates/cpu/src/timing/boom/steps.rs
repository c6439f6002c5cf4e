//! What each instruction does to the times of the core, as functions that run one after the other.
//!
//! A step gets the core, its own entry and what goes in the order of the program, does its work, and calls the step of
//! the following entry in tail position, as the handlers of instructions do: what nearly every
//! instruction needs then stays in registers. What is rare is apart, with the same arguments, so that the usual way needs no stack frame.

use super::block::Entry;
use super::memory::Access;
use super::resources::{commit, InOrder, Slot};
use super::Boom;
use crate::timing::divide_operands;
use rackwright_memory::{Cache, RequesterId, SharedHierarchy};

/// Of an entry: the core, the entry, the latest dispatch, the cycle of the latest commit, the entry's place in the
/// reorder buffer, and the values of the run from there on.
///
/// # Safety
/// The entry belongs to a block that ends with [`end`], the place to a run of the core's reorder buffer that is long enough,
/// and there are as many values as the block's instructions have.
pub(super) type Step = unsafe fn(&mut Boom, *const Entry, InOrder, u64, Slot, *const u64);

/// Defines steps, which have a long list of arguments in common.
macro_rules! steps {
    ($($(#[$attribute:meta])* $name:ident $(<$(const $parameter:ident: $type:ty),+>)?
        ($core:ident, $entry:ident, $dispatch:ident, $committed:ident, $slot:ident, $values:ident) $body:block)*) => {$(
        $(#[$attribute])*
        pub(super) unsafe fn $name $(<$(const $parameter: $type),+>)? (
            $core: &mut Boom,
            $entry: *const Entry,
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

/// Notes when an instruction's result is there, commits it, and goes on.
#[inline(always)]
unsafe fn complete(
    core: &mut Boom,
    entry: *const Entry,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    done: u64,
) {
    // SAFETY: as `Step` asks for; behind an instruction comes another entry.
    unsafe {
        core.ready[usize::from((*entry).target)] = done;
        let committed = commit(slot, committed, done);
        next(core, entry, dispatch, committed, slot.add(1), values);
    }
}

#[inline(always)]
unsafe fn next(
    core: &mut Boom,
    entry: *const Entry,
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

/// Ends a load whose line has the data at `there`.
#[inline(always)]
unsafe fn loaded(
    core: &mut Boom,
    entry: *const Entry,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    there: u64,
) {
    // SAFETY: as `Step` asks for; a load has a value.
    unsafe {
        let done = there + u64::from((*entry).latency);
        core.loads.hold(done.max(committed));
        complete(core, entry, dispatch, committed, slot, values.add(1), done);
    }
}

/// Ends a store that is executed at `done`, and whose line has the data at `there`.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what goes in order stays in registers")]
unsafe fn stored(
    core: &mut Boom,
    entry: *const Entry,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    done: u64,
    there: u64,
) {
    // SAFETY: as `Step` asks for; a store has a value.
    unsafe {
        core.drained = core.drained.max(there);
        core.stores.hold(there);
        complete(core, entry, dispatch, committed, slot, values.add(1), done);
    }
}

/// Ends a branch that is executed at `done`; a run ends with one that is taken.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what goes in order stays in registers")]
unsafe fn branched(
    core: &mut Boom,
    entry: *const Entry,
    mut dispatch: InOrder,
    committed: u64,
    slot: Slot,
    values: *const u64,
    done: u64,
    taken: bool,
) {
    // SAFETY: as `Step` asks for.
    unsafe {
        if !taken {
            return complete(core, entry, dispatch, committed, slot, values, done);
        }
        dispatch.end_group();
        let committed = commit(slot, committed, done);
        end(core, entry, dispatch, committed, slot.add(1), values);
    }
}

fn access(shared: &SharedHierarchy, hart: RequesterId, dispatched: u64, address: u64) -> Access<'_> {
    Access {
        address,
        dispatched,
        shared,
        hart,
    }
}

impl Boom {
    /// When the operands of an instruction dispatched at `dispatched` are there. Only some floating-point operations have three.
    #[inline(always)]
    fn operands<const SOURCES: usize>(&self, entry: &Entry, dispatched: u64) -> u64 {
        let earliest = dispatched + self.parameters.dispatch;
        (entry.sources[..SOURCES].iter())
            .fold(earliest, |at, &source| at.max(self.ready[usize::from(source)]))
    }

    /// Gives a store to the data cache at `at` at the earliest, after the one before.
    #[inline(always)]
    fn write(&mut self, at: u64) {
        self.written = at.max(self.written + 1);
    }

    /// Dispatches an instruction; returns when its operands are there.
    ///
    /// # Safety
    /// As [`Step`].
    #[inline(always)]
    unsafe fn dispatch<const SOURCES: usize>(&self, order: &mut InOrder, slot: Slot, entry: &Entry) -> u64 {
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
        entry: &Entry,
        room: u64,
    ) -> (u64, u64) {
        // SAFETY: the caller's.
        let dispatched = order.step(unsafe { self.reorder.free(slot) }.max(room));
        (dispatched, self.operands::<SOURCES>(entry, dispatched))
    }
}

steps! {
    /// Takes a cycle and nothing that others could be short of.
    simple<const SOURCES: usize>(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let done = core.dispatch::<SOURCES>(&mut dispatch, slot, &*entry) + 1;
        complete(core, entry, dispatch, committed, slot, values, done)
    }

    /// A multiplier is pipelined: its operand is of no interest.
    multiply(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let done = core.dispatch::<2>(&mut dispatch, slot, &*entry) + u64::from((*entry).latency);
        complete(core, entry, dispatch, committed, slot, values.add(1), done)
    }

    /// Takes the port of the floating-point unit.
    float(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let operands = core.dispatch::<3>(&mut dispatch, slot, &*entry);
        let done = core.float_port.take(operands) + u64::from((*entry).latency);
        complete(core, entry, dispatch, committed, slot, values, done)
    }

    /// A load whose line is there, and whose port is free soon.
    load(core, entry, dispatch, committed, slot, values) {
        let address = *values;
        if !core.data.loads_at_once(address) {
            return load_slowly(core, entry, dispatch, committed, slot, values);
        }
        let mut order = dispatch;
        let (_, operands) = core.dispatch_to_queue::<1>(&mut order, slot, &*entry, core.loads.free());
        let Some(start) = core.memory_port.take_at_once(operands) else {
            return load_slowly(core, entry, dispatch, committed, slot, values);
        };
        let there = start.max(core.data.forwarded(address));
        loaded(core, entry, order, committed, slot, values, there)
    }

    /// Any load.
    #[inline(never)]
    load_slowly(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let (dispatched, operands) =
            core.dispatch_to_queue::<1>(&mut dispatch, slot, &*entry, core.loads.free());
        let start = core.memory_port.take(operands);
        let there = core.data.load(start, &access(&core.hierarchy, core.requester, dispatched, *values));
        loaded(core, entry, dispatch, committed, slot, values, there)
    }

    /// A store whose line is there, to be written, and whose port is free soon.
    store(core, entry, dispatch, committed, slot, values) {
        let address = *values;
        if !core.data.stores_at_once(address) {
            return store_slowly(core, entry, dispatch, committed, slot, values);
        }
        let mut order = dispatch;
        let (_, operands) = core.dispatch_to_queue::<2>(&mut order, slot, &*entry, core.stores.free());
        let Some(start) = core.memory_port.take_at_once(operands) else {
            return store_slowly(core, entry, dispatch, committed, slot, values);
        };
        let done = start + u64::from((*entry).latency);
        core.write(done.max(committed));
        core.data.forward(address, done);
        stored(core, entry, order, committed, slot, values, done, core.written)
    }

    /// Any store.
    #[inline(never)]
    store_slowly(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let (dispatched, operands) =
            core.dispatch_to_queue::<2>(&mut dispatch, slot, &*entry, core.stores.free());
        let start = core.memory_port.take(operands);
        let done = start + u64::from((*entry).latency);
        core.write(done.max(committed));
        let access = access(&core.hierarchy, core.requester, dispatched, *values);
        let there = core.data.store(done, core.written, &access);
        stored(core, entry, dispatch, committed, slot, values, done, there)
    }

    /// A conditional branch.
    branch(core, entry, dispatch, committed, slot, values) {
        let mut order = dispatch;
        let done = core.dispatch::<2>(&mut order, slot, &*entry) + u64::from((*entry).latency);
        let taken = (*entry).index == core.taken_at;
        if !core.directions.predict((*entry).address, taken) {
            return mispredicted(core, entry, dispatch, committed, slot, values);
        }
        branched(core, entry, order, committed, slot, values, done, taken)
    }

    /// A conditional branch that was predicted wrongly.
    #[inline(never)]
    mispredicted(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let done = core.dispatch::<2>(&mut dispatch, slot, &*entry) + u64::from((*entry).latency);
        let taken = (*entry).index == core.taken_at;
        core.directions.learn((*entry).address, taken);
        dispatch.not_before(done + core.parameters.redirect);
        branched(core, entry, dispatch, committed, slot, values, done, taken)
    }

    /// A direct jump, a `CALL` or not: always predicted.
    fixed<const CALL: bool>(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let done = core.dispatch::<2>(&mut dispatch, slot, &*entry) + u64::from((*entry).latency);
        if CALL {
            core.targets.call((*entry).following());
        }
        dispatch.end_group();
        complete(core, entry, dispatch, committed, slot, values, done)
    }

    /// A jump to an address in a register, a `CALL` or not.
    jump<const CALL: bool>(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let done = core.dispatch::<2>(&mut dispatch, slot, &*entry) + u64::from((*entry).latency);
        let history = core.directions.history();
        if !core.targets.jump((*entry).address, history, core.next_pc) {
            dispatch.not_before(done + core.parameters.redirect);
        }
        if CALL {
            core.targets.call((*entry).following());
        }
        dispatch.end_group();
        complete(core, entry, dispatch, committed, slot, values, done)
    }

    /// A jump that looks like the return of a function.
    function_return(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let done = core.dispatch::<2>(&mut dispatch, slot, &*entry) + u64::from((*entry).latency);
        if !core.targets.ret(core.next_pc) {
            dispatch.not_before(done + core.parameters.redirect);
        }
        dispatch.end_group();
        complete(core, entry, dispatch, committed, slot, values, done)
    }

    /// A read-modify-write at the head of the reorder buffer.
    atomic(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let (dispatched, operands) =
            core.dispatch_to_queue::<3>(&mut dispatch, slot, &*entry, core.stores.free());
        let start = operands.max(committed).max(core.drained);
        let access = access(&core.hierarchy, core.requester, dispatched, *values);
        let there = core.data.store(start, start, &access);
        core.drained = there + u64::from((*entry).latency);
        core.stores.hold(core.drained);
        complete(core, entry, dispatch, committed, slot, values.add(1), core.drained)
    }

    /// An integer division, as long as its quotient; one at a time.
    divide(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let operands = core.dispatch::<3>(&mut dispatch, slot, &*entry);
        let (dividend, divisor) = divide_operands(*values);
        let bits = if divisor == 0 { 64 } else { dividend.saturating_sub(divisor) };
        core.divider = operands.max(core.divider) + u64::from((*entry).latency) + u64::from(bits);
        complete(core, entry, dispatch, committed, slot, values.add(1), core.divider)
    }

    /// A floating-point division or square root; one at a time.
    float_divide(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let operands = core.dispatch::<3>(&mut dispatch, slot, &*entry);
        let start = core.float_port.take(operands.max(core.float_divider));
        core.float_divider = start + u64::from((*entry).latency);
        complete(core, entry, dispatch, committed, slot, values, core.float_divider)
    }

    /// Waits until memory accesses are done.
    fence(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let operands = core.dispatch::<3>(&mut dispatch, slot, &*entry);
        let done = operands.max(core.drained).max(committed);
        complete(core, entry, dispatch, committed, slot, values, done)
    }

    /// Leaves for a unit when nothing before it can fail any more; what follows goes on.
    ///
    /// BOOM keeps commands in a queue of their own and sends one per cycle, in order, once they are not speculative; it
    /// neither drains the pipeline nor fetches anew (its `RoCCShim`).
    command(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        let done = core.dispatch::<3>(&mut dispatch, slot, &*entry).max(committed) + 1;
        complete(core, entry, dispatch, committed, slot, values, done)
    }

    /// Waits until everything is done, and everything waits for it. If it `FORGETS`, instructions in the cache may be out of date.
    serial<const FORGETS: bool>(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        if FORGETS {
            core.instructions = Cache::new(core.parameters.instructions);
        }
        let operands = core.dispatch::<3>(&mut dispatch, slot, &*entry);
        let done = operands.max(committed).max(core.drained) + 1;
        dispatch.not_before(done + u64::from(core.parameters.latencies.serial));
        complete(core, entry, dispatch, committed, slot, values, done)
    }

    /// Not an instruction: the next one lies in another line of the instruction cache.
    line(core, entry, dispatch, committed, slot, values) {
        if !core.instructions.is_latest((*entry).address, 0, 0) {
            return line_slowly(core, entry, dispatch, committed, slot, values);
        }
        next(core, entry, dispatch, committed, slot, values)
    }

    /// The same, for a line that is not the latest of its set, or not there.
    #[inline(never)]
    line_slowly(core, entry, dispatch, committed, slot, values) {
        let mut dispatch = dispatch;
        if let Some(supply) = core.fetch(dispatch.next(), (*entry).address) {
            dispatch.not_before(supply);
        }
        next(core, entry, dispatch, committed, slot, values)
    }
}

/// Not an instruction: the block is over.
pub(super) unsafe fn end(
    core: &mut Boom,
    _: *const Entry,
    dispatch: InOrder,
    committed: u64,
    slot: Slot,
    _: *const u64,
) {
    core.dispatch = dispatch;
    core.committed = committed;
    core.reorder.end(slot);
}
