use crate::calculators::{Calculators, Operand};
use crate::instruction::{Compute, Instruction, Value};
use crate::isa::ISA;
use crate::loops::Loops;
use crate::shape::Shape;
use crate::step::{Kind, Step};

/// The output of the repeater in a cycle.
#[derive(Debug, Clone, Copy)]
pub enum Issue {
    /// It has no program, or its step is not taken.
    Nothing,
    /// It executes an instruction that changes settings.
    Sets,
    /// It issues a step.
    Step(Step),
}

/// An instruction that has been executed, and whose outputs are still to come.
#[derive(Debug, Clone, Copy)]
enum Held {
    Sets,
    Step(Step),
}

/// An instruction cannot be executed.
struct Broken;

/// Executes the program, including its loops, and issues a step for each instruction with an effect.
///
/// The hardware has a register between control flow and address calculators; as nothing but the outputs depends on when
/// the calculators change, they change here together, and the outputs wait a cycle.
#[derive(Debug, Clone)]
pub struct Repeater {
    program: Vec<Instruction>,
    levels: usize,
    running: bool,
    /// The outputs of the instruction in the register.
    held: Option<Held>,
    instructions: usize,
    next: usize,
    upper: Option<u32>,
    length: u32,
    calculators: Calculators,
    loops: Loops,
}

impl Repeater {
    pub fn new(shape: &Shape) -> Repeater {
        Repeater {
            program: vec![Instruction::Unknown; shape.instructions()],
            levels: shape.loop_depth,
            running: false,
            held: None,
            instructions: 0,
            next: 0,
            upper: None,
            length: 1,
            calculators: Calculators::new(shape.lanes, shape.loop_depth),
            loops: Loops::new(shape.loop_depth),
        }
    }

    /// Writes a row of the instruction memory, by its number.
    pub fn write(&mut self, row: usize, words: &[u32]) {
        let places = self.program[row * words.len()..].iter_mut();
        for (place, &word) in places.zip(words) {
            *place = Instruction::decode(word);
        }
    }

    /// Starts with the first instruction of a program with this number of instructions.
    pub fn begin(&mut self, instructions: u32) {
        self.running = true;
        self.instructions = instructions as usize;
        self.next = 0;
        self.upper = None;
        self.length = 1;
        self.calculators.clear();
        self.loops.clear();
    }

    /// Aborts the program.
    pub fn stop(&mut self) {
        self.running = false;
        self.held = None;
    }

    /// A cycle, in which a step is taken or not.
    pub fn cycle(&mut self, has_room: bool) -> Issue {
        let issue = match self.held {
            None => Issue::Nothing,
            Some(Held::Sets) => Issue::Sets,
            Some(Held::Step(step)) if has_room => Issue::Step(step),
            Some(Held::Step(_)) => return Issue::Nothing,
        };
        self.held = self.running.then(|| self.execute());
        issue
    }

    /// Executes the next instruction.
    fn execute(&mut self) -> Held {
        let instruction = if self.next == self.instructions {
            Instruction::Unknown
        } else {
            self.program[self.next]
        };
        if self.set(instruction) {
            self.next += 1;
            return Held::Sets;
        }
        match self.describe(instruction) {
            Ok((step, ends)) => {
                self.running = step.kind != Kind::End;
                self.advance(ends);
                Held::Step(step)
            }
            Err(Broken) => {
                self.running = false;
                Held::Step(Step {
                    index: self.next as u32,
                    ..Step::default()
                })
            }
        }
    }

    fn advance(&mut self, ends: usize) {
        match self.loops.end(ends) {
            Some((begin, level)) => {
                self.calculators.repeat(level);
                self.next = begin;
            }
            None => self.next += 1,
        }
    }

    /// Executes an instruction that changes settings; returns whether it is one, and is valid.
    fn set(&mut self, instruction: Instruction) -> bool {
        let (depth, upper) = (self.loops.depth(), self.upper);
        let whole = |own: Value| own.whole(upper);
        match instruction {
            Instruction::Base { calculator, own } => {
                self.calculators.set_base(calculator, depth, whole(own));
            }
            Instruction::Stride {
                calculator,
                level,
                own,
            } if level < self.levels => {
                self.calculators.set_stride(calculator, level, whole(own));
            }
            Instruction::Format {
                calculator,
                element_type,
                own,
            } => {
                let Some(element) = ISA.element(element_type) else {
                    return false;
                };
                self.calculators
                    .set_format(calculator, element, whole(own) as i32);
            }
            Instruction::Region { calculator, region } if region < ISA.regions => {
                self.calculators.set_region(calculator, region);
            }
            Instruction::Length { elements } if elements > 0 => self.length = elements,
            Instruction::Loop { iterations } if iterations > 0 => {
                if !self.loops.begin(iterations, self.next + 1) {
                    return false;
                }
                self.calculators.open(depth);
            }
            Instruction::Upper { .. } => {}
            _ => return false,
        }
        self.upper = match instruction {
            Instruction::Upper { value } => Some(value),
            _ => None,
        };
        true
    }

    /// The step of an instruction, and the number of loops that end with it.
    fn describe(&self, instruction: Instruction) -> Result<(Step, usize), Broken> {
        let depth = self.loops.depth();
        let of = |calculator| self.calculators.operand(calculator, depth);
        let mut step = Step {
            index: self.next as u32,
            length: self.length,
            ..Step::default()
        };
        let ends = match instruction {
            Instruction::Compute {
                function,
                operands,
                ends,
            } => {
                step.kind = Kind::Compute;
                step.function = function;
                step.operands = [of(operands.first), of(operands.second), of(operands.destination)];
                ends
            }
            Instruction::Load {
                place,
                memory,
                size,
                ends,
            } => {
                step.kind = Kind::Load;
                self.transfer(&mut step, [of(place), of(memory)], memory, size);
                ends
            }
            Instruction::Store {
                place,
                memory,
                size,
                ends,
            } => {
                step.kind = Kind::Store;
                self.transfer(&mut step, [of(place), of(memory)], memory, size);
                ends
            }
            Instruction::WaitLoads { count, ends } => {
                (step.kind, step.count) = (Kind::WaitLoads, count);
                ends
            }
            Instruction::WaitStores { count, ends } => {
                (step.kind, step.count) = (Kind::WaitStores, count);
                ends
            }
            Instruction::End { ends } => {
                step.kind = Kind::End;
                ends
            }
            _ => return Err(Broken),
        };
        if ends > depth {
            return Err(Broken);
        }
        Ok((step, ends))
    }

    fn transfer(&self, step: &mut Step, [place, memory]: [Operand; 2], of: usize, size: u32) {
        step.function = Compute::Move;
        step.operands = [place, memory, Operand::default()];
        step.size = size;
        step.region = self.calculators.region(of);
    }
}
