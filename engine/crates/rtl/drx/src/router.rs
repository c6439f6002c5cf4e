use crate::completion::{Completion, CompletionStage, Ended, FlagWrite};
use crate::fifo::Fifo;
use crate::isa::ISA;
use rackwright_contract::Command;
use rackwright_rtl::MemoryResponse;
use std::collections::VecDeque;

/// The n of `custom-n` of the unit's commands.
pub const OPCODE: u8 = 1;

/// The commands of the unit, by number: those of every streaming unit.
pub mod funct {
    pub const FENCE: u8 = 0;
    pub const SOURCE: u8 = 1;
    pub const START: u8 = 2;
    pub const CHECK_COMPLETION: u8 = 3;
    pub const LIMIT: u8 = 16;
    pub const STATUS: u8 = 17;
    pub const OUTPUT_BYTES: u8 = 18;
    pub const INPUT_OFFSET: u8 = 19;
    pub const VERSION: u8 = 20;

    /// Of settings, the first: address and bytes of each input, then the limit of cycles.
    pub const SETTINGS: u8 = 4;
}

/// What `version` answers.
const CURRENT_VERSION: u64 = 1;

/// Bits of the limit of cycles.
const LIMIT_BITS: u32 = 40;

/// Inputs of a program.
pub fn inputs() -> usize {
    ISA.regions as usize - 1
}

/// Bytes of memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    pub address: u64,
    pub length: u64,
}

impl Range {
    /// Whether it extends beyond the last address.
    pub fn wraps(&self) -> bool {
        let end = u128::from(self.address) + u128::from(self.length);
        self.length != 0 && end > 1 << 64
    }
}

/// A started operation.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The program.
    pub source: Range,
    /// The memory ranges that the program may access: its destination, then its inputs.
    pub regions: Vec<Range>,
    /// Cycles after which it is stopped.
    pub cycle_limit: u64,
}

/// An operation with the actions at its end.
#[derive(Debug, Clone)]
struct Started {
    operation: Operation,
    completion: Completion,
}

/// Converts commands to operations and responds to queries about those that have ended.
#[derive(Debug, Clone)]
pub struct Router {
    source: Range,
    limit: Option<u64>,
    record: u64,
    settings: Vec<u64>,
    starts: u64,
    queue: VecDeque<Started>,
    most: usize,
    oldest: Option<Started>,
    completion: CompletionStage,
    answers: Fifo<(u8, u64), 2>,
}

/// The outputs of the router in a cycle.
#[derive(Debug, Clone, Default)]
pub struct Routed {
    /// It takes the command that is offered.
    pub takes: bool,
    /// An answer leaves: the number of the register, and the value.
    pub answer: Option<(u8, u64)>,
    /// An operation is passed to the unit.
    pub operation: Option<Operation>,
    /// The result of the unit is taken.
    pub takes_result: bool,
    /// A flag or a record is written.
    pub writes: Option<FlagWrite>,
}

impl Router {
    /// A router with a queue for this number of operations.
    pub fn new(queue: usize, port_bytes: usize) -> Router {
        let mut settings = vec![0; 2 * inputs()];
        settings.push((1 << LIMIT_BITS) - 1);
        Router {
            source: Range::default(),
            limit: None,
            record: 0,
            settings,
            starts: 0,
            queue: VecDeque::new(),
            most: queue,
            oldest: None,
            completion: CompletionStage::new(port_bytes),
            answers: Fifo::new(),
        }
    }

    fn is_quiet(&self) -> bool {
        self.starts == self.completion.completed()
    }

    /// No operation is in progress, and no response waits.
    pub fn is_idle(&self) -> bool {
        self.is_quiet() && self.oldest.is_none() && self.completion.is_idle() && self.answers.is_empty()
    }

    /// Nothing changes until a command, a result or a response of memory arrives.
    pub fn rests(&self) -> bool {
        self.queue.is_empty()
            && self.oldest.is_none()
            && self.answers.is_empty()
            && self.completion.awaits_result()
    }

    /// Whether a flag or record is to be written.
    pub fn asks(&self, result: Option<&Ended>) -> bool {
        self.completion.asks(result)
    }

    /// One cycle: the offered command, whether the unit accepts an operation, its result, whether a write of a flag or
    /// record is accepted, and memory's response to it.
    pub fn cycle(
        &mut self,
        command: Option<&Command>,
        unit_ready: bool,
        result: Option<&Ended>,
        granted: bool,
        response: Option<&MemoryResponse>,
    ) -> Routed {
        let mut routed = Routed::default();
        let has_ticket = self.completion.has_room();
        let leaves = has_ticket
            && self
                .oldest
                .as_ref()
                .is_some_and(|oldest| oldest.completion.refused || unit_ready);
        let advances = self.oldest.is_none() || leaves;
        let has_room = self.queue.len() < self.most;
        let can_answer = self.answers.has_room();
        routed.answer = self.answers.pop();
        let taken = command.filter(|command| self.accepts(command, has_room, can_answer));
        routed.takes = taken.is_some();
        let started = taken.and_then(|command| self.obey(command));
        let completed = self.completion.cycle(result, granted, response);
        routed.writes = completed.writes;
        routed.takes_result = completed.takes_result;
        if leaves {
            if let Some(oldest) = self.oldest.take() {
                self.completion.enter(oldest.completion);
                routed.operation = (!oldest.completion.refused).then_some(oldest.operation);
            }
        }
        if advances {
            self.oldest = self.queue.pop_front();
        }
        self.queue.extend(started);
        routed
    }

    /// Whether a command can be taken now.
    fn accepts(&self, command: &Command, has_room: bool, can_answer: bool) -> bool {
        let is = |funct: u8| command.opcode == OPCODE && command.funct == funct;
        let accepted = if is(funct::START) {
            has_room
        } else {
            !is(funct::CHECK_COMPLETION) || self.is_quiet()
        };
        accepted && (!command.xd || can_answer)
    }

    /// Executes a command; returns the operation that it starts.
    fn obey(&mut self, command: &Command) -> Option<Started> {
        let mine = command.opcode == OPCODE;
        if command.xd {
            let answer = self.answer(mine.then_some(command.funct));
            self.answers.push((command.rd, answer));
        }
        if !mine {
            return None;
        }
        match command.funct {
            funct::SOURCE => {
                self.source = Range {
                    address: command.rs1,
                    length: command.rs2,
                }
            }
            funct::LIMIT => {
                self.limit = Some(command.rs1);
                self.record = command.rs2;
            }
            funct::START => return Some(self.start(command)),
            other => self.set(other, command.rs1),
        }
        None
    }

    fn set(&mut self, funct: u8, value: u64) {
        let Some(place) = funct.checked_sub(funct::SETTINGS).map(usize::from) else {
            return;
        };
        let is_limit = place + 1 == self.settings.len();
        if let Some(setting) = self.settings.get_mut(place) {
            // A value that is too wide is stored as all ones.
            *setting = if is_limit {
                value.min((1 << LIMIT_BITS) - 1)
            } else {
                value
            };
        }
    }

    fn answer(&self, funct: Option<u8>) -> u64 {
        let last = self.completion.last();
        match funct {
            Some(funct::CHECK_COMPLETION) => self.completion.completed(),
            Some(funct::STATUS) => last.status as u64,
            Some(funct::OUTPUT_BYTES) => last.output_bytes,
            Some(funct::INPUT_OFFSET) => last.index,
            Some(funct::VERSION) => CURRENT_VERSION,
            _ => u64::MAX,
        }
    }

    fn start(&mut self, command: &Command) -> Started {
        let (destination, flag) = (command.rs1, command.rs2);
        let capacity = self.limit.unwrap_or(!destination);
        let target = Range {
            address: destination,
            length: capacity,
        };
        let record = std::mem::take(&mut self.record);
        let limited = self.limit.take().is_some();
        let (flag_misaligned, record_misaligned) = (flag % 8 != 0, record % 16 != 0);
        let inputs = self.settings.chunks_exact(2).map(|input| Range {
            address: input[0],
            length: input[1],
        });
        self.starts += 1;
        Started {
            operation: Operation {
                source: self.source,
                regions: std::iter::once(target).chain(inputs).collect(),
                cycle_limit: *self.settings.last().expect("it is the last setting"),
            },
            completion: Completion {
                flag: if flag_misaligned { 0 } else { flag },
                record: if record_misaligned { 0 } else { record },
                refused: flag_misaligned
                    || record_misaligned
                    || self.source.wraps()
                    || (limited && target.wraps()),
            },
        }
    }
}
