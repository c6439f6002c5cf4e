use serde::Deserialize;
use std::sync::LazyLock;

/// The encoding as the hardware reads it when it is elaborated.
pub const TABLE: &str = include_str!("../../../../../hardware/src/main/resources/rackwright/drx/isa.json");

/// Bits of an instruction.
#[derive(Debug, Clone, Deserialize)]
pub struct Field {
    /// The name of the bits; the two parts of every instruction have none.
    #[serde(default)]
    pub name: String,
    /// The lowest of them.
    pub low: u32,
    /// How many.
    pub bits: u32,
    /// Whether the highest is a sign.
    #[serde(default)]
    pub signed: bool,
}

impl Field {
    /// Its value in `word`, without sign.
    pub fn of(&self, word: u32) -> u32 {
        let kept = u64::from(word) >> self.low & ((1 << self.bits) - 1);
        kept as u32
    }

    /// Its value in `word`.
    pub fn signed_of(&self, word: u32) -> i32 {
        let unused = 32 - self.bits;
        let raised = (self.of(word) << unused) as i32;
        if self.signed {
            raised >> unused
        } else {
            self.of(word) as i32
        }
    }
}

/// A function of an operation.
#[derive(Debug, Clone, Deserialize)]
pub struct Function {
    /// Its name in assembly.
    pub name: String,
    /// Its number.
    pub code: u32,
    /// Operands that it reads in the scratchpad.
    #[serde(default)]
    pub sources: u32,
    /// Its fields, if they differ from those of the operation.
    #[serde(default)]
    pub fields: Vec<Field>,
}

/// A kind of instructions.
#[derive(Debug, Clone, Deserialize)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// Its number.
    pub code: u32,
    /// Fields of all its functions.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// Its functions.
    pub functions: Vec<Function>,
}

/// A type of elements.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ElementType {
    /// Its name in assembly.
    pub name: String,
    /// Its number.
    pub code: u32,
    /// What its elements are.
    #[serde(flatten)]
    pub element: Element,
}

/// Elements of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct Element {
    /// Bytes of an element; 0 for the one that is no memory, but the value of a calculator.
    pub bytes: u32,
    /// Whether numbers are below 0, too.
    pub signed: bool,
    /// Whether they are in binary32, or its upper bytes.
    #[serde(default)]
    pub float: bool,
}

/// The whole encoding.
#[derive(Debug, Clone, Deserialize)]
pub struct Isa {
    /// The position of the operation's number.
    pub operation: Field,
    /// The position of the function's number.
    pub function: Field,
    /// Address calculators.
    pub calculators: usize,
    /// Number of memory ranges passed to a program.
    pub regions: u32,
    /// Elements from one to the next of operands that are read at once, as far as a line has them.
    pub strides: Vec<u32>,
    /// The most bytes from one element to the next of such operands.
    pub stride_bytes: i32,
    /// All operations.
    pub operations: Vec<Operation>,
    /// All types.
    pub types: Vec<ElementType>,
}

impl Isa {
    /// Operation and function of `word`, if there are such.
    pub fn meaning(&self, word: u32) -> Option<(&Operation, &Function)> {
        let code = self.operation.of(word);
        let operation = self.operations.iter().find(|each| each.code == code)?;
        let code = self.function.of(word);
        let function = operation.functions.iter().find(|each| each.code == code)?;
        Some((operation, function))
    }

    /// The elements of the type with that number, if there is one.
    pub fn element(&self, code: u32) -> Option<Element> {
        let found = self.types.iter().find(|each| each.code == code);
        found.map(|each| each.element)
    }
}

/// The encoding.
pub static ISA: LazyLock<Isa> =
    LazyLock::new(|| serde_json::from_str(TABLE).expect("the table of the hardware is JSON"));
