use crate::function::configuration::Configuration;
use crate::function::transmitter::Ready;
use crate::function::{Given, NEVER};
use crate::packet::{Header, Id, Kind};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Interrupts of the function: a run has ended, and another card's packet has been taken.
pub(super) const VECTORS: usize = 2;

/// Where the pending bits are, from the begin of the table.
const PENDING: u64 = 0x400;
/// Bytes of an entry of the table.
const ENTRY: u64 = 16;

/// An interrupt of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Vector {
    /// A run has ended.
    Ended,
    /// A packet of another card has been taken.
    Written,
}

/// An entry of the table.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Entry {
    address: u64,
    data: u32,
    masked: bool,
}

/// A message that is to leave, from `ready` on.
#[derive(Serialize, Deserialize)]
struct Sending {
    ready: u64,
    address: u64,
    data: u32,
}

/// The table of messages, and the messages that leave.
#[derive(Serialize, Deserialize)]
pub(super) struct Messages {
    table: [Entry; VECTORS],
    /// A bit for each vector.
    pending: u32,
    /// Vectors that are raised, and when.
    raised: VecDeque<(u64, Vector)>,
    /// The first cycle that shows the last change, and in which the next message can be chosen.
    since: u64,
    sending: Option<Sending>,
}

impl Messages {
    pub(super) fn new() -> Messages {
        let reset = Entry {
            address: 0,
            data: 0,
            masked: true,
        };
        Messages {
            table: [reset; VECTORS],
            pending: 0,
            raised: VecDeque::new(),
            since: 0,
            sending: None,
        }
    }

    /// A vector is raised at `cycle`.
    pub(super) fn raise(&mut self, cycle: u64, vector: Vector) {
        let place = self.raised.partition_point(|(at, _)| *at <= cycle);
        self.raised.insert(place, (cycle, vector));
    }

    /// Vectors whose messages may leave.
    fn open(&self, configuration: &Configuration) -> u32 {
        if self.pending == 0 || !configuration.may_send_messages() {
            return 0;
        }
        let entries = self.table.iter().enumerate();
        let masked = entries.fold(0, |bits, (vector, entry)| {
            bits | u32::from(entry.masked) << vector
        });
        self.pending & !masked
    }

    /// When the next message is chosen.
    fn chooses(&self, configuration: &Configuration) -> u64 {
        if self.sending.is_none() && self.open(configuration) != 0 {
            self.since
        } else {
            NEVER
        }
    }

    pub(super) fn due(&self, configuration: &Configuration) -> u64 {
        let raised = self.raised.front().map_or(NEVER, |(at, _)| *at);
        raised.min(self.chooses(configuration))
    }

    /// Chooses a message, and notes the vectors that are raised now. Of settings that change now, it sees the old values.
    pub(super) fn step(&mut self, now: u64, configuration: &Configuration) {
        if self.chooses(configuration) == now {
            let vector = self.open(configuration).trailing_zeros();
            let Entry { address, data, .. } = self.table[vector as usize];
            self.pending &= !(1 << vector);
            self.sending = Some(Sending {
                ready: now + 1,
                address,
                data,
            });
        }
        while let Some((_, vector)) = self.raised.front().copied().filter(|(at, _)| *at <= now) {
            self.raised.pop_front();
            if configuration.has_messages_enabled() {
                self.pending |= 1 << vector as u32;
                self.since = self.since.max(now + 1);
            }
        }
    }

    /// Settings have changed in this cycle.
    pub(super) fn changed(&mut self, now: u64, configuration: &Configuration) {
        self.since = self.since.max(now + 1);
        if !configuration.has_messages_enabled() {
            self.pending = 0;
        }
    }

    /// The eight bytes at an offset of the table.
    pub(super) fn read(&self, offset: u64) -> u64 {
        if offset & !7 == PENDING {
            return self.pending.into();
        }
        let entry = self.table.get((offset / ENTRY) as usize);
        entry.map_or(0, |entry| match offset & 8 {
            0 => entry.address,
            _ => u64::from(entry.data) | u64::from(entry.masked) << 32,
        })
    }

    /// Writes eight bytes, or the four at the offset.
    pub(super) fn write(&mut self, now: u64, offset: u64, wide: bool, data: u64) {
        let Some(entry) = self.table.get_mut((offset / ENTRY) as usize) else {
            return;
        };
        let (low, high) = (wide || offset & 4 == 0, wide || offset & 4 != 0);
        let upper = if wide {
            data >> 32
        } else {
            data & u64::from(u32::MAX)
        };
        if offset & 8 == 0 {
            if low {
                entry.address = entry.address >> 32 << 32 | data & 0xffff_fffc;
            }
            if high {
                entry.address = entry.address & u64::from(u32::MAX) | upper << 32;
            }
        } else {
            if low {
                entry.data = data as u32;
            }
            if high {
                entry.masked = upper & 1 != 0;
            }
        }
        self.since = self.since.max(now + 1);
    }

    /// The time from which on a message is ready to leave, and its data credits.
    pub(super) fn ready(&self) -> Ready {
        self.sending
            .as_ref()
            .map_or((NEVER, 0), |sending| (sending.ready, 1))
    }

    /// The message leaves. Returns the cycle of its last beat.
    pub(super) fn leave(&mut self, now: u64, id: Id, give: &mut impl FnMut(u64, Given<'_>)) -> u64 {
        let Some(Sending { address, data, .. }) = self.sending.take() else {
            return now;
        };
        let last = now + 1;
        self.since = self.since.max(last + 1);
        let header = Header::memory(Kind::MemoryWrite, id, 0, address, 1);
        give(last + 1, Given::Packet(&header, &data.to_le_bytes()));
        last
    }

    pub(super) fn is_idle(&self, configuration: &Configuration) -> bool {
        self.raised.is_empty() && self.sending.is_none() && self.open(configuration) == 0
    }
}
