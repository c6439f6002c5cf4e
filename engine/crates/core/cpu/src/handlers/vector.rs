use super::memory::trouble;
use super::{next, record, register, set_register};
use crate::cause::Exception;
use crate::state::{MicroOperation, State, Trouble, SINK};
use crate::timing::VectorRun;
use crate::vector::{self, Length, Lines, Word};

/// Sets type and length; `kind` is the type, and `wanted` the length if the instruction names one.
unsafe fn configure(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
    kind: u64,
    length: Length,
) -> u32 {
    // SAFETY: blocks end with an operation that leaves them; this one does not.
    unsafe {
        let length = vector::set(&mut state.vector, kind, length);
        set_register(state, (*operation).rd, length);
        next(state, operation, cursor)
    }
}

/// The length that the first source register requests.
unsafe fn wanted(state: &State, operation: *const MicroOperation) -> Length {
    // SAFETY: `operation` is the one that runs.
    let operation = unsafe { &*operation };
    match (operation.rs1, operation.rd) {
        (0, SINK) => Length::Kept,
        (0, _) => Length::Most,
        (wanted, _) => Length::Elements(register(state, wanted)),
    }
}

/// The instruction word.
unsafe fn word(operation: *const MicroOperation) -> u32 {
    // SAFETY: `operation` is the one that runs.
    unsafe { (*operation).immediate as u32 }
}

pub(crate) unsafe fn vsetvli(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    // SAFETY: the same contract.
    unsafe {
        let kind = u64::from(word(operation) >> 20 & 0x7ff);
        let length = wanted(state, operation);
        configure(state, operation, cursor, kind, length)
    }
}

pub(crate) unsafe fn vsetivli(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    // SAFETY: the same contract.
    unsafe {
        let kind = u64::from(word(operation) >> 20 & 0x3ff);
        let length = Length::Elements((*operation).rs1.into());
        configure(state, operation, cursor, kind, length)
    }
}

pub(crate) unsafe fn vsetvl(state: &mut State, operation: *const MicroOperation, cursor: *mut u64) -> u32 {
    // SAFETY: the same contract.
    unsafe {
        let kind = register(state, (*operation).rs2);
        let length = wanted(state, operation);
        configure(state, operation, cursor, kind, length)
    }
}

#[inline(always)]
unsafe fn access<const STORE: bool, const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: as for every handler that may not be the last; behind the run itself there is room for its lines.
    unsafe {
        let mut lines = Lines::<RECORDS>::new(if RECORDS { cursor.add(1) } else { cursor });
        let word = Word(word(operation));
        let Ok(shape) = vector::access::<STORE, RECORDS>(state, word, &mut lines) else {
            return trouble(state, operation, cursor);
        };
        let run = VectorRun {
            elements: shape.elements as u16,
            width: shape.width.0 as u8,
            registers: shape.registers,
            lines: lines.count as u16,
            contiguous: shape.contiguous,
            offset: shape.offset as u8,
        };
        let cursor = record::<RECORDS>(cursor, run.pack());
        next(
            state,
            operation,
            if RECORDS { cursor.add(lines.count) } else { cursor },
        )
    }
}

pub(crate) unsafe fn load<const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: the same contract.
    unsafe { access::<false, RECORDS>(state, operation, cursor) }
}

pub(crate) unsafe fn store<const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: the same contract.
    unsafe { access::<true, RECORDS>(state, operation, cursor) }
}

/// Every instruction that stays in the registers.
pub(crate) unsafe fn other<const RECORDS: bool>(
    state: &mut State,
    operation: *const MicroOperation,
    cursor: *mut u64,
) -> u32 {
    // SAFETY: blocks end with an operation that leaves them; this one does not unless in trouble.
    unsafe {
        let run = if RECORDS { run_of(state) } else { 0 };
        if vector::execute(state, Word(word(operation))).is_err() {
            state.stopped.trouble = Trouble::Exception(Exception::illegal(0));
            return trouble(state, operation, cursor);
        }
        let cursor = record::<RECORDS>(cursor, run);
        next(state, operation, cursor)
    }
}

/// The properties of a register-to-register instruction that its time depends on.
fn run_of(state: &State) -> u64 {
    let vector = &state.vector;
    let Ok(kind) = vector.kind() else { return 0 };
    VectorRun {
        elements: vector.length.saturating_sub(vector.start) as u16,
        width: kind.width.0 as u8,
        registers: 1 << kind.multiplier.max(0),
        lines: 0,
        contiguous: true,
        offset: 0,
    }
    .pack()
}
