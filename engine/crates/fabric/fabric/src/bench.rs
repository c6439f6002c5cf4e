use crate::beside::Beside;
use crate::card::with_card;
use crate::clocks::{in_nanoseconds, nanoseconds};
use crate::enumeration::Found;
use crate::error::FabricError;
use crate::fabric::Fabric;
use crate::function::BEAT;
use crate::latencies::Latencies;
use crate::parts::{Part, Parts};
use crate::written::Written;
use rackwright_registers::traffic;
use rackwright_time::fabric::Cycles;
use std::str::FromStr;

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// Reads of the host's memory, as many at a time as the card supports.
    Read,
    /// Writes of it.
    Write,
    /// Reads of it, one after the other.
    Latency,
    /// Writes into the window of another card: a buffer, or its memory.
    Peer,
    /// Reads of a card's register by the host.
    Registers,
}

impl Test {
    const ALL: [(&'static str, Test); 5] = [
        ("read", Test::Read),
        ("write", Test::Write),
        ("latency", Test::Latency),
        ("peer", Test::Peer),
        ("registers", Test::Registers),
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        Test::ALL[self as usize].0
    }
}

impl FromStr for Test {
    type Err = FabricError;

    fn from_str(name: &str) -> Result<Test, FabricError> {
        let found = Test::ALL.iter().find(|(known, _)| *known == name);
        let unknown = || FabricError::Description(format!("no test of fabrics is called {name}"));
        found.map(|(_, test)| *test).ok_or_else(unknown)
    }
}

/// The settings of a test.
#[derive(Clone, Copy, Debug)]
pub struct Bench {
    /// Requests of each size.
    pub count: u32,
    /// Maximum number of outstanding requests of a card; for tests of latency, 1.
    pub outstanding: u32,
    /// Minimum number of the card's cycles from one request to the next.
    pub interval: u32,
    /// Cycles of the card to copy 16 bytes, after a read or before a write; 0 for none.
    pub copy: u32,
    /// Whether the host's last-level cache holds the memory before.
    pub warm: bool,
}

/// The results for one size.
#[derive(Clone, Debug)]
pub struct Row {
    /// The test.
    pub test: Test,
    /// From whom to whom.
    pub path: String,
    /// Bytes of a request.
    pub size_bytes: u32,
    /// Latencies of requests; of writes, until their last packet has left the card's own queues.
    pub latencies: Latencies,
    /// Bytes of requests over time, in bits.
    pub gigabits_per_second: f64,
    /// The average time of a request in each part; none for writes.
    pub parts: Option<Parts>,
}

/// The buffer in the host's memory, and its bytes, a power of two: as large as the window of a peer.
pub(crate) const BUFFER: u64 = 1 << 20;
pub(crate) const BUFFER_BYTES: u64 = 1 << 20;
/// Vendor and device of the unit `traffic`.
const TRAFFIC: (u16, u16) = (0x5257, 0x0001);
/// The seed of the data.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
/// Simulated time after which a run is aborted.
const PATIENCE_MS: u64 = 1000;

impl Fabric {
    /// Runs a test with requests of `size` bytes, a power of two from 16 on, by the card `by`; for peers, to the card
    /// `to`; optionally while another card loads the fabric. For registers, `size` is ignored.
    ///
    /// # Errors
    /// [`FabricError`] if a request has no response, or data are wrong.
    pub fn bench(
        &mut self,
        test: Test,
        size: u32,
        bench: &Bench,
        (by, to): (&Found, Option<&Found>),
        beside: Option<&Beside<'_>>,
    ) -> Result<Row, FabricError> {
        let counts = to.filter(|peer| !self.cards[peer.card].has_memory());
        for card in [Some(by), counts].into_iter().flatten() {
            self.check_traffic(card)?;
        }
        if test == Test::Registers {
            return self.bench_registers(bench, by);
        }
        check_size(size)?;
        let beside = beside.map(|beside| self.run_beside(beside, by)).transpose()?;
        let target = match to {
            Some(peer) => window(peer, 1, &self.cards[peer.card].name)?,
            None => BUFFER,
        };
        let run = Run {
            writes: matches!(test, Test::Write | Test::Peer),
            registers: window(by, 0, &self.cards[by.card].name)?,
            card: by.card,
            peer: to.map(|peer| peer.card),
            buffer: BUFFER,
            target,
            size: u64::from(size),
            bench: *bench,
            outstanding: if test == Test::Latency {
                1
            } else {
                bench.outstanding
            },
        };
        let before = counts.map(|peer| self.peer_counts(peer)).transpose()?;
        for run in beside.iter().chain([&run]) {
            self.prepare(run)?;
        }
        self.go(&run, beside.as_ref())?;
        let row = self.row(test, &run);
        if let Some(beside) = &beside {
            self.end_beside(beside)?;
        }
        match (counts, before) {
            (Some(peer), Some(before)) => self.check_peer(&run, peer, before)?,
            _ if run.writes => self.check_written(&run)?,
            _ => self.check_read(&run, u64::from(bench.count))?,
        }
        self.run(self.deadline(), Fabric::is_quiet)?;
        Ok(row)
    }

    /// Refuses a card that is not the unit `traffic`.
    pub(crate) fn check_traffic(&self, card: &Found) -> Result<(), FabricError> {
        if card.identity == TRAFFIC {
            return Ok(());
        }
        Err(FabricError::Card {
            card: self.cards[card.card].name.clone(),
            reason: "it is not the unit `traffic`, and makes no DMA to measure".to_string(),
        })
    }

    /// Fills the buffer, and sets the registers of the card.
    pub(crate) fn prepare(&mut self, run: &Run) -> Result<(), FabricError> {
        for word in 0..BUFFER_BYTES / 8 {
            let value = if run.writes { 0 } else { pattern(word) };
            self.host
                .memory
                .write(run.buffer + 8 * word, &value.to_le_bytes())?;
        }
        if run.peer.is_some_and(|peer| self.cards[peer].has_memory()) {
            self.write_memory(run.target, &[0; BUFFER_BYTES as usize], false)?;
        }
        if run.bench.warm {
            self.host.warm(run.buffer..run.buffer + BUFFER_BYTES);
        }
        let settings = [
            (traffic::BASE, run.target),
            (traffic::SIZE, run.size),
            (traffic::STRIDE, run.size),
            (traffic::MASK, BUFFER_BYTES - 1),
            (traffic::COUNT, u64::from(run.bench.count)),
            (traffic::OUTSTANDING, u64::from(run.outstanding)),
            (traffic::INTERVAL, u64::from(run.bench.interval)),
            (traffic::COPY, u64::from(run.bench.copy)),
            (traffic::SEED, SEED),
        ];
        for (register, value) in settings {
            self.write_register(register.within(run.registers), value)?;
        }
        // All of them have arrived when one has been read.
        self.read_register(traffic::SEED.within(run.registers))?;
        self.run(self.deadline(), Fabric::is_quiet)?;
        Ok(())
    }

    /// Has the card make its requests, until all is quiet again but for the load beside, which begins before.
    fn go(&mut self, run: &Run, beside: Option<&Run>) -> Result<(), FabricError> {
        self.host.written = Written::default();
        if let Some(peer) = run.peer {
            self.cards[peer].written = Written::default();
        }
        if let Some(beside) = beside {
            self.begin_beside(beside)?;
        }
        self.start(run)?;
        let (card, count, alone) = (run.card, run.bench.count as usize, beside.is_none());
        let done =
            |fabric: &Fabric| fabric.cards[card].stamps.len() >= count && (!alone || fabric.is_quiet());
        if self.run(self.deadline(), done)? {
            return Ok(());
        }
        let faults = self.read_register(traffic::FAULTS.within(run.registers))?.data;
        if faults != 0 {
            let reason = format!("{faults} beats of its reads could not be read");
            let card = self.cards[run.card].name.clone();
            return Err(FabricError::Card { card, reason });
        }
        Err(self.unfinished(run))
    }

    pub(crate) fn start(&mut self, run: &Run) -> Result<(), FabricError> {
        let card = &mut self.cards[run.card];
        card.stamps.clear();
        (card.spent, card.answered) = (Parts::default(), 0);
        self.write_register(traffic::START.within(run.registers), u64::from(run.writes))
    }

    pub(crate) fn unfinished(&self, run: &Run) -> FabricError {
        FabricError::Unfinished {
            what: format!("the run of card {}", self.cards[run.card].name),
            milliseconds: PATIENCE_MS,
        }
    }

    fn row(&self, test: Test, run: &Run) -> Row {
        let card = &self.cards[run.card];
        let edges = card.edges();
        let latencies = card.stamps.latencies();
        let all: Vec<_> = latencies.map(|cycles| edges.span(cycles.0)).collect();
        let mean = Cycles::new(all.iter().map(|span| span.0).sum::<u64>() / all.len().max(1) as u64);
        // From the first completion to the last, so that requests issued before the first one do not count.
        let (bytes, span) = match (run.peer, run.writes) {
            (Some(peer), _) => self.cards[peer].written.rate(),
            (None, true) => self.host.written.rate(),
            (None, false) => (
                run.size * (card.stamps.len() as u64 - 1),
                edges.span(card.stamps.between().0),
            ),
        };
        let own = &card.name;
        Row {
            test,
            path: match (run.peer, run.writes) {
                (Some(peer), _) => format!("{own} -> {}", self.cards[peer].name),
                (None, true) => format!("{own} -> {}", self.system.root.name),
                (None, false) => format!("{} -> {own}", self.system.root.name),
            },
            size_bytes: run.size as u32,
            latencies: Latencies::of(all.into_iter().map(in_nanoseconds).collect()),
            gigabits_per_second: rate(bytes, span),
            parts: (!run.writes && card.answered != 0).then(|| {
                let mut parts = Parts::default();
                for part in Part::ALL {
                    parts.add(part, Cycles::new(card.spent.of(part).0 / card.answered));
                }
                with_card(parts, mean)
            }),
        }
    }

    /// The card's sum of the data that `count` requests have read equals that of memory.
    pub(crate) fn check_read(&mut self, run: &Run, count: u64) -> Result<(), FabricError> {
        let words = run.size / 8;
        let requests = (0..count).map(|index| (index * run.size) & (BUFFER_BYTES - 1));
        let sums = requests.flat_map(|offset| (0..words).map(move |word| pattern(offset / 8 + word)));
        let expected = sums.fold(0, u64::wrapping_add);
        let found = self.read_register(traffic::SUM.within(run.registers))?.data;
        equal("the sum of what was read", found, expected)
    }

    /// Each word of memory is its address plus the seed, as far as the card has written.
    pub(crate) fn check_written(&mut self, run: &Run) -> Result<(), FabricError> {
        let bytes = (u64::from(run.bench.count) * run.size).min(BUFFER_BYTES);
        for address in (run.target..run.target + bytes).step_by(8) {
            let mut word = [0; 8];
            self.read_memory(address, &mut word)?;
            let found = u64::from_le_bytes(word);
            if found != address.wrapping_add(SEED) {
                return equal(
                    &format!("memory at {address:#x}"),
                    found,
                    address.wrapping_add(SEED),
                );
            }
        }
        Ok(())
    }

    pub(crate) fn peer_counts(&mut self, peer: &Found) -> Result<(u64, u64), FabricError> {
        let registers = window(peer, 0, &self.cards[peer.card].name)?;
        let beats = self.read_register(traffic::PEER_BEATS.within(registers))?.data;
        let sum = self.read_register(traffic::PEER_SUM.within(registers))?.data;
        Ok((beats, sum))
    }

    /// The peer has counted each beat, and its words add up.
    pub(crate) fn check_peer(
        &mut self,
        run: &Run,
        peer: &Found,
        before: (u64, u64),
    ) -> Result<(), FabricError> {
        let (beats, sum) = self.peer_counts(peer)?;
        let count = u64::from(run.bench.count);
        equal(
            "the number of beats at the peer",
            beats - before.0,
            count * run.size / BEAT,
        )?;
        let requests = (0..count).map(|index| run.target + ((index * run.size) & (BUFFER_BYTES - 1)));
        let words = requests.flat_map(|first| (0..run.size / 8).map(move |word| first + 8 * word));
        let expected = words.fold(0_u64, |sum, word| sum.wrapping_add(word).wrapping_add(SEED));
        equal("the sum at the peer", sum.wrapping_sub(before.1), expected)
    }

    /// The host reads a register, again and again.
    fn bench_registers(&mut self, bench: &Bench, by: &Found) -> Result<Row, FabricError> {
        let registers = window(by, 0, &self.cards[by.card].name)?;
        let (begin, mut all, mut spent) = (self.now, Vec::new(), Parts::default());
        for _ in 0..bench.count {
            let asked = self.now;
            let answer = self.read_register(traffic::SUM.within(registers))?;
            all.push(answer.at.since(asked));
            spent.add_all(&with_card(answer.parts, answer.at.since(asked)));
        }
        let mut parts = Parts::default();
        for part in Part::ALL {
            parts.add(
                part,
                Cycles::new(spent.of(part).0 / u64::from(bench.count.max(1))),
            );
        }
        let bytes = 8 * u64::from(bench.count);
        Ok(Row {
            test: Test::Registers,
            path: format!("{} -> {}", self.system.root.name, self.cards[by.card].name),
            size_bytes: 8,
            gigabits_per_second: rate(bytes, self.now.since(begin)),
            latencies: Latencies::of(all.into_iter().map(in_nanoseconds).collect()),
            parts: Some(parts),
        })
    }

    pub(crate) fn deadline(&self) -> rackwright_time::fabric::Cycle {
        self.now + nanoseconds(PATIENCE_MS as f64 * 1e6)
    }
}

/// A run of a card.
pub(crate) struct Run {
    pub(crate) writes: bool,
    /// The address of its registers.
    pub(crate) registers: u64,
    pub(crate) card: usize,
    /// To which card it writes.
    pub(crate) peer: Option<usize>,
    /// Its buffer in the host's memory, and the start of its requests: there, or at a peer.
    pub(crate) buffer: u64,
    pub(crate) target: u64,
    pub(crate) size: u64,
    pub(crate) bench: Bench,
    pub(crate) outstanding: u32,
}

/// The address of a card's window.
pub(crate) fn window(found: &Found, index: usize, card: &str) -> Result<u64, FabricError> {
    let window = found.windows.get(index);
    let missing = || FabricError::Card {
        card: card.to_string(),
        reason: format!("it has no window {index}"),
    };
    window.map(|window| window.range.start).ok_or_else(missing)
}

pub(crate) fn check_size(size: u32) -> Result<(), FabricError> {
    if u64::from(size) < BEAT || !size.is_power_of_two() || u64::from(size) > BUFFER_BYTES {
        return Err(FabricError::Description(format!(
            "requests are a power of two from {BEAT} to {BUFFER_BYTES} bytes, not {size}"
        )));
    }
    Ok(())
}

/// The word of this number in the host's buffer.
fn pattern(word: u64) -> u64 {
    (word + 1).wrapping_mul(SEED)
}

fn rate(bytes: u64, span: Cycles) -> f64 {
    8.0 * bytes as f64 / in_nanoseconds(span).max(f64::MIN_POSITIVE)
}

fn equal(what: &str, found: u64, expected: u64) -> Result<(), FabricError> {
    if found == expected {
        return Ok(());
    }
    Err(FabricError::Wrong {
        what: what.to_string(),
        found,
        expected,
    })
}
