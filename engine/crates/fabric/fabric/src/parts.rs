use rackwright_time::fabric::Cycles;
use serde::{Deserialize, Serialize};

/// The parts of a packet's latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// In the card that sent the request.
    Card,
    /// On wires: its bytes, and the delay of links.
    Link,
    /// In switches, without waiting.
    Switch,
    /// Waiting for a wire, for credits, or for others' turns.
    Queue,
    /// In the root complex.
    Root,
    /// In the memory hierarchy.
    Memory,
}

impl Part {
    /// All of them, in the order of reports.
    pub const ALL: [Part; 6] = [
        Part::Card,
        Part::Link,
        Part::Switch,
        Part::Queue,
        Part::Root,
        Part::Memory,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        ["card", "link", "switch", "queue", "root", "memory"][self as usize]
    }
}

/// Time by part.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Parts([u64; 6]);

impl Parts {
    /// Adds time in a part.
    #[inline]
    pub fn add(&mut self, part: Part, span: Cycles) {
        self.0[part as usize] += span.0;
    }

    /// Time in a part.
    pub fn of(&self, part: Part) -> Cycles {
        Cycles::new(self.0[part as usize])
    }

    /// Adds the times of another one.
    pub fn add_all(&mut self, other: &Parts) {
        for (mine, others) in self.0.iter_mut().zip(other.0) {
            *mine += others;
        }
    }

    /// Time in all parts.
    pub fn total(&self) -> Cycles {
        Cycles::new(self.0.iter().sum())
    }
}
