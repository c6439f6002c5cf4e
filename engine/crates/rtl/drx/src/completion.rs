use crate::fifo::Fifo;
use crate::status::Status;
use rackwright_rtl::{MemoryResponse, BEAT_BYTES};

/// The actions at the end of an operation, in addition to those of the unit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Completion {
    /// Addresses of the completion flag and record, or 0.
    pub flag: u64,
    pub record: u64,
    /// The operation is not passed to the unit; it ends with `access_fault`.
    pub refused: bool,
}

/// The result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ended {
    pub status: Status,
    pub output_bytes: u64,
    pub index: u64,
}

/// A beat with a flag or a record.
#[derive(Debug, Clone, Copy)]
pub struct FlagWrite {
    pub address: u64,
    pub mask: u32,
    pub data: [u8; BEAT_BYTES],
}

/// The next write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Record,
    Flag,
    Done,
}

/// Ends operations in order: takes the result of each, has record and flag written, then counts it as completed.
#[derive(Debug, Clone)]
pub struct CompletionStage {
    port_bytes: usize,
    tickets: Fifo<Completion, 2>,
    state: State,
    asked: bool,
    fault: bool,
    completed: u64,
    last: Ended,
}

/// The outputs of the stage in a cycle.
#[derive(Debug, Clone, Default)]
pub struct Completed {
    pub writes: Option<FlagWrite>,
    pub takes_result: bool,
}

impl CompletionStage {
    pub fn new(port_bytes: usize) -> CompletionStage {
        CompletionStage {
            port_bytes,
            tickets: Fifo::new(),
            state: State::Record,
            asked: false,
            fault: false,
            completed: 0,
            last: Ended::default(),
        }
    }

    pub fn has_room(&self) -> bool {
        self.tickets.has_room()
    }

    pub fn enter(&mut self, ticket: Completion) {
        self.tickets.push(ticket);
    }

    /// No operation is between its start and its completion.
    pub fn is_idle(&self) -> bool {
        self.tickets.is_empty()
    }

    /// Nothing is done before the unit has a result.
    pub fn awaits_result(&self) -> bool {
        self.state == State::Record
            && !self.asked
            && self.tickets.front().is_none_or(|ticket| !ticket.refused)
    }

    /// Operations since reset.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// The latest of them.
    pub fn last(&self) -> Ended {
        self.last
    }

    /// The oldest operation, its result, and the address of its next write, if it has ended.
    fn known(&self, result: Option<&Ended>) -> Option<(Completion, Ended, Option<u64>)> {
        let ticket = *self.tickets.front()?;
        let refusal = Ended {
            status: Status::AccessFault,
            ..Ended::default()
        };
        let ended = if ticket.refused { refusal } else { *result? };
        let address = match self.state {
            State::Record => ticket.record,
            State::Flag => ticket.flag,
            State::Done => 0,
        };
        Some((ticket, ended, (address != 0).then_some(address)))
    }

    /// Whether a flag or record is to be written.
    pub fn asks(&self, result: Option<&Ended>) -> bool {
        !self.asked && self.known(result).is_some_and(|(_, _, wanted)| wanted.is_some())
    }

    /// One cycle: the unit's result, whether a write is accepted, and memory's response.
    pub fn cycle(
        &mut self,
        result: Option<&Ended>,
        granted: bool,
        response: Option<&MemoryResponse>,
    ) -> Completed {
        let mut completed = Completed::default();
        let Some((ticket, ended, wanted)) = self.known(result) else {
            return completed;
        };
        if let Some(address) = wanted.filter(|_| !self.asked && granted) {
            completed.writes = Some(self.write(address, &ended));
            self.asked = true;
        } else if let Some(answer) = response.filter(|_| self.asked) {
            self.asked = false;
            self.fault |= answer.fault;
        } else if wanted.is_some() {
            return completed;
        }
        let passes = completed.writes.is_none();
        match self.state {
            State::Record if passes => self.state = State::Flag,
            State::Flag if passes => self.state = State::Done,
            State::Done => {
                completed.takes_result = !ticket.refused;
                self.complete(ended);
            }
            _ => {}
        }
        completed
    }

    fn complete(&mut self, ended: Ended) {
        self.tickets.pop();
        self.completed += 1;
        self.last = ended;
        if self.fault {
            self.last.status = Status::AccessFault;
        }
        self.state = State::Record;
        self.fault = false;
    }

    /// All words of a beat are the same; the mask selects one.
    fn write(&self, address: u64, ended: &Ended) -> FlagWrite {
        let status = if self.fault {
            Status::AccessFault
        } else {
            ended.status
        };
        let mark = status as u64 + 1;
        let words = if self.state == State::Record {
            vec![mark | ended.output_bytes << 8, ended.index]
        } else {
            vec![mark]
        };
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut data = [0; BEAT_BYTES];
        for place in data[..self.port_bytes].chunks_exact_mut(bytes.len()) {
            place.copy_from_slice(&bytes);
        }
        let lane = address as usize & (self.port_bytes - bytes.len());
        FlagWrite {
            address: address & !(self.port_bytes as u64 - 1),
            mask: ((1 << bytes.len()) - 1) << lane,
            data,
        }
    }
}
