use crate::chunk::{Chunk, DESTINATION};
use crate::instruction::Compute;
use crate::number::{compute, copy_chosen, numbers, pack};
use crate::scratchpad::{Place, Ports, Scratchpad};
use crate::shape::Shape;

/// Cycles from the reads of a chunk to the write of its results: bytes in order, numbers, six of the lanes, packed bytes.
const STAGES: u64 = 10;

/// Results of a chunk that are to be written.
#[derive(Debug, Clone, Default)]
struct Results {
    cycle: u64,
    place: Place,
    /// The lines that conflict with reads: those of all elements.
    lines: [u32; 2],
    bytes: Vec<u8>,
    /// Bytes of an element, and which elements are written; none where all are.
    size: usize,
    chosen: Vec<bool>,
}

impl Results {
    fn write(&self, to: &mut [u8]) {
        let to = &mut to[self.place.address as usize..][..self.bytes.len()];
        if self.chosen.is_empty() {
            to.copy_from_slice(&self.bytes);
            return;
        }
        copy_chosen(&self.bytes, &self.chosen, self.size, to);
    }
}

/// The outputs of the vector unit in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moves {
    /// A chunk is taken.
    pub takes: bool,
    /// One waits for a result, or for a bank.
    pub awaits_results: bool,
    pub awaits_bank: bool,
}

/// The lanes: operands from the scratchpad, a function, results to the scratchpad; a chunk in each cycle.
#[derive(Debug, Clone)]
pub struct VectorUnit {
    /// Operands of the next chunk that have been read.
    fetched: [bool; 3],
    /// Numbers of both operands, and of the destination, before and after.
    numbers: [Vec<i32>; 3],
    /// Results in progress, as a ring.
    under_way: Vec<Results>,
    head: usize,
    count: usize,
    /// The number of them with bytes in each line.
    busy: Vec<u8>,
}

impl VectorUnit {
    pub fn new(shape: &Shape) -> VectorUnit {
        VectorUnit {
            fetched: [false; 3],
            numbers: [0; 3].map(|_| vec![0; shape.line_bytes()]),
            under_way: vec![Results::default(); STAGES as usize],
            head: 0,
            count: 0,
            busy: vec![0; shape.lines()],
        }
    }

    /// No chunk is in progress.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place of results written in this cycle.
    pub fn written(&self, cycle: u64) -> Option<Place> {
        let oldest = &self.under_way[self.head];
        (self.count != 0 && oldest.cycle + STAGES == cycle).then_some(oldest.place)
    }

    /// Reads the requested operands of a chunk whose ports are free; returns which, and whether the chunk continues.
    pub fn claim(&mut self, chunk: Option<&Chunk>, ports: &mut Ports) -> (Moves, [bool; 3]) {
        let mut moves = Moves::default();
        let mut reads = [false; 3];
        let Some(chunk) = chunk else {
            return (moves, reads);
        };
        let wanted = |which: &usize| chunk.plan.reads[*which];
        let is_busy = |which: usize| {
            let place = &chunk.places[which];
            self.busy[place.line as usize] != 0 || self.busy[place.last_line as usize] != 0
        };
        moves.awaits_results = (0..3).filter(wanted).any(is_busy);
        if moves.awaits_results {
            return (moves, reads);
        }
        moves.takes = true;
        for which in (0..3).filter(wanted) {
            if !self.fetched[which] {
                reads[which] = ports.read(which, &chunk.places[which]);
                moves.takes &= reads[which];
            }
        }
        moves.awaits_bank = !moves.takes;
        (moves, reads)
    }

    /// Writes results of this cycle.
    pub fn write(&mut self, scratchpad: &mut Scratchpad) {
        let results = &self.under_way[self.head];
        results.write(&mut scratchpad.bytes);
        let [first, last] = results.lines;
        self.busy[first as usize] -= 1;
        if last != first {
            self.busy[last as usize] -= 1;
        }
        self.head = (self.head + 1) % self.under_way.len();
        self.count -= 1;
    }

    /// Reads operands of a chunk from the current contents, and computes if all have been read.
    pub fn cycle(
        &mut self,
        chunk: Option<&Chunk>,
        (moves, reads): (Moves, [bool; 3]),
        cycle: u64,
        scratchpad: &Scratchpad,
    ) {
        let Some(chunk) = chunk else {
            self.fetched = [false; 3];
            return;
        };
        for which in (0..3).filter(|&which| reads[which]) {
            self.fetch(chunk, which, &scratchpad.bytes);
            self.fetched[which] = true;
        }
        if moves.takes {
            self.fetched = [false; 3];
            self.compute(chunk, cycle, scratchpad.line_bytes());
        }
    }

    fn fetch(&mut self, chunk: &Chunk, which: usize, bytes: &[u8]) {
        let (element, lane) = (chunk.plan.elements[which], chunk.plan.lanes[which]);
        let to = &mut self.numbers[which][..chunk.count as usize];
        let bytes = &bytes[chunk.addresses[which] as usize..];
        if chunk.plan.same[which] {
            let mut one = [0];
            numbers(bytes, element.bytes as usize, element, &mut one);
            to.fill(one[0]);
        } else if let [one] = to {
            numbers(bytes, element.bytes as usize, element, std::slice::from_mut(one));
        } else {
            numbers(bytes, lane as usize, element, to);
        }
    }

    fn compute(&mut self, chunk: &Chunk, cycle: u64, line_bytes: usize) {
        let (plan, count) = (&chunk.plan, chunk.count as usize);
        for which in 0..2 {
            if plan.elements[which].bytes == 0 {
                self.numbers[which][..count].fill(chunk.addresses[which] as i32);
            }
        }
        let [first, second, results] = &mut self.numbers;
        let (first, results) = (&first[..count], &mut results[..count]);
        let destination = plan.elements[DESTINATION];
        compute(
            plan.function,
            plan.kinds,
            [first, &second[..count]],
            destination,
            results,
        );
        let end = (self.head + self.count) % self.under_way.len();
        self.count += 1;
        let slot = &mut self.under_way[end];
        slot.cycle = cycle;
        slot.size = destination.bytes as usize;
        slot.bytes.resize(count * slot.size, 0);
        pack(results, destination.bytes, &mut slot.bytes);
        slot.chosen.clear();
        if plan.function == Compute::Select {
            slot.chosen.extend(first.iter().map(|&first| first != 0));
        }
        slot.place = chunk.places[DESTINATION];
        slot.lines = [slot.place.line, slot.place.last_line];
        if !slot.chosen.is_empty() {
            slot.place.last_line = last_line(&slot.place, slot.size, &slot.chosen, line_bytes);
        }
        let [line, last_line] = slot.lines;
        self.busy[line as usize] += 1;
        if last_line != line {
            self.busy[last_line as usize] += 1;
        }
    }
}

/// The last line that elements are written in.
fn last_line(place: &Place, size: usize, chosen: &[bool], line_bytes: usize) -> u32 {
    let last = chosen.iter().rposition(|&chosen| chosen);
    let end = last.map_or(0, |last| place.address as usize % line_bytes + (last + 1) * size);
    place.line + u32::from(end > line_bytes)
}
