use crate::cache::LINE_BYTES;
use crate::calendar::Calendar;
use crate::parameters::DramParameters;
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::{Clock, Cycle, Cycles, Picosecond};

/// Timing of main memory: banks with open rows, a data bus per channel, refresh, batched writes.
///
/// First-ready, first-come-first-served scheduling is approximated in order of arrival: a request waits only for its
/// own bank, and takes the first sufficiently long gap of the data bus, so that a hit in an open row passes an older
/// request that waits for a precharge. Rows stay open until another is needed.
pub struct Dram {
    channels: Vec<Channel>,
    timing: Timing,
    line_shift: u32,
    row_lines: u64,
}

/// The parameters in cycles of the hierarchy's clock.
struct Timing {
    controller: Cycles,
    column: Cycles,
    activate: Cycles,
    precharge: Cycles,
    row_open: Cycles,
    burst: u64,
    write_to_read: Cycles,
    refresh_interval: u64,
    refresh: u64,
    write_batch: u32,
}

struct Channel {
    banks: Vec<Bank>,
    bus: Calendar,
    pending_writes: u32,
    /// End of the last drained batch of writes: reads wait for it.
    reads_from: Cycle,
    /// Lines that have been accepted and are not drained, and when the batch before, and the one before that, were.
    accepted: Vec<u64>,
    drained: [Cycle; 2],
}

#[derive(Clone, Copy, Default)]
struct Bank {
    open_row: Option<u64>,
    ready: Cycle,
    activated: Cycle,
}

impl Timing {
    fn new(clock: Clock, parameters: &DramParameters) -> Timing {
        let cycles = |span: Picosecond| -> Cycles { clock.cycles_of(span) };
        Timing {
            controller: cycles(parameters.controller),
            column: cycles(parameters.column),
            activate: cycles(parameters.activate),
            precharge: cycles(parameters.precharge),
            row_open: cycles(parameters.row_open),
            burst: cycles(parameters.burst).0,
            write_to_read: cycles(parameters.write_to_read),
            refresh_interval: cycles(parameters.refresh_interval).0,
            refresh: cycles(parameters.refresh).0,
            write_batch: parameters.write_batch,
        }
    }

    /// The first cycle at or after `at` that no refresh covers.
    #[inline]
    fn outside_refresh(&self, at: Cycle) -> Cycle {
        let phase = at.0 % self.refresh_interval;
        // The first refresh falls due one interval after the start.
        if at.0 >= self.refresh_interval && phase < self.refresh {
            Cycle::new(at.0 - phase + self.refresh)
        } else {
            at
        }
    }
}

impl Dram {
    /// Memory in which every row is closed. `parameters` have been checked.
    pub fn new(clock: Clock, parameters: &DramParameters) -> Dram {
        let channel = || Channel {
            banks: vec![Bank::default(); parameters.banks as usize],
            bus: Calendar::new(),
            pending_writes: 0,
            reads_from: Cycle::ZERO,
            accepted: Vec::new(),
            drained: [Cycle::ZERO; 2],
        };
        Dram {
            channels: (0..parameters.channels).map(|_| channel()).collect(),
            timing: Timing::new(clock, parameters),
            line_shift: LINE_BYTES.trailing_zeros(),
            row_lines: u64::from(parameters.row_bytes) / LINE_BYTES,
        }
    }

    /// Time at which the line of `address`, requested at `at`, returns.
    pub fn read(&mut self, at: Cycle, address: u64) -> Cycle {
        let (channel, bank, row) = self.place(address);
        let timing = &self.timing;
        let channel = &mut self.channels[channel];
        let at = timing.outside_refresh(at.max(channel.reads_from));
        let data = channel.banks[bank].open(timing, at, row) + timing.column;
        channel.bus.reserve_span(data, timing.burst) + timing.controller
    }

    /// Takes a line to be written back; no requester waits for it, but a full batch occupies the channel.
    pub fn write(&mut self, at: Cycle, address: u64) {
        let (channel, bank, row) = self.place(address);
        let timing = &self.timing;
        let channel = &mut self.channels[channel];
        channel.pending_writes += 1;
        if channel.pending_writes < timing.write_batch {
            return;
        }
        channel.pending_writes = 0;
        let start = timing.outside_refresh(at.max(channel.reads_from));
        let opened = channel.banks[bank].open(timing, start, row);
        let drained = opened + Cycles::new(timing.burst * u64::from(timing.write_batch));
        channel.reads_from = drained + timing.write_to_read;
    }

    /// Time of the response to an event here at `at`.
    pub fn answered(&self, at: Cycle) -> Cycle {
        at + self.timing.controller
    }

    /// The shortest time to an answer.
    pub fn minimum_latency(&self) -> Cycles {
        self.timing.controller
    }

    /// Takes a line to be written from a requester that waits for room; returns the time at which there is room. While
    /// one batch is drained, the next one is collected, and a drain takes its time of the data bus.
    pub fn accept(&mut self, at: Cycle, address: u64) -> Cycle {
        let (channel, ..) = self.place(address);
        let channel = &mut self.channels[channel];
        let accepted = at.max(channel.drained[1]);
        channel.accepted.push(address);
        if channel.accepted.len() < self.timing.write_batch as usize {
            return accepted;
        }
        let lines = std::mem::take(&mut channel.accepted);
        self.drain(accepted, &lines);
        accepted
    }

    /// Writes lines of one channel, one after the other.
    fn drain(&mut self, at: Cycle, lines: &[u64]) {
        let mut end = at;
        for &line in lines {
            let (channel, bank, row) = self.place(line);
            let timing = &self.timing;
            let channel = &mut self.channels[channel];
            let start = timing.outside_refresh(at.max(channel.drained[0]));
            let opened = channel.banks[bank].open(timing, start, row);
            end = channel.bus.reserve_span(opened.max(end), timing.burst) + Cycles::new(timing.burst);
        }
        let (channel, ..) = self.place(lines[0]);
        let channel = &mut self.channels[channel];
        channel.drained = [end, channel.drained[0]];
        channel.reads_from = end + self.timing.write_to_read;
    }

    /// Channel, bank and row of an address. Lines alternate between channels, a row's worth of them
    /// between banks; higher row bits are folded into the bank, so that power-of-two strides spread.
    #[inline]
    fn place(&self, address: u64) -> (usize, usize, u64) {
        let line = address >> self.line_shift;
        let channels = self.channels.len() as u64;
        let banks = self.channels[0].banks.len() as u64;
        let in_channel = line / channels;
        let row_and_bank = in_channel / self.row_lines;
        let row = row_and_bank / banks;
        let bank = (row_and_bank ^ row) % banks;
        ((line % channels) as usize, bank as usize, row)
    }
}

impl Bank {
    /// Opens `row` if it is not open; returns the cycle at which a column command may go.
    #[inline]
    fn open(&mut self, timing: &Timing, at: Cycle, row: u64) -> Cycle {
        let at = at.max(self.ready);
        if self.open_row == Some(row) {
            self.ready = at + Cycles::new(timing.burst);
            return at;
        }
        let activate = match self.open_row {
            Some(_) => at.max(self.activated + timing.row_open) + timing.precharge,
            None => at,
        };
        let column = activate + timing.activate;
        *self = Bank {
            open_row: Some(row),
            ready: column + Cycles::new(timing.burst),
            activated: activate,
        };
        column
    }
}

state!(Bank {
    open_row,
    ready,
    activated
});

impl State for Channel {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.each(self.banks.iter_mut())?;
        self.bus.pass(by)?;
        self.pending_writes.pass(by)?;
        self.reads_from.pass(by)?;
        self.accepted.pass(by)?;
        self.drained.pass(by)
    }
}

impl State for Dram {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.each(self.channels.iter_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Dram {
        let clock = Clock::new(2_000_000_000).unwrap();
        Dram::new(clock, &DramParameters::ddr4_3200())
    }

    #[test]
    fn a_closed_row_costs_an_activation_and_an_open_one_does_not() {
        let mut dram = memory();
        let closed = dram.read(Cycle::new(100), 0) - Cycle::new(100);
        assert_eq!(closed, Cycles::new(40 + 28 + 28));
        let open = dram.read(Cycle::new(1000), 128) - Cycle::new(1000);
        assert_eq!(open, Cycles::new(40 + 28));
    }

    #[test]
    fn another_row_of_the_bank_costs_a_precharge_too() {
        let mut dram = memory();
        dram.read(Cycle::new(0), 0);
        let rows_of_all_banks = 2 * 16 * 8192;
        // Row 1 of bank 0 is found one bank further, because the row is folded into the bank.
        let conflict = dram.read(Cycle::new(1000), rows_of_all_banks + 2 * 8192) - Cycle::new(1000);
        assert_eq!(conflict, Cycles::new(40 + 28 + 28 + 28));
    }

    #[test]
    fn the_bus_carries_a_line_at_a_time() {
        let mut dram = memory();
        let last = (0..64)
            .map(|line| dram.read(Cycle::new(0), line * 128))
            .max()
            .unwrap();
        assert!(last - Cycle::new(0) >= Cycles::new(64 * 5), "{last}");
    }

    #[test]
    fn a_refresh_makes_requests_wait() {
        let mut dram = memory();
        let at = Cycle::new(15_600);
        assert_eq!(dram.read(at, 0) - at, Cycles::new(700 + 96));
    }

    #[test]
    fn a_batch_of_writes_delays_the_next_read() {
        let mut dram = memory();
        for line in 0..16 {
            dram.write(Cycle::new(10), line * 128);
        }
        assert!(dram.read(Cycle::new(10), 1 << 20) - Cycle::new(10) > Cycles::new(96 + 80));
    }
}
