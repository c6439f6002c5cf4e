use rackwright_time::{Clock, Cycles};
use std::str::FromStr;

/// A link between a part and memory. It changes the cost of commands and memory requests, never the part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// Latency added to a request and its response together.
    pub nanoseconds: u64,
    /// Its data rate in each direction; `None` if the port itself is the limit.
    pub bytes_per_second: Option<u64>,
    /// Whether memory on the part's side of it stores the data that the part reads back, so that only raw input and
    /// final output cross.
    pub caches: bool,
}

/// The die-to-die link of a package.
const CHIPLET: Link = Link {
    nanoseconds: 25,
    bytes_per_second: None,
    caches: false,
};

/// PCIe 4.0 x16 (Graviton2's generation): 16 GT/s x 16 lanes x 128/130 coding = 31.5 GB/s; packets with 256 bytes of
/// payload and 24 of header and framing use 28.8 GB/s of it for data.
const PCIE: Link = Link {
    nanoseconds: 200,
    bytes_per_second: Some(28_800_000_000),
    caches: false,
};

/// The same link to a card with its own cache and memory.
const PCIE_CACHED: Link = Link { caches: true, ..PCIE };

/// The links that have a name.
const LINKS: [(&str, Link); 3] = [("chiplet", CHIPLET), ("pcie-cached", PCIE_CACHED), ("pcie", PCIE)];

/// The separator of link names.
const SEPARATOR: char = '+';

/// The links between a part and memory, the part's first. Without any it sits on the core's own network, beside the
/// shared L2.
///
/// Its text is the names of its links, joined by `+`, or `near-core`. The routes of no link and of one are the four
/// cases of Karandikar 2024, section 7.5, with their latencies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Route {
    links: Vec<Link>,
}

/// The kind of data of a memory port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Traffic {
    /// Raw input or final output: it crosses to the host's memory wherever the unit is attached.
    Stream,
    /// Data the unit wrote before and reads again, such as history beyond its SRAM.
    Intermediate,
}

/// The cost of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// Towards the destination.
    pub request: Cycles,
    /// Back to the requester.
    pub response: Cycles,
    /// Data rate of the slowest link in each direction; `None` if the port itself is the limit.
    pub bytes_per_second: Option<u64>,
}

/// One register slice in each direction between a unit and the network of the L2.
const CROSSING: Cycles = Cycles::new(1);

impl Route {
    /// The text of the route without links.
    pub const NEAR_CORE: &'static str = "near-core";

    /// Across `links`, the part's first.
    pub fn across(links: Vec<Link>) -> Route {
        Route { links }
    }

    /// The command line's names of no link and of each named link: nearest first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once(Route::NEAR_CORE).chain(LINKS.map(|(name, _)| name))
    }

    /// The path of memory requests: half of the injected latency of each link in each direction.
    pub fn memory_path(&self, clock: Clock, traffic: Traffic) -> Path {
        let before = match traffic {
            Traffic::Stream => None,
            Traffic::Intermediate => self.links.iter().position(|link| link.caches),
        };
        path(&self.links[..before.unwrap_or(self.links.len())], clock)
    }

    /// The path of commands from the hart and of their results.
    pub fn command_path(&self, clock: Clock) -> Path {
        path(&self.links, clock)
    }
}

fn path(links: &[Link], clock: Clock) -> Path {
    let start = Path {
        request: CROSSING,
        response: CROSSING,
        bytes_per_second: links.iter().filter_map(|link| link.bytes_per_second).min(),
    };
    links.iter().fold(start, |path, link| {
        let injected: Cycles = clock.cycles_of_nanoseconds(link.nanoseconds);
        Path {
            request: path.request + Cycles::new(injected.0 / 2),
            response: path.response + Cycles::new(injected.0.div_ceil(2)),
            ..path
        }
    })
}

/// A text that is no route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownRoute(String);

impl std::fmt::Display for UnknownRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = Route::names().collect();
        write!(
            f,
            "no placement is called {:?}; there are {}",
            self.0,
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownRoute {}

impl FromStr for Route {
    type Err = UnknownRoute;

    fn from_str(text: &str) -> Result<Route, UnknownRoute> {
        if text == Route::NEAR_CORE {
            return Ok(Route::default());
        }
        let link = |name: &str| {
            let mut known = LINKS.iter();
            known.find_map(|(known, link)| (*known == name).then_some(*link))
        };
        let links: Option<Vec<Link>> = text.split(SEPARATOR).map(link).collect();
        links
            .map(Route::across)
            .ok_or_else(|| UnknownRoute(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(route: &str, traffic: Traffic) -> u64 {
        let clock = Clock::new(2_000_000_000).unwrap();
        let path = route.parse::<Route>().unwrap().memory_path(clock, traffic);
        (path.request + path.response).0
    }

    #[test]
    fn latencies_are_those_of_the_dissertation_at_two_gigahertz() {
        assert_eq!(round_trip("near-core", Traffic::Stream), 2);
        assert_eq!(round_trip("chiplet", Traffic::Intermediate), 52);
        assert_eq!(round_trip("pcie-cached", Traffic::Stream), 402);
        assert_eq!(round_trip("pcie-cached", Traffic::Intermediate), 2);
        assert_eq!(round_trip("pcie", Traffic::Intermediate), 402);
    }

    #[test]
    fn links_add_up_to_the_memory_that_holds_the_data() {
        assert_eq!(round_trip("chiplet+pcie", Traffic::Stream), 2 + 50 + 400);
        assert_eq!(round_trip("chiplet+pcie", Traffic::Intermediate), 2 + 50 + 400);
        assert_eq!(round_trip("chiplet+pcie-cached", Traffic::Stream), 2 + 50 + 400);
        assert_eq!(round_trip("chiplet+pcie-cached", Traffic::Intermediate), 2 + 50);
    }

    #[test]
    fn the_slowest_link_is_the_rate() {
        let slow = Link {
            bytes_per_second: Some(1_000_000),
            ..CHIPLET
        };
        let clock = Clock::new(2_000_000_000).unwrap();
        let rate = |links| Route::across(links).command_path(clock).bytes_per_second;
        assert_eq!(rate(vec![slow, PCIE]), slow.bytes_per_second);
        assert_eq!(rate(vec![CHIPLET, PCIE]), PCIE.bytes_per_second);
        assert_eq!(rate(vec![CHIPLET]), None);
    }

    #[test]
    fn names_are_routes_and_nothing_else_is() {
        for name in Route::names() {
            assert!(name.parse::<Route>().is_ok(), "{name}");
        }
        for wrong in ["moon", "", "chiplet+", "chiplet+moon", "near-core+pcie"] {
            let message = wrong.parse::<Route>().unwrap_err().to_string();
            assert!(message.contains("near-core"), "{message}");
        }
    }
}
