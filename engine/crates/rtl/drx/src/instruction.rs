use crate::isa::{Field, Function, Operation, ISA};

/// The operation of a compute instruction on two numbers of 32 bits.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compute {
    Move,
    Add,
    Subtract,
    Multiply,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Saturate,
    Less,
    Equal,
    Select,
    MultiplyAdd,
}

impl Compute {
    fn named(name: &str) -> Option<Compute> {
        Some(match name {
            "move" => Compute::Move,
            "add" => Compute::Add,
            "subtract" => Compute::Subtract,
            "multiply" => Compute::Multiply,
            "minimum" => Compute::Minimum,
            "maximum" => Compute::Maximum,
            "and" => Compute::And,
            "or" => Compute::Or,
            "xor" => Compute::Xor,
            "shift_left" => Compute::ShiftLeft,
            "shift_right" => Compute::ShiftRight,
            "saturate" => Compute::Saturate,
            "less" => Compute::Less,
            "equal" => Compute::Equal,
            "select" => Compute::Select,
            "multiply_add" => Compute::MultiplyAdd,
            _ => return None,
        })
    }

    /// Whether it reads a second operand.
    pub fn is_binary(self) -> bool {
        !matches!(self, Compute::Move | Compute::Saturate)
    }

    /// Whether it reads its destination as well.
    pub fn is_ternary(self) -> bool {
        self == Compute::MultiplyAdd
    }
}

/// The operands of a compute instruction: numbers of calculators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operands {
    /// Where results go.
    pub destination: usize,
    /// The first operand.
    pub first: usize,
    /// The second, of functions that have one.
    pub second: usize,
}

/// An instruction. Values are those in the word; calculators, levels, regions and types are given by their numbers.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    Upper {
        value: u32,
    },
    Base {
        calculator: usize,
        own: Value,
    },
    Stride {
        calculator: usize,
        level: usize,
        own: Value,
    },
    Format {
        calculator: usize,
        element_type: u32,
        own: Value,
    },
    Region {
        calculator: usize,
        region: u32,
    },
    Length {
        elements: u32,
    },
    Loop {
        iterations: u32,
    },
    Compute {
        function: Compute,
        operands: Operands,
        ends: usize,
    },
    Load {
        place: usize,
        memory: usize,
        size: u32,
        ends: usize,
    },
    Store {
        place: usize,
        memory: usize,
        size: u32,
        ends: usize,
    },
    WaitLoads {
        count: u32,
        ends: usize,
    },
    WaitStores {
        count: u32,
        ends: usize,
    },
    End {
        ends: usize,
    },
    Unknown,
}

/// The bits of a value that are in the word, which `upper` can add to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value {
    /// The bits with their sign.
    pub number: i32,
    /// Their number.
    pub bits: u32,
}

impl Value {
    /// The complete value: with the bits of `upper` above, if present, or with its own sign.
    pub fn whole(self, upper: Option<u32>) -> u32 {
        let own = self.number as u32;
        upper.map_or(own, |upper| upper << self.bits | (own & ((1 << self.bits) - 1)))
    }
}

struct Word<'a> {
    bits: u32,
    operation: &'a Operation,
    function: &'a Function,
}

impl Word<'_> {
    fn field(&self, name: &str) -> &Field {
        let mut fields = self.function.fields.iter().chain(&self.operation.fields);
        let found = fields.find(|field| field.name == name);
        found.unwrap_or_else(|| panic!("{} has no field {name}", self.function.name))
    }

    fn get(&self, name: &str) -> u32 {
        self.field(name).of(self.bits)
    }

    fn number(&self, name: &str) -> usize {
        self.get(name) as usize
    }

    fn value(&self) -> Value {
        let field = self.field("value");
        Value {
            number: field.signed_of(self.bits),
            bits: field.bits,
        }
    }
}

impl Instruction {
    /// What `word` says.
    pub fn decode(bits: u32) -> Instruction {
        let Some((operation, function)) = ISA.meaning(bits) else {
            return Instruction::Unknown;
        };
        let word = Word {
            bits,
            operation,
            function,
        };
        match operation.name.as_str() {
            "loop" => setting(&word),
            "compute" => compute(&word),
            "memory" => transfer(&word),
            _ => synchronisation(&word),
        }
    }
}

fn setting(word: &Word) -> Instruction {
    match word.function.name.as_str() {
        "upper" => Instruction::Upper {
            value: word.get("value"),
        },
        "base" => Instruction::Base {
            calculator: word.number("calculator"),
            own: word.value(),
        },
        "stride" => Instruction::Stride {
            calculator: word.number("calculator"),
            level: word.number("level"),
            own: word.value(),
        },
        "format" => Instruction::Format {
            calculator: word.number("calculator"),
            element_type: word.get("type"),
            own: word.value(),
        },
        "region" => Instruction::Region {
            calculator: word.number("calculator"),
            region: word.get("region"),
        },
        "length" => Instruction::Length {
            elements: word.get("value"),
        },
        "loop" => Instruction::Loop {
            iterations: word.get("value"),
        },
        _ => Instruction::Unknown,
    }
}

fn compute(word: &Word) -> Instruction {
    let Some(function) = Compute::named(&word.function.name) else {
        return Instruction::Unknown;
    };
    Instruction::Compute {
        function,
        operands: Operands {
            destination: word.number("destination"),
            first: word.number("first"),
            second: word.number("second"),
        },
        ends: word.number("ends"),
    }
}

fn transfer(word: &Word) -> Instruction {
    let (place, memory) = (word.number("scratchpad"), word.number("memory"));
    let (size, ends) = (word.get("size"), word.number("ends"));
    match word.function.name.as_str() {
        "load" => Instruction::Load {
            place,
            memory,
            size,
            ends,
        },
        "store" => Instruction::Store {
            place,
            memory,
            size,
            ends,
        },
        _ => Instruction::Unknown,
    }
}

fn synchronisation(word: &Word) -> Instruction {
    let (count, ends) = (word.get("count"), word.number("ends"));
    match word.function.name.as_str() {
        "end" => Instruction::End { ends },
        "wait_loads" => Instruction::WaitLoads { count, ends },
        "wait_stores" => Instruction::WaitStores { count, ends },
        _ => Instruction::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_table_is_known() {
        for operation in &ISA.operations {
            for function in &operation.functions {
                let word = operation.code << ISA.operation.low | function.code << ISA.function.low;
                assert_ne!(
                    Instruction::decode(word),
                    Instruction::Unknown,
                    "{}",
                    function.name
                );
                if let Instruction::Compute { function: known, .. } = Instruction::decode(word) {
                    assert_eq!(known.is_binary(), function.sources >= 2);
                    assert_eq!(known.is_ternary(), function.sources == 3);
                }
            }
        }
    }

    #[test]
    fn fields_do_not_overlap() {
        for operation in &ISA.operations {
            for function in &operation.functions {
                let fields = function.fields.iter().chain(&operation.fields);
                let heads = [&ISA.operation, &ISA.function];
                let mut taken = 0u64;
                for field in fields.chain(heads) {
                    let bits = ((1u64 << field.bits) - 1) << field.low;
                    assert_eq!(taken & bits, 0, "{} {}", function.name, field.name);
                    taken |= bits;
                }
                assert!(taken <= u64::from(u32::MAX));
            }
        }
    }

    #[test]
    fn an_upper_value_is_above_the_own_bits() {
        let own = Value { number: -1, bits: 22 };
        assert_eq!(own.whole(None), u32::MAX);
        assert_eq!(own.whole(Some(1)), (1 << 22) | 0x3f_ffff);
    }
}
