use crate::class::Class;
use crate::clocks::Edges;
use crate::credits::{Amount, Credits};
use crate::error::FabricError;
use crate::function::{Device, Function, Given, Model, Rtl, Unit, DEVICE_HERTZ};
use crate::packet::{Header, Kind, Status};
use crate::parts::{Part, Parts};
use crate::pool::Packet;
use crate::rate::Rate;
use crate::stamps::Stamps;
use crate::system::CardDescription;
use crate::written::Written;
use rackwright_device::{decode, encode, RestoreError};
use rackwright_rtl::{Attach, Design};
use rackwright_time::{fabric, unit, Clock};
use std::collections::VecDeque;

/// An output of a card, and its time.
pub(crate) enum Output<'a> {
    /// A packet. A completion includes the times of its request in each part.
    Packet(fabric::Cycle, &'a Header, &'a [u8], Parts),
    /// So much room is free again.
    Freed(fabric::Cycle, Class, Amount),
}

/// A card: a function on a clock of its own, and the state of its requests.
pub(crate) struct Card {
    pub(crate) name: String,
    function: Function,
    edges: Edges,
    /// The times in each part of others' requests that it has not completed, in order.
    asked: VecDeque<Parts>,
    pub(crate) stamps: Stamps,
    /// The times of completed requests in each part, without the card; and their number.
    pub(crate) spent: Parts,
    pub(crate) answered: u64,
    /// The writes of others into its windows.
    pub(crate) written: Written,
    /// Number of its malformed packets.
    pub(crate) malformed: u64,
}

impl Card {
    /// A card just after reset that has advertised its credits: as a model, a device, or one of `designs`. A design with streams
    /// is a function, another one is a unit behind a function. Its link has the rate `rate`.
    ///
    /// # Errors
    /// [`FabricError`] when it has no design, or one that cannot be on a card.
    pub(crate) fn new(
        description: &CardDescription,
        designs: &[Design],
        rate: Rate,
    ) -> Result<Card, FabricError> {
        let name = &description.name;
        let clock = |hertz| Clock::new(hertz).map_err(|error| FabricError::Description(error.to_string()));
        let (function, edges) = if let Some(model) = &description.model {
            let edges = Edges::of(clock(model.hertz)?);
            (Function::Model(Box::new(Model::new(model))), edges)
        } else if let Some(device) = &description.device {
            let device = Device::new(name, device, rate)?;
            (
                Function::Device(Box::new(device)),
                Edges::of(clock(DEVICE_HERTZ)?),
            )
        } else {
            let design = description.design.and_then(|number| designs.get(number));
            let missing = || FabricError::Description(format!("card {name}: it has no design"));
            let design = design.ok_or_else(missing)?;
            let manifest = &design.manifest;
            let edges = Edges::of(clock(manifest.clock().hertz)?);
            let function = if manifest.stream_ports().next().is_some() {
                manifest.require(Attach::Card)?;
                Function::Rtl(Box::new(Rtl::new(name, design)?))
            } else {
                // The window of its card has the role of a hart.
                manifest.require(Attach::Hart)?;
                let own = description.memory_bytes;
                Function::Unit(Box::new(Unit::new(name, design, (edges, rate), own)?))
            };
            (function, edges)
        };
        if description.memory_bytes.is_some() && function.memory().is_none() {
            return Err(FabricError::Card {
                card: name.clone(),
                reason: "only a unit behind a function has memory on its card".to_string(),
            });
        }
        Ok(Card {
            name: name.clone(),
            function,
            edges,
            asked: VecDeque::new(),
            stamps: Stamps::default(),
            spent: Parts::default(),
            answered: 0,
            written: Written::default(),
            malformed: 0,
        })
    }

    /// Its state: of its function, and of requests that it has not completed. What it has told a measurement is not part
    /// of it.
    ///
    /// # Errors
    /// [`FabricError::Card`] for a function that cannot be saved.
    pub(crate) fn save(&self) -> Result<Vec<u8>, FabricError> {
        let function = self.function.save(&self.name)?;
        Ok(encode(&(function, &self.asked, self.malformed)))
    }

    /// Restores the state of another card with the same function.
    ///
    /// # Errors
    /// [`RestoreError`] when it is none.
    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let function: Vec<u8>;
        (function, self.asked, self.malformed) = decode(state, "card")?;
        self.function.restore(&function)
    }

    /// The room that it advertises.
    pub(crate) fn credits(&self) -> Credits {
        self.function.credits()
    }

    /// The length of its cycles.
    pub(crate) fn edges(&self) -> Edges {
        self.edges
    }

    /// When the first cycle begins that it has not simulated.
    pub(crate) fn reached(&self) -> fabric::Cycle {
        self.edges.instant(self.function.cycle())
    }

    /// The time of its next event, `now` for one that is busy; none while it is idle, or waits for others.
    pub(crate) fn due(&self, now: fabric::Cycle) -> Option<fabric::Cycle> {
        match &self.function {
            // It knows when: a disk is busy for a long time.
            Function::Device(device) => device.due().map(|cycle| now.max(self.edges.instant(cycle))),
            _ => (!self.is_idle()).then_some(now),
        }
    }

    /// Whether it is idle.
    pub(crate) fn is_idle(&self) -> bool {
        self.function.is_idle()
    }

    /// Whether there is memory on it.
    pub(crate) fn has_memory(&self) -> bool {
        self.function.memory().is_some()
    }

    /// The function, if its card has memory and this is an address in its window.
    pub(crate) fn memory_at(&self, address: u64) -> Option<&Unit> {
        self.function.memory().filter(|unit| unit.has_memory_at(address))
    }

    /// The same, to write.
    pub(crate) fn memory_at_mut(&mut self, address: u64) -> Option<&mut Unit> {
        let unit = self.function.memory_mut();
        unit.filter(|unit| unit.has_memory_at(address))
    }

    /// The sums of its events.
    pub(crate) fn events(&self) -> Vec<(String, u64)> {
        self.function.events()
    }

    /// Has the limit of a class be known to it from `at` on.
    pub(crate) fn grant(&mut self, at: fabric::Cycle, initial: bool, class: Class, limit: Amount) {
        self.function.grant(self.edges.seen(at), initial, class, limit);
    }

    /// Passes an incoming packet at `at`.
    pub(crate) fn arrive(&mut self, at: fabric::Cycle, packet: &Packet) {
        self.function.arrive(self.edges.seen(at), packet);
        if packet.header.kind == Kind::MemoryWrite {
            self.written.add(at, packet.data.len());
        }
        if packet.header.kind.class() == Class::NonPosted {
            self.asked.push_back(packet.parts);
        }
        let completion = packet.header.completion;
        if packet.header.kind.class() == Class::Completion
            && usize::from(completion.byte_count) <= 4 * packet.header.payload_words()
        {
            self.spent.add_all(&packet.parts);
            self.answered += 1;
        }
    }

    /// Advances to the first cycle that begins at `until` or later. `give` receives its outputs.
    ///
    /// # Errors
    /// [`FabricError::Stopped`] if an assertion in it fails.
    pub(crate) fn advance(
        &mut self,
        until: fabric::Cycle,
        mut give: impl FnMut(Output<'_>),
    ) -> Result<(), FabricError> {
        let Card {
            name,
            function,
            edges,
            asked,
            stamps,
            malformed,
            ..
        } = self;
        let end: unit::Cycle = edges.seen(until);
        function.advance(end, name, |cycle, given| {
            // The outputs of a cycle are ready at its end.
            let at = edges.instant(unit::Cycle::new(cycle.0 + 1));
            match given {
                Given::Packet(header, data) => {
                    let completes = header.kind.class() == Class::Completion;
                    let parts = completes.then(|| requested(asked, header)).flatten();
                    give(Output::Packet(at, header, data, parts.unwrap_or_default()));
                }
                Given::Malformed => *malformed += 1,
                Given::Freed(class, amount) => give(Output::Freed(at, class, amount)),
                Given::Stamp(word) => stamps.add(word),
            }
        })
    }
}

/// The times in each part of the request that a completion is for, which its last completion ends.
fn requested(asked: &mut VecDeque<Parts>, completion: &Header) -> Option<Parts> {
    if is_last(completion) {
        asked.pop_front()
    } else {
        asked.front().copied()
    }
}

/// Whether a completion has all that is left of the data of its request.
fn is_last(completion: &Header) -> bool {
    usize::from(completion.completion.byte_count) <= 4 * completion.payload_words()
        || completion.completion.status != Status::Successful
}

/// The part of a card in a mean latency, the rest being elsewhere.
pub(crate) fn with_card(mut parts: Parts, all: fabric::Cycles) -> Parts {
    let elsewhere = parts.total();
    parts.add(Part::Card, fabric::Cycles::new(all.0.saturating_sub(elsewhere.0)));
    parts
}
