use rackwright_time::{Clock, Cycles};
use std::str::FromStr;

/// Where a unit sits. It changes what its commands and memory requests cost, never the unit.
///
/// The four cases and their latencies are those of Karandikar 2024, section 7.5.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Placement {
    /// On the core's own network, beside the shared L2; nothing is injected.
    #[default]
    NearCore,
    /// On another die of the package: 25 ns more for every request.
    Chiplet,
    /// On a PCIe card with its own cache and memory: 200 ns more for raw input and final output, nothing for
    /// data in between.
    PcieCached,
    /// On a PCIe card without: 200 ns more for every request.
    Pcie,
}

/// What a memory port carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Traffic {
    /// Raw input or final output: it crosses to the host's memory wherever the unit sits.
    Stream,
    /// Data the unit wrote before and reads again, such as history beyond its SRAM.
    Intermediate,
}

/// The way between a unit and what it talks to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// On the way there.
    pub request: Cycles,
    /// On the way back.
    pub response: Cycles,
    /// Data rate of the link in each direction; `None` where the port itself is the limit.
    pub bytes_per_second: Option<u64>,
}

/// One register slice in each direction between a unit and the network of the L2.
const CROSSING: Cycles = Cycles::new(1);

const CHIPLET_NANOSECONDS: u64 = 25;
const PCIE_NANOSECONDS: u64 = 200;

/// PCIe 4.0 x16 (Graviton2's generation): 16 GT/s x 16 lanes x 128/130 coding = 31.5 GB/s, of which packets with
/// 256 bytes of payload and 24 of header and framing leave 28.8 GB/s.
const PCIE_BYTES_PER_SECOND: u64 = 28_800_000_000;

impl Placement {
    /// All placements, nearest first.
    pub const ALL: [Placement; 4] = [
        Placement::NearCore,
        Placement::Chiplet,
        Placement::PcieCached,
        Placement::Pcie,
    ];

    /// The name that the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Placement::NearCore => "near-core",
            Placement::Chiplet => "chiplet",
            Placement::PcieCached => "pcie-cached",
            Placement::Pcie => "pcie",
        }
    }

    /// The way of memory requests: half of the injected latency in each direction.
    pub fn memory_path(self, clock: Clock, traffic: Traffic) -> Path {
        match (self, traffic) {
            (Placement::PcieCached, Traffic::Intermediate) => Placement::NearCore.path(clock),
            _ => self.path(clock),
        }
    }

    /// The way of commands from the hart and of their results.
    pub fn command_path(self, clock: Clock) -> Path {
        self.path(clock)
    }

    fn path(self, clock: Clock) -> Path {
        let (injected, bytes_per_second) = match self {
            Placement::NearCore => (0, None),
            Placement::Chiplet => (CHIPLET_NANOSECONDS, None),
            Placement::PcieCached | Placement::Pcie => (PCIE_NANOSECONDS, Some(PCIE_BYTES_PER_SECOND)),
        };
        let injected: Cycles = clock.cycles_of_nanoseconds(injected);
        Path {
            request: CROSSING + Cycles::new(injected.0 / 2),
            response: CROSSING + Cycles::new(injected.0.div_ceil(2)),
            bytes_per_second,
        }
    }
}

/// A name that is none of the placements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownPlacement(String);

impl std::fmt::Display for UnknownPlacement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = Placement::ALL.map(Placement::name).join(", ");
        write!(f, "no placement is called {:?}; there are {names}", self.0)
    }
}

impl std::error::Error for UnknownPlacement {}

impl FromStr for Placement {
    type Err = UnknownPlacement;

    fn from_str(name: &str) -> Result<Placement, UnknownPlacement> {
        Placement::ALL
            .into_iter()
            .find(|placement| placement.name() == name)
            .ok_or_else(|| UnknownPlacement(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(placement: Placement, traffic: Traffic) -> u64 {
        let clock = Clock::new(2_000_000_000).unwrap();
        let path = placement.memory_path(clock, traffic);
        (path.request + path.response).0
    }

    #[test]
    fn latencies_are_those_of_the_dissertation_at_two_gigahertz() {
        assert_eq!(round_trip(Placement::NearCore, Traffic::Stream), 2);
        assert_eq!(round_trip(Placement::Chiplet, Traffic::Intermediate), 52);
        assert_eq!(round_trip(Placement::PcieCached, Traffic::Stream), 402);
        assert_eq!(round_trip(Placement::PcieCached, Traffic::Intermediate), 2);
        assert_eq!(round_trip(Placement::Pcie, Traffic::Intermediate), 402);
    }

    #[test]
    fn names_round_trip() {
        for placement in Placement::ALL {
            assert_eq!(placement.name().parse(), Ok(placement));
        }
        let message = "moon".parse::<Placement>().unwrap_err().to_string();
        assert!(message.contains("near-core"), "{message}");
    }
}
