//! The instructions of RV64GC with machine and supervisor mode, by name and by kind. Those of the vector extension are
//! distinguished only by the registers that they share with others; the rest is in [`crate::vector`].

/// The class of an instruction for a pipeline: the granularity at which timing models distinguish instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Integer addition, logic, comparison, shift, and constants.
    Integer,
    /// Integer multiplication.
    Multiply,
    /// Integer division and remainder.
    Divide,
    /// A load into an integer or floating-point register.
    Load,
    /// A store.
    Store,
    /// A load that makes a reservation.
    LoadReserved,
    /// A store that needs a reservation.
    StoreConditional,
    /// An atomic read-modify-write.
    Atomic,
    /// A conditional branch.
    Branch,
    /// A jump to an address in the instruction itself.
    Jump,
    /// A jump to an address in a register.
    JumpRegister,
    /// Floating-point addition and subtraction.
    FloatAdd,
    /// Floating-point multiplication.
    FloatMultiply,
    /// Fused multiply-add.
    FloatFused,
    /// Floating-point division.
    FloatDivide,
    /// Square root.
    FloatRoot,
    /// Conversion between formats, or between floating point and integer.
    FloatConvert,
    /// Comparison, classification, minimum and maximum.
    FloatCompare,
    /// Sign injection and moves between the register files.
    FloatMove,
    /// A memory fence.
    Fence,
    /// The instruction-stream fence.
    FenceInstruction,
    /// A read or write of a control register.
    Control,
    /// Environment call, breakpoint, trap return, wait, address-translation fence, or illegal.
    System,
    /// A custom instruction for an accelerator.
    Custom,
    /// Setting the type and the length of vectors.
    VectorConfigure,
    /// A load into vector registers.
    VectorLoad,
    /// A store from vector registers.
    VectorStore,
    /// Any other vector instruction.
    Vector,
}

impl Class {
    /// Whether it belongs to the vector extension.
    pub const fn is_vector(self) -> bool {
        use Class::{Vector, VectorConfigure, VectorLoad, VectorStore};
        matches!(self, VectorConfigure | VectorLoad | VectorStore | Vector)
    }
}

/// The register file of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum File {
    None,
    Integer,
    Float,
}

macro_rules! operations {
    ($($class:ident $destination:ident ($($source:ident)*) [$bytes:literal]: $($name:ident)*;)*) => {
        /// An instruction by name. Compressed instructions have the names of their full ones.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[allow(missing_docs)] // the names are those of the manual
        #[repr(u8)]
        pub enum Operation { $($($name,)*)* }

        impl Operation {
            /// Every operation, in the order of declaration.
            pub const ALL: &'static [Operation] = &[$($(Operation::$name,)*)*];

            /// The class of this instruction.
            pub const fn class(self) -> Class {
                match self { $($(Operation::$name)|* => Class::$class,)* }
            }

            /// Bytes that the instruction moves from or to memory; zero for most.
            pub const fn bytes(self) -> u8 {
                match self { $($(Operation::$name)|* => $bytes,)* }
            }

            pub(crate) const fn destination_file(self) -> File {
                match self { $($(Operation::$name)|* => File::$destination,)* }
            }

            pub(crate) const fn source_files(self) -> [File; 3] {
                match self { $($(Operation::$name)|* => files(&[$(File::$source),*]),)* }
            }
        }
    };
}

const fn files(given: &[File]) -> [File; 3] {
    let mut all = [File::None; 3];
    let mut index = 0;
    while index < given.len() {
        all[index] = given[index];
        index += 1;
    }
    all
}

operations! {
    Integer Integer () [0]: Lui Auipc;
    Integer Integer (Integer) [0]:
        Addi Slti Sltiu Xori Ori Andi Slli Srli Srai Addiw Slliw Srliw Sraiw;
    Integer None (Integer) [0]: PrefetchI PrefetchR PrefetchW;
    Integer Integer (Integer Integer) [0]:
        Add Sub Sll Slt Sltu Xor Srl Sra Or And Addw Subw Sllw Srlw Sraw;
    Multiply Integer (Integer Integer) [0]: Mul Mulh Mulhsu Mulhu Mulw;
    Divide Integer (Integer Integer) [0]: Div Divu Rem Remu Divw Divuw Remw Remuw;
    Load Integer (Integer) [1]: Lb Lbu;
    Load Integer (Integer) [2]: Lh Lhu;
    Load Integer (Integer) [4]: Lw Lwu;
    Load Integer (Integer) [8]: Ld;
    Load Float (Integer) [4]: Flw;
    Load Float (Integer) [8]: Fld;
    Store None (Integer Integer) [1]: Sb;
    Store None (Integer Integer) [2]: Sh;
    Store None (Integer Integer) [4]: Sw;
    Store None (Integer Integer) [8]: Sd;
    Store None (Integer Float) [4]: Fsw;
    Store None (Integer Float) [8]: Fsd;
    LoadReserved Integer (Integer) [4]: LrW;
    LoadReserved Integer (Integer) [8]: LrD;
    StoreConditional Integer (Integer Integer) [4]: ScW;
    StoreConditional Integer (Integer Integer) [8]: ScD;
    Atomic Integer (Integer Integer) [4]:
        AmoswapW AmoaddW AmoxorW AmoandW AmoorW AmominW AmomaxW AmominuW AmomaxuW;
    Atomic Integer (Integer Integer) [8]:
        AmoswapD AmoaddD AmoxorD AmoandD AmoorD AmominD AmomaxD AmominuD AmomaxuD;
    Branch None (Integer Integer) [0]: Beq Bne Blt Bge Bltu Bgeu;
    Jump Integer () [0]: Jal;
    JumpRegister Integer (Integer) [0]: Jalr;
    FloatAdd Float (Float Float) [0]: FaddS FsubS FaddD FsubD;
    FloatMultiply Float (Float Float) [0]: FmulS FmulD;
    FloatFused Float (Float Float Float) [0]:
        FmaddS FmsubS FnmsubS FnmaddS FmaddD FmsubD FnmsubD FnmaddD;
    FloatDivide Float (Float Float) [0]: FdivS FdivD;
    FloatRoot Float (Float) [0]: FsqrtS FsqrtD;
    FloatConvert Float (Float) [0]: FcvtSD FcvtDS;
    FloatConvert Integer (Float) [0]:
        FcvtWS FcvtWuS FcvtLS FcvtLuS FcvtWD FcvtWuD FcvtLD FcvtLuD;
    FloatConvert Float (Integer) [0]:
        FcvtSW FcvtSWu FcvtSL FcvtSLu FcvtDW FcvtDWu FcvtDL FcvtDLu;
    FloatCompare Integer (Float Float) [0]: FeqS FltS FleS FeqD FltD FleD;
    FloatCompare Integer (Float) [0]: FclassS FclassD;
    FloatCompare Float (Float Float) [0]: FminS FmaxS FminD FmaxD;
    FloatMove Float (Float Float) [0]: FsgnjS FsgnjnS FsgnjxS FsgnjD FsgnjnD FsgnjxD;
    FloatMove Integer (Float) [0]: FmvXW FmvXD;
    FloatMove Float (Integer) [0]: FmvWX FmvDX;
    Fence None () [0]: Fence;
    FenceInstruction None () [0]: FenceI;
    Control Integer (Integer) [0]: Csrrw Csrrs Csrrc;
    Control Integer () [0]: Csrrwi Csrrsi Csrrci;
    System None (Integer Integer) [0]: SfenceVma SinvalVma;
    System None () [0]: Ecall Ebreak Mret Sret Wfi SfenceWInval SfenceInvalIr Illegal;
    Custom Integer (Integer Integer) [0]: Custom;
    VectorConfigure Integer (Integer) [0]: Vsetvli;
    VectorConfigure Integer () [0]: Vsetivli;
    VectorConfigure Integer (Integer Integer) [0]: Vsetvl;
    VectorLoad None (Integer) [0]: VectorLoad;
    VectorLoad None (Integer Integer) [0]: VectorLoadStrided;
    VectorStore None (Integer) [0]: VectorStore;
    VectorStore None (Integer Integer) [0]: VectorStoreStrided;
    Vector None () [0]: Vector VectorFloat;
    Vector None (Integer) [0]: VectorScalar;
    Vector None (Float) [0]: VectorFloatScalar;
    Vector Integer () [0]: VectorToInteger;
    Vector Float () [0]: VectorToFloat;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_known_for_every_operation() {
        assert_eq!(Operation::FmaddD.source_files(), [File::Float; 3]);
        assert_eq!(Operation::Fsd.source_files()[1], File::Float);
        assert_eq!(Operation::Sd.destination_file(), File::None);
        assert_eq!(Operation::AmomaxuD.bytes(), 8);
        assert!(Operation::ALL.len() > 150);
    }
}
