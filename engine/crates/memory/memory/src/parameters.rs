use crate::cache::{Shape, LINE_BYTES};
use crate::named::{Named, NamedParameters};
use rackwright_time::{Clock, Cycles, Picosecond};
use std::fmt;

/// All parameters of the timing hierarchy. `docs/memory-model.md` lists each number with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct HierarchyParameters {
    /// The clock that all cycles of the hierarchy are counted by.
    pub clock: Clock,
    /// Number of cycles of that clock per tick of the register `time` of a machine that boots a kernel.
    pub tick: Cycles,
    /// The longest time for which harts and units run without observing each other. It is no longer than the shortest
    /// time in which they could.
    pub window: Cycles,
    /// The cache that harts and units share.
    pub l2: LevelParameters,
    /// The last-level cache behind it.
    pub llc: LevelParameters,
    /// Main memory.
    pub dram: DramParameters,
    /// The costs of sharing lines with a hart's L1.
    pub coherence: CoherenceParameters,
    /// What lies between the memory ports of units and the network of the L2.
    pub port: PortParameters,
    /// Whether units reach main memory past the caches: it is theirs alone.
    pub is_own: bool,
}

/// One cache level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelParameters {
    /// Size and associativity.
    pub shape: Shape,
    /// From a request's arrival to the first beat of data, on a hit; a miss is forwarded to the next level after this
    /// time.
    pub latency: Cycles,
    /// Banks, interleaved by line; each serves one beat per cycle.
    pub banks: u32,
    /// Bytes of a beat.
    pub beat_bytes: u32,
    /// Maximum number of outstanding lines from the next level.
    pub outstanding_misses: u32,
}

/// Main memory: channels of one rank each, with open rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramParameters {
    /// Channels, interleaved by line.
    pub channels: u32,
    /// Banks of a channel.
    pub banks: u32,
    /// Bytes of a row of one bank across the whole channel.
    pub row_bytes: u32,
    /// On-chip path, controller and PHY, both directions together.
    pub controller: Picosecond,
    /// Column command to first data (tCL).
    pub column: Picosecond,
    /// Activate to column command (tRCD).
    pub activate: Picosecond,
    /// Precharge to activate (tRP).
    pub precharge: Picosecond,
    /// Activate to precharge (tRAS).
    pub row_open: Picosecond,
    /// Time one line takes on the data bus (burst of eight).
    pub burst: Picosecond,
    /// Write data to a read's column command on the same channel (tWTR), once per drained batch.
    pub write_to_read: Picosecond,
    /// Between refreshes (tREFI).
    pub refresh_interval: Picosecond,
    /// Length of a refresh (tRFC).
    pub refresh: Picosecond,
    /// Writes that a channel collects before it drains them together.
    pub write_batch: u32,
}

/// Additional latency of an access to a line in L1 caches of harts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherenceParameters {
    /// A hart's, while others have the line unmodified: until they have answered.
    pub sharer: Cycles,
    /// For a hart, if another one has modified it: until the line has arrived in L2 and from there.
    pub owner: Cycles,
    /// Until the hart that has received a line from others has acknowledged it to L2; the next hart may have it then.
    pub acknowledgement: Cycles,
    /// A unit's or a device's, while a hart has modified it.
    pub unit: Cycles,
    /// Time for which an L1 is occupied by the probe of a line for a unit, in which it accepts no other probe.
    pub busy: ProbeParameters,
}

/// Cycles for which a probe occupies an L1, by the state of the line; 0 if it accepts any number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeParameters {
    /// It has modified the line, and returns it.
    pub modified: Cycles,
    /// It has the line unmodified.
    pub held: Cycles,
    /// It does not have the line. With a directory that knows this, there is no such probe.
    pub absent: Cycles,
}

/// What lies between a memory port of a unit and the network of the L2, beyond a register slice in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortParameters {
    /// Further register stages for requests.
    pub request: Cycles,
    /// Further register stages for responses.
    pub response: Cycles,
    /// For how long the first beat of a line to be written waits for the next one, as a transfer; 0: for ever.
    pub patience: Cycles,
}

/// A combination of parameters that no hardware can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterError(String);

impl ParameterError {
    /// An error with this text.
    pub fn new(text: impl Into<String>) -> ParameterError {
        ParameterError(text.into())
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParameterError {}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), ParameterError> {
    if holds {
        Ok(())
    } else {
        Err(ParameterError(otherwise()))
    }
}

impl HierarchyParameters {
    /// The default: a Neoverse N1 server (Graviton2) at 2 GHz with two channels of DDR4-3200.
    pub fn server() -> HierarchyParameters {
        HierarchyParameters {
            clock: Clock::new(2_000_000_000).expect("2 GHz is a frequency"),
            tick: Cycles::new(20),
            window: Cycles::new(LONGEST),
            l2: LevelParameters {
                shape: Shape {
                    bytes: 1 << 20,
                    ways: 8,
                },
                latency: Cycles::new(12),
                banks: 2,
                beat_bytes: 32,
                outstanding_misses: 46,
            },
            llc: LevelParameters {
                shape: Shape {
                    bytes: 32 << 20,
                    ways: 16,
                },
                latency: Cycles::new(48),
                banks: 8,
                beat_bytes: 32,
                outstanding_misses: 64,
            },
            dram: DramParameters::ddr4_3200(),
            coherence: CoherenceParameters {
                sharer: Cycles::new(7),
                owner: Cycles::new(27),
                acknowledgement: Cycles::new(6),
                unit: Cycles::new(16),
                busy: ProbeParameters::default(),
            },
            port: PortParameters::default(),
            is_own: false,
        }
    }

    /// A memory that a unit has for itself: a channel of DDR4-3200, 25.6 GB/s, without caches.
    pub fn own_dram() -> HierarchyParameters {
        let mut parameters = HierarchyParameters::server();
        parameters.dram.channels = 1;
        parameters.is_own = true;
        parameters
    }

    /// The maximum distance of harts in time: no line moves from one L1 to another in less. It has to move from its
    /// owner to L2, and takes at least a cycle from L2 to the requester.
    pub fn line_transfer(&self) -> Cycles {
        let transfer = self.l2.latency + self.coherence.owner + Cycles::new(1);
        transfer.min(self.window)
    }
}

impl NamedParameters for HierarchyParameters {
    fn named(&mut self) -> Vec<Named<'_>> {
        let l2 = self.l2.named().into_iter().map(|each| each.of("l2"));
        let llc = self.llc.named().into_iter().map(|each| each.of("llc"));
        let dram = self.dram.named().into_iter().map(|each| each.of("dram"));
        let coherence = self
            .coherence
            .named()
            .into_iter()
            .map(|each| each.of("coherence"));
        let port = self.port.named().into_iter().map(|each| each.of("port"));
        let clock = std::iter::once(Named::new("clock-hz", SLOWEST..=FASTEST, &mut self.clock));
        let tick = std::iter::once(Named::new("tick-cycles", 1..=LONGEST_TICK, &mut self.tick.0));
        let window = std::iter::once(Named::new("window-cycles", 1..=LONGEST, &mut self.window.0));
        let parts = l2.chain(llc).chain(dram).chain(coherence).chain(port);
        parts.chain(clock).chain(tick).chain(window).collect()
    }

    fn check(&self) -> Result<(), ParameterError> {
        self.l2.check("l2")?;
        self.llc.check("llc")?;
        self.dram.check()?;
        let burst: Cycles = self.clock.cycles_of(self.dram.burst);
        require(burst.0 <= LONGEST_BURST, || {
            format!(
                "dram: a burst of {} ps takes {} cycles of the clock of {} Hz; at most {LONGEST_BURST} are possible",
                self.dram.burst.0, burst.0, self.clock.hertz()
            )
        })?;
        require(self.llc.shape.bytes >= self.l2.shape.bytes, || {
            format!(
                "llc of {} bytes is smaller than the l2 of {}",
                self.llc.shape.bytes, self.l2.shape.bytes
            )
        })
    }
}

/// The clocks that may be set, in Hz.
const SLOWEST: u64 = 100_000_000;
const FASTEST: u64 = 10_000_000_000;

/// The longest tick that may be set, in cycles.
const LONGEST_TICK: u64 = 1_000_000;

/// The longest latency that may be set, in cycles.
const LONGEST: u64 = 10_000;

/// The longest burst of DRAM, in cycles: a calendar books no more at once.
const LONGEST_BURST: u64 = 64;

/// The longest time that may be set, in picoseconds: 100 us.
const LONGEST_TIME: u64 = 100_000_000;

impl Shape {
    /// Its numbers.
    pub fn named(&mut self) -> Vec<Named<'_>> {
        vec![
            Named::new("bytes", 1024..=1 << 30, &mut self.bytes),
            Named::new("ways", 1..=64, &mut self.ways),
        ]
    }

    /// Checks that it is a valid shape of a cache.
    ///
    /// # Errors
    /// [`ParameterError`] that begins with `name`.
    pub fn check(&self, name: &str) -> Result<(), ParameterError> {
        let line_sets = LINE_BYTES * u64::from(self.ways);
        require(
            self.ways > 0 && self.bytes % line_sets == 0 && (self.bytes / line_sets).is_power_of_two(),
            || {
                format!(
                    "{name}: {} bytes in {} ways is not a power of two of sets of {LINE_BYTES}-byte lines",
                    self.bytes, self.ways
                )
            },
        )
    }
}

impl LevelParameters {
    /// Number of cycles for which a whole line occupies the data path.
    pub fn beats_per_line(&self) -> u64 {
        LINE_BYTES / u64::from(self.beat_bytes)
    }

    fn named(&mut self) -> Vec<Named<'_>> {
        let mut all = self.shape.named();
        all.extend([
            Named::new("latency", 1..=LONGEST, &mut self.latency.0),
            Named::new("banks", 1..=1024, &mut self.banks),
            Named::new("beat-bytes", 8..=64, &mut self.beat_bytes),
            Named::new("outstanding-misses", 1..=255, &mut self.outstanding_misses),
        ]);
        all
    }

    fn check(&self, name: &str) -> Result<(), ParameterError> {
        self.shape.check(name)?;
        require(self.banks.is_power_of_two(), || {
            format!("{name}: {} banks is not a power of two", self.banks)
        })?;
        require([8, 16, 32, 64].contains(&self.beat_bytes), || {
            format!(
                "{name}: a beat has 8, 16, 32 or 64 bytes, not {}",
                self.beat_bytes
            )
        })?;
        require(self.latency.0 > 0, || {
            format!("{name}: the latency is at least 1 cycle")
        })?;
        require((1..=255).contains(&self.outstanding_misses), || {
            format!(
                "{name}: 1 to 255 misses are outstanding, not {}",
                self.outstanding_misses
            )
        })
    }
}

impl DramParameters {
    /// Two channels of DDR4-3200, speed bin 22-22-22, 8 Gbit devices (JESD79-4B).
    pub fn ddr4_3200() -> DramParameters {
        DramParameters {
            channels: 2,
            banks: 16,
            row_bytes: 8192,
            controller: Picosecond(20_000),
            column: Picosecond(13_750),
            activate: Picosecond(13_750),
            precharge: Picosecond(13_750),
            row_open: Picosecond(32_000),
            burst: Picosecond(2_500),
            write_to_read: Picosecond(7_500),
            refresh_interval: Picosecond(7_800_000),
            refresh: Picosecond(350_000),
            write_batch: 16,
        }
    }

    fn named(&mut self) -> Vec<Named<'_>> {
        let time = |name, place| Named::new(name, 0..=LONGEST_TIME, place);
        vec![
            Named::new("channels", 1..=64, &mut self.channels),
            Named::new("banks", 1..=1024, &mut self.banks),
            Named::new("row-bytes", 64..=1 << 20, &mut self.row_bytes),
            time("controller-ps", &mut self.controller.0),
            time("column-ps", &mut self.column.0),
            time("activate-ps", &mut self.activate.0),
            time("precharge-ps", &mut self.precharge.0),
            time("row-open-ps", &mut self.row_open.0),
            time("burst-ps", &mut self.burst.0),
            time("write-to-read-ps", &mut self.write_to_read.0),
            time("refresh-interval-ps", &mut self.refresh_interval.0),
            time("refresh-ps", &mut self.refresh.0),
            Named::new("write-batch", 1..=1024, &mut self.write_batch),
        ]
    }

    fn check(&self) -> Result<(), ParameterError> {
        require(
            self.channels.is_power_of_two() && self.banks.is_power_of_two(),
            || {
                format!(
                    "dram: {} channels of {} banks are not powers of two",
                    self.channels, self.banks
                )
            },
        )?;
        require(
            self.row_bytes.is_power_of_two() && u64::from(self.row_bytes) >= LINE_BYTES,
            || {
                format!(
                    "dram: a row of {} bytes is not a power of two of lines",
                    self.row_bytes
                )
            },
        )?;
        require(self.refresh.0 < self.refresh_interval.0, || {
            format!(
                "dram: a refresh of {} ps does not end before the next, {} ps later",
                self.refresh.0, self.refresh_interval.0
            )
        })?;
        require(self.burst.0 > 0 && self.write_batch > 0, || {
            "dram: burst and write_batch are at least 1".to_owned()
        })
    }
}

impl CoherenceParameters {
    fn named(&mut self) -> Vec<Named<'_>> {
        vec![
            Named::new("sharer", 0..=LONGEST, &mut self.sharer.0),
            Named::new("owner", 0..=LONGEST, &mut self.owner.0),
            Named::new("acknowledgement", 0..=LONGEST, &mut self.acknowledgement.0),
            Named::new("unit", 0..=LONGEST, &mut self.unit.0),
            Named::new("busy-modified", 0..=LONGEST, &mut self.busy.modified.0),
            Named::new("busy-held", 0..=LONGEST, &mut self.busy.held.0),
            Named::new("busy-absent", 0..=LONGEST, &mut self.busy.absent.0),
        ]
    }
}

impl PortParameters {
    fn named(&mut self) -> Vec<Named<'_>> {
        vec![
            Named::new("request", 0..=LONGEST, &mut self.request.0),
            Named::new("response", 0..=LONGEST, &mut self.response.0),
            Named::new("patience", 0..=LONGEST, &mut self.patience.0),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_legal() {
        HierarchyParameters::server().check().unwrap();
    }

    #[test]
    fn an_illegal_one_names_its_parameter() {
        let mut parameters = HierarchyParameters::server();
        parameters.l2.shape.ways = 7;
        let message = parameters.check().unwrap_err().to_string();
        assert!(message.starts_with("l2:"), "{message}");
        let mut parameters = HierarchyParameters::server();
        parameters.dram.refresh = Picosecond(10_000_000);
        assert!(parameters.check().unwrap_err().to_string().contains("refresh"));
        let mut parameters = HierarchyParameters::server();
        parameters.dram.burst = Picosecond(32_000);
        parameters.check().unwrap();
        parameters.dram.burst = Picosecond(32_500);
        let message = parameters.check().unwrap_err().to_string();
        assert!(
            message.starts_with("dram: a burst of 32500 ps takes 65 cycles"),
            "{message}"
        );
    }
}
