use crate::calculators::{Calculators, Format};
use crate::instruction::{Instruction, Value};
use crate::isa::ISA;
use crate::loops::Loops;
use crate::scratchpad::{Outside, Scratchpad};

/// What a unit is built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Elements computed at once.
    pub lanes: usize,
    /// Bytes of the scratchpad.
    pub scratchpad: usize,
    /// Instructions that it holds.
    pub instructions: usize,
    /// Loops within each other.
    pub loops: usize,
}

/// How a program ended, by the numbers of contract 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// With `end`.
    Ok = 0,
    /// At an instruction that can't be carried out.
    Malformed = 1,
    /// At a store beyond the destination.
    OutputFull = 2,
    /// It is too long, or took too many instructions.
    Unsupported = 3,
}

/// What is known after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub status: Status,
    /// At which instruction.
    pub index: usize,
    /// Bytes of the stores that were begun.
    pub output_bytes: u64,
    /// Instructions that were obeyed.
    pub obeyed: u64,
}

/// Whether a program goes on.
enum Flow {
    Next,
    End,
    Stop(Status),
}

impl From<Outside> for Status {
    fn from(Outside: Outside) -> Status {
        Status::Malformed
    }
}

/// A unit with a program and the memory that it was given.
///
/// Results are exact, whatever the program; for one that does not wait for its transfers as it must, memory decides in
/// hardware, and here each transfer ends at once.
pub struct Machine<'a> {
    shape: Shape,
    program: Vec<Instruction>,
    inputs: Vec<&'a [u8]>,
    output: &'a mut [u8],
    scratchpad: Scratchpad,
    calculators: Calculators,
    loops: Loops,
    upper: Option<u32>,
    length: usize,
    index: usize,
    output_bytes: u64,
}

impl<'a> Machine<'a> {
    /// One that begins with the first word; `inputs` are regions 1 and on, `output` is region 0.
    pub fn new(shape: Shape, words: &[u32], inputs: Vec<&'a [u8]>, output: &'a mut [u8]) -> Self {
        Machine {
            shape,
            program: words.iter().map(|&word| Instruction::decode(word)).collect(),
            inputs,
            output,
            scratchpad: Scratchpad::new(shape.scratchpad, shape.lanes),
            calculators: Calculators::new(shape.loops),
            loops: Loops::new(shape.loops),
            upper: None,
            length: 1,
            index: 0,
            output_bytes: 0,
        }
    }

    /// Runs to the end, or for so many instructions.
    pub fn run(mut self, most: u64) -> Ended {
        if self.program.len() > self.shape.instructions {
            return self.ended(Status::Unsupported, 0);
        }
        if self.program.is_empty() {
            return self.ended(Status::Malformed, 0);
        }
        for obeyed in 0..most {
            let instruction = self.program.get(self.index).copied();
            let flow = self.obey(instruction.unwrap_or(Instruction::Unknown));
            match flow.unwrap_or_else(Flow::Stop) {
                Flow::Next => {}
                Flow::End => return self.ended(Status::Ok, obeyed + 1),
                Flow::Stop(status) => return self.ended(status, obeyed),
            }
        }
        self.ended(Status::Unsupported, most)
    }

    fn ended(&self, status: Status, obeyed: u64) -> Ended {
        Ended {
            status,
            index: self.index,
            output_bytes: self.output_bytes,
            obeyed,
        }
    }

    fn obey(&mut self, instruction: Instruction) -> Result<Flow, Status> {
        let ends = match instruction {
            Instruction::Compute { ends, .. }
            | Instruction::Load { ends, .. }
            | Instruction::Store { ends, .. }
            | Instruction::WaitLoads { ends, .. }
            | Instruction::WaitStores { ends, .. }
            | Instruction::End { ends } => ends,
            _ => {
                self.set(instruction)?;
                self.index += 1;
                return Ok(Flow::Next);
            }
        };
        if ends > self.loops.depth() {
            return Err(Status::Malformed);
        }
        match instruction {
            Instruction::Compute {
                function, operands, ..
            } => {
                let (calculators, depth) = (&self.calculators, self.loops.depth());
                let of = |c| calculators.operand(c, depth);
                self.scratchpad.compute(function, operands, of, self.length)?;
            }
            Instruction::Load {
                place, memory, size, ..
            } => self.load(place, memory, size as usize)?,
            Instruction::Store {
                place, memory, size, ..
            } => self.store(place, memory, size as usize)?,
            Instruction::End { .. } => return Ok(Flow::End),
            // Every transfer has ended.
            _ => {}
        }
        match self.loops.end(ends) {
            Some((begin, level)) => {
                self.calculators.repeat(level);
                self.index = begin;
            }
            None => self.index += 1,
        }
        Ok(Flow::Next)
    }

    fn set(&mut self, instruction: Instruction) -> Result<(), Status> {
        let depth = self.loops.depth();
        let upper = self.upper;
        let whole = |own: Value| own.whole(upper);
        match instruction {
            Instruction::Base { calculator, own } => {
                self.calculators.set_base(calculator, depth, whole(own));
            }
            Instruction::Stride {
                calculator,
                level,
                own,
            } if level < self.shape.loops => {
                self.calculators.set_stride(calculator, level, whole(own));
            }
            Instruction::Format {
                calculator,
                element_type,
                own,
            } if ISA.element_type(element_type).is_some() => {
                let lane = whole(own) as i32;
                let format = Format { element_type, lane };
                self.calculators.set_format(calculator, format);
            }
            Instruction::Region { calculator, region } if region < ISA.regions => {
                self.calculators.set_region(calculator, region);
            }
            Instruction::Length { elements } if elements > 0 => self.length = elements as usize,
            Instruction::Loop { iterations } if iterations > 0 => {
                if !self.loops.begin(iterations, self.index + 1) {
                    return Err(Status::Malformed);
                }
                self.calculators.open(depth);
            }
            Instruction::Upper { .. } => {}
            _ => return Err(Status::Malformed),
        }
        self.upper = match instruction {
            Instruction::Upper { value } => Some(value),
            _ => None,
        };
        Ok(())
    }

    fn load(&mut self, place: usize, memory: usize, size: usize) -> Result<(), Status> {
        let depth = self.loops.depth();
        let place = self.calculators.operand(place, depth).address;
        let offset = self.calculators.operand(memory, depth).address as usize;
        let region = self.calculators.region(memory) as usize;
        let to = self.scratchpad.range(place, size)?;
        if size == 0 || region == 0 {
            return Err(Status::Malformed);
        }
        let input = self.inputs.get(region - 1).copied().unwrap_or_default();
        let from = input.get(offset..offset + size);
        to.copy_from_slice(from.ok_or(Status::Malformed)?);
        Ok(())
    }

    fn store(&mut self, place: usize, memory: usize, size: usize) -> Result<(), Status> {
        let depth = self.loops.depth();
        let place = self.calculators.operand(place, depth).address;
        let offset = self.calculators.operand(memory, depth).address as usize;
        let from = self.scratchpad.range(place, size)?;
        if size == 0 || self.calculators.region(memory) != 0 {
            return Err(Status::Malformed);
        }
        let to = self.output.get_mut(offset..offset + size);
        to.ok_or(Status::OutputFull)?.copy_from_slice(from);
        self.output_bytes += size as u64;
        Ok(())
    }
}
