use crate::registers::writes;
use crate::{DaronponError, Datapath, Dropped};
use rackwright_contract::{flits_of, Flit};
use rackwright_dispatch::Counters;
use rackwright_ethernet::Rack;
use rackwright_registers::daronpon::NEXT_TIMER;
use rackwright_rtl::{
    Attach, Broken, Design, Direction, Instance, Manifest, RegisterAccess, Step, StreamFlit,
};
use rackwright_time::unit::Cycles;

/// Number of cycles in one step until it becomes idle, and in total.
const STRIDE: Cycles = Cycles::new(64);
const PATIENCE: u64 = 1_000_000;

/// The dispatcher in RTL, frame by frame: each is passed when the effects of the previous one are complete.
pub struct Unit {
    instance: Instance,
    input: u8,
    open: Vec<u8>,
    next_timer: u64,
    /// The cycle of the latest flit that left.
    last_flit: u64,
}

impl Unit {
    /// A unit that has been configured with its rack and started.
    ///
    /// # Errors
    /// [`DaronponError`] if the design is invalid, or does not support the rack's configuration.
    pub fn new(design: &Design, rack: &Rack, key: &[u8; 16]) -> Result<Unit, DaronponError> {
        rackwright_dispatch::Dispatcher::new(&rack.configuration)?;
        design.manifest.require(Attach::Switch)?;
        check(&design.manifest, rack)?;
        let input = design
            .manifest
            .stream_ports()
            .position(|(_, direction)| direction == Direction::In)
            .ok_or_else(|| DaronponError::OtherUnit(design.manifest.unit.clone()))?;
        let mut unit = Unit {
            instance: Instance::new(design, None)?,
            input: input as u8,
            open: Vec::new(),
            next_timer: 0,
            last_flit: 0,
        };
        unit.start(rack, key)?;
        Ok(unit)
    }

    /// Restarts it: its state is lost, its counters are not.
    ///
    /// # Errors
    /// As [`Unit::new`].
    pub fn start(&mut self, rack: &Rack, key: &[u8; 16]) -> Result<(), DaronponError> {
        for (register, value) in writes(rack, key)? {
            self.access(register, Some(value))?;
        }
        self.finish(&mut Vec::new())
    }

    /// Cycles in which it was active.
    pub fn evaluated_cycles(&self) -> u64 {
        self.instance.evaluated_cycles()
    }

    /// Passes frames back to back, as fast as it accepts them; returns cycles from the first flit in to the last one
    /// out.
    ///
    /// # Errors
    /// [`DaronponError::Stuck`].
    pub fn back_to_back(&mut self, frames: &[Vec<u8>]) -> Result<u64, DaronponError> {
        let start = self.instance.cycle().0;
        frames.iter().for_each(|frame| self.give(0, frame));
        self.settle(&mut Vec::new())?;
        Ok(self.last_flit - start)
    }

    /// Passes frames back to back, each at its time in nanoseconds, and runs until it is idle; outgoing frames are
    /// appended to `sent`, in order.
    ///
    /// # Errors
    /// [`DaronponError::Stuck`].
    pub fn burst(&mut self, frames: &[(u64, Vec<u8>)], sent: &mut Vec<Vec<u8>>) -> Result<(), DaronponError> {
        frames.iter().for_each(|(now, frame)| self.give(*now, frame));
        self.finish(sent)
    }

    /// Runs until it is idle, and records the time of the next tick.
    fn finish(&mut self, sent: &mut Vec<Vec<u8>>) -> Result<(), DaronponError> {
        self.settle(sent)?;
        self.next_timer = self.access(NEXT_TIMER.offset, None)?;
        Ok(())
    }

    /// Passes a frame, preceded by its time.
    fn give(&mut self, now: u64, frame: &[u8]) {
        let at = self.instance.cycle();
        let time = now.to_le_bytes();
        let head = Flit {
            bytes: &time,
            last: frame.is_empty(),
        };
        for flit in std::iter::once(head).chain(flits_of(frame)) {
            self.instance.flit(StreamFlit::new(self.input, at, flit));
        }
    }

    fn access(&mut self, register: u32, write: Option<u64>) -> Result<u64, DaronponError> {
        self.instance.register_access(RegisterAccess {
            due: self.instance.cycle().0,
            data: write.unwrap_or(0),
            address: register,
            write: u8::from(write.is_some()),
        });
        loop {
            let until = self.instance.cycle() + STRIDE;
            let step = self.instance.step(until);
            if let Some(answer) = step.register_answers.first() {
                return Ok(answer.data);
            }
            refuse_broken(&step)?;
        }
    }

    /// Runs until it is idle.
    fn settle(&mut self, sent: &mut Vec<Vec<u8>>) -> Result<(), DaronponError> {
        let start = self.instance.cycle();
        loop {
            let until = self.instance.cycle() + STRIDE;
            let step = self.instance.step(until);
            for flit in step.flits {
                let count = flit.keep.trailing_ones() as usize;
                self.last_flit = flit.cycle;
                self.open.extend_from_slice(&flit.data.to_le_bytes()[..count]);
                if flit.last != 0 {
                    sent.push(std::mem::take(&mut self.open));
                }
            }
            refuse_broken(&step)?;
            if step.idle {
                return Ok(());
            }
            if step.cycle.0 - start.0 > PATIENCE {
                return Err(DaronponError::Stuck(PATIENCE));
            }
        }
    }

    fn event(&self, name: &str) -> u64 {
        let manifest = self.instance.design().manifest.clone();
        let index = manifest.events().position(|event| event == name);
        index.map_or(0, |index| self.instance.event(index))
    }
}

impl Datapath for Unit {
    /// # Panics
    /// If the unit does not become idle.
    fn frame(&mut self, now: u64, frame: &[u8], sent: &mut Vec<Vec<u8>>) {
        self.give(now, frame);
        self.finish(sent).unwrap_or_else(|error| panic!("{error}"));
    }

    fn next_timer(&self) -> u64 {
        self.next_timer
    }

    fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        counters.fill(|name| self.event(name));
        counters
    }

    fn dropped(&self) -> Dropped {
        Dropped {
            malformed: self.event("malformed"),
            forged: self.event("forged"),
        }
    }
}

/// Returns an error if the unit has stopped.
fn refuse_broken(step: &Step<'_>) -> Result<(), DaronponError> {
    match &step.broken {
        Some(Broken::Stopped(cycle, reason)) => Err(DaronponError::Stopped {
            cycle: *cycle,
            reason: reason.clone(),
        }),
        // Its promise to be idle is not checked here.
        Some(Broken::Idle(_)) | None => Ok(()),
    }
}

/// Whether the rack fits into the unit's tables.
fn check(manifest: &Manifest, rack: &Rack) -> Result<(), DaronponError> {
    let parameter = |name: &str| manifest.parameters.get(name).and_then(|value| value.as_u64());
    let other = || DaronponError::OtherUnit(manifest.unit.clone());
    let configuration = &rack.configuration;
    let replicas = configuration
        .services
        .iter()
        .map(|service| service.replicas.len())
        .sum();
    for (what, wanted) in [
        ("services", configuration.services.len()),
        ("replicas", replicas),
        ("peers", configuration.peers.len()),
    ] {
        let room = parameter(what).ok_or_else(other)?;
        if wanted as u64 > room {
            return Err(DaronponError::Room { room, what, wanted });
        }
    }
    let flights = parameter("flights").ok_or_else(other)?;
    if flights != configuration.tracked as u64 {
        return Err(DaronponError::Tracked {
            flights,
            tracked: configuration.tracked,
        });
    }
    Ok(())
}
