use crate::chunk::Check;
use crate::completion::FlagWrite;
use crate::control::{Control, Failure, Progress};
use crate::executor::{Executed, Executor, Told};
use crate::fifo::Fifo;
use crate::isa::ISA;
use crate::load::{LoadEngine, Loads};
use crate::manifest::{manifest, EVENTS};
use crate::program::ProgramLoader;
use crate::repeater::{Issue, Repeater};
use crate::router::{Routed, Router};
use crate::scratchpad::{Place, Ports, Scratchpad};
use crate::shape::Shape;
use crate::status::Status;
use crate::step::Step;
use crate::store::{StoreEngine, Written};
use crate::vector::{Moves, VectorUnit};
use rackwright_rtl::{Design, MemoryRequest, MemoryResponse, ModelPins, RequestKind, UnitModel, BEAT_BYTES};

/// The memory ports, by their numbers.
const READ: usize = 0;
const WRITE: usize = 1;

/// The requester at a port, in the lowest bit of a tag: an engine; or the loader of programs, or the router.
const ENGINE: u16 = 0;
const OTHER: u16 = 1;

/// The unit that restructures data.
pub struct Drx {
    router: Router,
    control: Control,
    program: ProgramLoader,
    repeater: Repeater,
    steps: Fifo<Step, 2>,
    executor: Executor,
    check: Check,
    vector: VectorUnit,
    scratchpad: Scratchpad,
    loads: LoadEngine,
    stores: StoreEngine,
    /// Who wrote last.
    last_writer: u16,
    /// Cycles of its clock, which stops while it is idle; a chunk that was taken as its program ended may be in progress.
    clock: u64,
    events: [u64; EVENTS.len()],
}

/// The unit of this shape, as a design.
///
/// # Errors
/// Which parameter the hardware can't be built with.
pub fn design(shape: Shape) -> Result<Design, String> {
    shape.check()?;
    let key = format!("{shape:?}");
    Design::modelled(manifest(&shape), key, move || Box::new(Drx::new(&shape)))
}

impl Drx {
    /// One that has just been reset, of a shape that can be built.
    pub fn new(shape: &Shape) -> Drx {
        Drx {
            router: Router::new(shape.command_queue, shape.port_bytes),
            control: Control::new(ISA.regions as usize),
            program: ProgramLoader::new(shape),
            repeater: Repeater::new(shape),
            steps: Fifo::new(),
            executor: Executor::new(shape),
            check: Check::new(),
            vector: VectorUnit::new(shape),
            scratchpad: Scratchpad::new(shape.scratchpad_bytes(), shape.line_bytes(), shape.banks),
            loads: LoadEngine::new(shape),
            stores: StoreEngine::new(shape),
            last_writer: ENGINE,
            clock: 0,
            events: [0; EVENTS.len()],
        }
    }

    /// The scratchpad, its accesses in a cycle, and the vector unit: which chunk moves, which bytes are stored and loaded.
    fn access(&mut self) -> (Moves, Option<Place>, bool) {
        let cycle = self.clock;
        self.clock += 1;
        let chunk = self.check.front();
        let results = self.vector.written(cycle);
        let mut ports = Ports::new(&self.scratchpad, results);
        let claim = self.vector.claim(chunk, &mut ports);
        let stored = self.stores.wanted().filter(|place| ports.read_stored(place));
        let loaded = self
            .loads
            .wanted()
            .is_some_and(|place| ports.write_loaded(&place));
        // Bytes read in addition to the requested ones are those after the writes of the cycle.
        if results.is_some() {
            self.vector.write(&mut self.scratchpad);
        }
        if loaded {
            self.loads.write(&mut self.scratchpad);
        }
        self.vector.cycle(chunk, claim, cycle, &self.scratchpad);
        (claim.0, stored, loaded)
    }

    /// Steps and their execution, in a cycle with these moves of chunks.
    fn execute(&mut self, told: &Told, moves: Moves) -> Executed {
        let has_room = self.steps.has_room();
        let executed = self.executor.cycle(told);
        if self.executor.is_empty() {
            if let Some(step) = self.steps.pop() {
                self.executor.enter(step, self.control.regions());
            }
        }
        let issue = self.repeater.cycle(has_room);
        if let Issue::Step(step) = issue {
            self.steps.push(step);
        }
        self.check.cycle(moves.takes, executed.chunk);
        let sets = matches!(issue, Issue::Sets);
        let happened = [
            sets,
            executed.taken,
            moves.takes,
            moves.awaits_results,
            moves.awaits_bank,
        ];
        for (event, happened) in self.events[1..].iter_mut().zip(happened) {
            *event += u64::from(happened);
        }
        self.events[6] += u64::from(executed.awaits_transfer);
        executed
    }

    /// Aborts all operations in progress.
    fn clear(&mut self) {
        self.repeater.stop();
        self.steps.clear();
        self.executor.clear();
        self.check.clear();
        self.loads.clear();
        self.stores.clear();
    }

    /// The requester that may write in this cycle: they take turns.
    fn writer(&mut self) -> Option<u16> {
        let engine = self.stores.asks();
        let other = self.router.asks(self.control.result());
        let chosen = if other && (self.last_writer == ENGINE || !engine) {
            OTHER
        } else if engine {
            ENGINE
        } else {
            return None;
        };
        self.last_writer = chosen;
        Some(chosen)
    }

    /// Commands, programs and their results, in a cycle with these events.
    fn manage(&mut self, pins: &mut ModelPins, writer: Option<u16>, mut progress: Progress) {
        let ready = self.control.is_idle() && self.program.is_ready();
        let response = answer(pins, WRITE, OTHER);
        let command = pins.command().copied();
        let routed = if command.is_none() && self.control.result().is_none() && self.router.rests() {
            Routed::default()
        } else {
            let granted = writer == Some(OTHER);
            let result = self.control.result();
            self.router
                .cycle(command.as_ref(), ready, result, granted, response.as_ref())
        };
        if routed.takes {
            pins.take_command();
        }
        if let Some((rd, data)) = routed.answer {
            pins.respond(rd, data);
        }
        progress.taken = routed.takes_result;
        let source = routed.operation.as_ref().map(|operation| operation.source);
        let response = answer(pins, READ, OTHER);
        if response.is_some() {
            pins.take_answer(READ);
        }
        let loading = self.program.cycle(source, response.as_ref());
        if let Some((row, words)) = &loading.row {
            self.repeater.write(*row, words);
        }
        if let Some((address, tag)) = loading.asks {
            pins.ask(read(pins, address, tag, OTHER));
        }
        if let Some(write) = routed.writes {
            pins.ask(flag(pins, &write));
        }
        progress.loaded = loading.done;
        if let Some(instructions) = self.control.cycle(routed.operation, &progress) {
            self.repeater.begin(instructions);
            self.executor.begin();
        }
    }
}

impl UnitModel for Drx {
    fn cycle(&mut self, pins: &mut ModelPins) {
        let stops = self.control.stops();
        let computed = self.vector.is_empty();
        let quiet = computed && self.loads.is_idle() && self.stores.is_idle();
        let output_bytes = self.executor.output_bytes();
        let at = self.executor.at();
        self.events[0] += u64::from(!self.router.is_idle());
        let told = Told {
            settled: computed && self.check.is_empty(),
            computed,
            has_room: [
                self.check.has_room(),
                self.loads.has_room(),
                self.stores.has_room(),
            ],
            loaded: self.loads.ended(),
            stored: self.stores.ended(),
            broken: self.check.broken(),
        };
        let (moves, stored, loaded) = self.access();
        let writer = self.writer();
        let executed = self.execute(&told, moves);

        let response = answer(pins, READ, ENGINE);
        let loads = self.loads.cycle(loaded, executed.load, response.as_ref());
        if response.is_some() && loads.takes {
            pins.take_answer(READ);
        }
        let response = answer(pins, WRITE, ENGINE);
        let refused = self.stores.fault(response.as_ref());
        let written = self.stores.cycle(
            stored.map(|place| (place, &self.scratchpad)),
            executed.store,
            writer == Some(ENGINE),
            response.as_ref(),
        );
        if let Some((address, tag)) = loads.asks {
            pins.ask(read(pins, address, tag, ENGINE));
        }
        if let Some(written) = &written {
            pins.ask(write(pins, written));
        }
        let progress = Progress {
            loaded: None,
            failure: failure(&executed, &loads, refused),
            ended: executed.ended,
            at,
            output_bytes,
            quiet,
            taken: false,
        };
        self.manage(pins, writer, progress);
        if pins.answer(WRITE).is_some() {
            pins.take_answer(WRITE);
        }
        if stops {
            self.clear();
        }
    }

    fn is_idle(&self) -> bool {
        self.router.is_idle() && self.program.is_idle() && self.loads.is_idle() && self.stores.is_idle()
    }

    fn event(&self, index: usize) -> u64 {
        self.events[index]
    }
}

/// The first error.
fn failure(executed: &Executed, loads: &Loads, refused: Option<u32>) -> Option<Failure> {
    let refused = loads.fault.or(refused).map(|index| Failure {
        status: Status::AccessFault,
        index,
    });
    executed.failure.or(refused)
}

/// The response offered at a port, if it is for this requester.
fn answer(pins: &ModelPins, port: usize, who: u16) -> Option<MemoryResponse> {
    pins.answer(port).filter(|answer| answer.tag & 1 == who).copied()
}

fn read(pins: &ModelPins, address: u64, tag: usize, who: u16) -> MemoryRequest {
    MemoryRequest {
        cycle: pins.cycle(),
        address,
        mask: 0,
        tag: (tag as u16) << 1 | who,
        port: READ as u8,
        kind: RequestKind::Read,
        data: [0; BEAT_BYTES],
    }
}

fn write(pins: &ModelPins, written: &Written) -> MemoryRequest {
    MemoryRequest {
        cycle: pins.cycle(),
        address: written.address,
        mask: written.mask,
        tag: (written.tag as u16) << 1 | ENGINE,
        port: WRITE as u8,
        kind: RequestKind::Write,
        data: written.data,
    }
}

fn flag(pins: &ModelPins, write: &FlagWrite) -> MemoryRequest {
    MemoryRequest {
        cycle: pins.cycle(),
        address: write.address,
        mask: write.mask,
        tag: OTHER,
        port: WRITE as u8,
        kind: RequestKind::Write,
        data: write.data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        lanes: 8,
        scratchpad_kib: 4,
        banks: 2,
        instruction_kib: 4,
        loop_depth: 6,
        port_bytes: 32,
        outstanding: 64,
        command_queue: 4,
    };

    #[test]
    fn a_unit_has_the_ports_of_its_manifest() {
        let design = design(SHAPE).expect("it can be built");
        let ports: Vec<_> = design.manifest.memory_ports().collect();
        assert_eq!(ports, [("read", 32), ("write", 32)]);
        assert_eq!(design.manifest.events().collect::<Vec<_>>(), EVENTS);
    }

    #[test]
    fn a_unit_that_can_not_be_built() {
        let refused = |shape| design(shape).err().expect("it can't be built");
        let message = refused(Shape { lanes: 24, ..SHAPE });
        assert_eq!(message, "lanes: 24 is not allowed; a power of two from 8 to 256");
        let message = refused(Shape {
            lanes: 256,
            banks: 4,
            ..SHAPE
        });
        assert!(message.contains("less than four lines of 256 lanes"), "{message}");
    }
}
