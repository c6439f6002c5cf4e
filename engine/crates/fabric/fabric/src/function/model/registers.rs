use rackwright_registers::traffic::{self, start};
use serde::{Deserialize, Serialize};

/// The settings written by software.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) base: u64,
    pub(super) size: u64,
    pub(super) stride: u64,
    pub(super) mask: u64,
    pub(super) count: u64,
    pub(super) outstanding: u64,
    pub(super) interval: u64,
    pub(super) copy: u64,
    pub(super) seed: u64,
}

/// The registers of `traffic`.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Registers {
    pub(super) settings: Settings,
    /// A run lasts.
    pub(super) busy: bool,
    /// A run begins: of writes, or of reads. The run makes no more requests.
    pub(super) begins: Option<bool>,
    pub(super) stops: bool,
    sum: u64,
    done: u64,
    faults: u64,
    /// Errors since reset: completions, and requests.
    pub(super) unexpected: u64,
    pub(super) unsupported: u64,
    peer_beats: u64,
    peer_sum: u64,
}

const U32: u64 = u32::MAX as u64;
const U16: u64 = u16::MAX as u64;

fn register(offset: u64) -> Option<rackwright_registers::Register> {
    traffic::at(u32::try_from(offset).ok()?)
}

impl Registers {
    pub(super) fn read(&self, offset: u64) -> u64 {
        let settings = &self.settings;
        match register(offset) {
            Some(traffic::START) => u64::from(self.busy),
            Some(traffic::BASE) => settings.base,
            Some(traffic::SIZE) => settings.size,
            Some(traffic::STRIDE) => settings.stride,
            Some(traffic::MASK) => settings.mask,
            Some(traffic::COUNT) => settings.count,
            Some(traffic::OUTSTANDING) => settings.outstanding,
            Some(traffic::INTERVAL) => settings.interval,
            Some(traffic::COPY) => settings.copy,
            Some(traffic::SEED) => settings.seed,
            Some(traffic::SUM) => self.sum,
            Some(traffic::DONE) => self.done,
            Some(traffic::FAULTS) => self.faults,
            Some(traffic::ERRORS) => self.unexpected + self.unsupported,
            Some(traffic::PEER_BEATS) => self.peer_beats,
            Some(traffic::PEER_SUM) => self.peer_sum,
            _ => 0,
        }
    }

    pub(super) fn write(&mut self, offset: u64, data: u64) {
        if register(offset) == Some(traffic::START) {
            let stops = start::STOP.of(data) != 0;
            self.stops |= stops;
            if !self.busy && !stops {
                self.begins = Some(start::WRITES.of(data) != 0);
            }
            return;
        }
        // The settings of a run do not change while it is in progress.
        if self.busy {
            return;
        }
        let settings = &mut self.settings;
        match register(offset) {
            Some(traffic::BASE) => settings.base = data,
            Some(traffic::SIZE) => settings.size = data & U32,
            Some(traffic::STRIDE) => settings.stride = data & U32,
            Some(traffic::MASK) => settings.mask = data,
            Some(traffic::COUNT) => settings.count = data & U32,
            Some(traffic::OUTSTANDING) => settings.outstanding = data & U16,
            Some(traffic::INTERVAL) => settings.interval = data & U16,
            Some(traffic::COPY) => settings.copy = data & U16,
            Some(traffic::SEED) => settings.seed = data,
            _ => {}
        }
    }

    /// A run begins.
    pub(super) fn begin(&mut self) {
        (self.sum, self.done, self.faults) = (0, 0, 0);
    }

    /// Words have been read, with this sum.
    pub(super) fn add(&mut self, sum: u64) {
        self.sum = self.sum.wrapping_add(sum);
    }

    /// A request is done, some beats of which could not be read.
    pub(super) fn done(&mut self, faulty: u64) {
        self.done = (self.done + 1) & U32;
        self.faults = (self.faults + faulty) & U32;
    }

    pub(super) fn peer(&mut self, beats: u64, sum: u64) {
        self.peer_beats = (self.peer_beats + beats) & U32;
        self.peer_sum = self.peer_sum.wrapping_add(sum);
    }
}
