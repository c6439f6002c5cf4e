//! From instructions to operations that run.

use crate::code::Way;
use crate::handlers::{atomic, branch, divide, float, integer, memory, multiply, prefetch, vector};
use crate::operation::{Class, File, Operation};
use crate::state::{Handler, MicroOperation, SINK};
use crate::timing::BlockInstruction;

/// The operations of a block and its exits.
pub(crate) struct Lowered {
    pc: u64,
    pub(crate) operations: Vec<MicroOperation>,
    pub(crate) ways: Vec<Way>,
}

/// Makes the instructions of a block ready to run; with `RECORDS`, such that they note their values.
pub(crate) fn lower<const RECORDS: bool>(instructions: &[BlockInstruction]) -> Lowered {
    let mut lowered = Lowered {
        pc: instructions[0].pc,
        operations: Vec::with_capacity(instructions.len() + 1),
        ways: Vec::new(),
    };
    for (index, instruction) in instructions.iter().enumerate() {
        lowered.push::<RECORDS>(index, instruction);
    }
    let last = &instructions[instructions.len() - 1];
    if !leaves(last.instruction.class()) {
        let exit = lowered.exit(following(last), instructions.len(), false);
        lowered.operations.push(MicroOperation {
            handler: branch::end,
            exit,
            ..blank(instructions.len())
        });
    }
    lowered
}

/// Whether an instruction of this class always ends its block.
pub(crate) fn leaves(class: Class) -> bool {
    matches!(class, Class::Jump | Class::JumpRegister) || alone(class)
}

/// Whether an instruction of this class is a block of its own.
pub(crate) fn alone(class: Class) -> bool {
    matches!(
        class,
        Class::Control | Class::System | Class::Custom | Class::FenceInstruction
    )
}

/// Whether an instruction of this class starts a block, so that interactions of harts are ordered by their cycles: a
/// block is executed completely before the duration of its misses is known.
pub(crate) fn meets_others(class: Class) -> bool {
    class == Class::Atomic
}

fn following(instruction: &BlockInstruction) -> u64 {
    instruction.pc.wrapping_add(instruction.instruction.length.into())
}

fn blank(index: usize) -> MicroOperation {
    MicroOperation {
        handler: integer::nothing,
        immediate: 0,
        rd: SINK,
        rs1: 0,
        rs2: 0,
        rs3: 0,
        rounding: 0,
        index: index as u8,
        exit: 0,
    }
}

impl Lowered {
    fn exit(&mut self, pc: u64, executed: usize, taken: bool) -> u16 {
        self.ways.push(Way {
            distance: pc.wrapping_sub(self.pc) as i32,
            executed: executed as u8,
            taken,
        });
        (self.ways.len() - 1) as u16
    }

    fn push<const RECORDS: bool>(&mut self, index: usize, at: &BlockInstruction) {
        let instruction = &at.instruction;
        let to_integer = instruction.operation.destination_file() == File::Integer;
        let mut operation = MicroOperation {
            handler: handler::<RECORDS>(instruction.operation),
            immediate: instruction.immediate.into(),
            rd: if to_integer && instruction.rd == 0 {
                SINK
            } else {
                instruction.rd
            },
            rs1: instruction.rs1,
            rs2: instruction.rs2,
            rs3: instruction.rs3,
            rounding: instruction.rounding,
            ..blank(index)
        };
        let target = at.pc.wrapping_add(instruction.immediate as u64);
        match (instruction.operation, instruction.class()) {
            (_, Class::Branch) => operation.exit = self.exit(target, index + 1, true),
            (_, Class::Jump) => {
                operation.exit = self.exit(target, index + 1, true);
                operation.immediate = following(at) as i64;
            }
            (_, Class::JumpRegister) => {
                operation.exit = instruction.immediate as i16 as u16;
                operation.immediate = following(at) as i64;
            }
            (_, class) if class.is_vector() => operation.immediate = instruction.word.into(),
            (_, Class::Integer) if operation.rd == SINK => operation = blank(index),
            (Operation::Auipc, _) => operation.immediate = target as i64,
            (Operation::Addi, _) if instruction.rs1 == 0 => operation.handler = integer::constant,
            _ => {}
        }
        self.operations.push(operation);
    }
}

/// The handler of an operation.
fn handler<const R: bool>(operation: Operation) -> Handler {
    use Operation::*;
    match operation {
        Lui | Auipc => integer::constant,
        Addi => integer::addi,
        Slti => integer::slti,
        Sltiu => integer::sltiu,
        Xori => integer::xori,
        Ori => integer::ori,
        Andi => integer::andi,
        Slli => integer::slli,
        Srli => integer::srli,
        Srai => integer::srai,
        Addiw => integer::addiw,
        Slliw => integer::slliw,
        Srliw => integer::srliw,
        Sraiw => integer::sraiw,
        Add => integer::add,
        Sub => integer::sub,
        Sll => integer::sll,
        Slt => integer::slt,
        Sltu => integer::sltu,
        Xor => integer::xor,
        Srl => integer::srl,
        Sra => integer::sra,
        Or => integer::or,
        And => integer::and,
        Addw => integer::addw,
        Subw => integer::subw,
        Sllw => integer::sllw,
        Srlw => integer::srlw,
        Sraw => integer::sraw,
        Mul => multiply::mul::<R>,
        Mulh => multiply::mulh::<R>,
        Mulhsu => multiply::mulhsu::<R>,
        Mulhu => multiply::mulhu::<R>,
        Mulw => multiply::mulw::<R>,
        Div => divide::div::<R>,
        Divu => divide::divu::<R>,
        Rem => divide::rem::<R>,
        Remu => divide::remu::<R>,
        Divw => divide::divw::<R>,
        Divuw => divide::divuw::<R>,
        Remw => divide::remw::<R>,
        Remuw => divide::remuw::<R>,
        Beq => branch::beq,
        Bne => branch::bne,
        Blt => branch::blt,
        Bge => branch::bge,
        Bltu => branch::bltu,
        Bgeu => branch::bgeu,
        Jal => branch::jump,
        Jalr => branch::jump_register,
        // Pages of instructions are left to software, which has to execute fences for them.
        Fence | PrefetchI => integer::nothing,
        PrefetchR => prefetch::read,
        PrefetchW => prefetch::write,
        FenceI | Csrrw | Csrrs | Csrrc | Csrrwi | Csrrsi | Csrrci | SfenceVma | SinvalVma | SfenceWInval
        | SfenceInvalIr | Ecall | Ebreak | Mret | Sret | Wfi | Illegal | Custom => branch::system,
        Vsetvli => vector::vsetvli,
        Vsetivli => vector::vsetivli,
        Vsetvl => vector::vsetvl,
        VectorLoad | VectorLoadStrided => vector::load::<R>,
        VectorStore | VectorStoreStrided => vector::store::<R>,
        _ if operation.class() == Class::Vector => vector::other::<R>,
        _ if matches!(operation.class(), Class::Load | Class::Store) => memory_handler::<R>(operation),
        _ if operation.bytes() != 0 => atomic_handler::<R>(operation),
        _ => float_handler(operation),
    }
}

fn memory_handler<const R: bool>(operation: Operation) -> Handler {
    use Operation::*;
    match operation {
        Lb => memory::lb::<R>,
        Lbu => memory::lbu::<R>,
        Lh => memory::lh::<R>,
        Lhu => memory::lhu::<R>,
        Lw => memory::lw::<R>,
        Lwu => memory::lwu::<R>,
        Ld => memory::ld::<R>,
        Sb => memory::sb::<R>,
        Sh => memory::sh::<R>,
        Sw => memory::sw::<R>,
        Sd => memory::sd::<R>,
        Flw => memory::flw::<R>,
        Fld => memory::fld::<R>,
        Fsw => memory::fsw::<R>,
        Fsd => memory::fsd::<R>,
        _ => unreachable!("{operation:?} is no plain load or store"),
    }
}

fn atomic_handler<const R: bool>(operation: Operation) -> Handler {
    use Operation::*;
    match operation {
        LrW => atomic::lr_w::<R>,
        LrD => atomic::lr_d::<R>,
        ScW => atomic::sc_w::<R>,
        ScD => atomic::sc_d::<R>,
        AmoswapW => atomic::amoswap_w::<R>,
        AmoaddW => atomic::amoadd_w::<R>,
        AmoxorW => atomic::amoxor_w::<R>,
        AmoandW => atomic::amoand_w::<R>,
        AmoorW => atomic::amoor_w::<R>,
        AmominW => atomic::amomin_w::<R>,
        AmomaxW => atomic::amomax_w::<R>,
        AmominuW => atomic::amominu_w::<R>,
        AmomaxuW => atomic::amomaxu_w::<R>,
        AmoswapD => atomic::amoswap_d::<R>,
        AmoaddD => atomic::amoadd_d::<R>,
        AmoxorD => atomic::amoxor_d::<R>,
        AmoandD => atomic::amoand_d::<R>,
        AmoorD => atomic::amoor_d::<R>,
        AmominD => atomic::amomin_d::<R>,
        AmomaxD => atomic::amomax_d::<R>,
        AmominuD => atomic::amominu_d::<R>,
        AmomaxuD => atomic::amomaxu_d::<R>,
        _ => unreachable!("{operation:?} is not atomic"),
    }
}

fn float_handler(operation: Operation) -> Handler {
    use Operation::*;
    match operation {
        FaddS => float::fadd_s,
        FsubS => float::fsub_s,
        FaddD => float::fadd_d,
        FsubD => float::fsub_d,
        FmulS => float::fmul_s,
        FmulD => float::fmul_d,
        FmaddS => float::fmadd_s,
        FmsubS => float::fmsub_s,
        FnmsubS => float::fnmsub_s,
        FnmaddS => float::fnmadd_s,
        FmaddD => float::fmadd_d,
        FmsubD => float::fmsub_d,
        FnmsubD => float::fnmsub_d,
        FnmaddD => float::fnmadd_d,
        FdivS => float::fdiv_s,
        FdivD => float::fdiv_d,
        FsqrtS => float::fsqrt_s,
        FsqrtD => float::fsqrt_d,
        FcvtSD => float::fcvt_s_d,
        FcvtDS => float::fcvt_d_s,
        FcvtWS => float::fcvt_w_s,
        FcvtWuS => float::fcvt_wu_s,
        FcvtLS => float::fcvt_l_s,
        FcvtLuS => float::fcvt_lu_s,
        FcvtWD => float::fcvt_w_d,
        FcvtWuD => float::fcvt_wu_d,
        FcvtLD => float::fcvt_l_d,
        FcvtLuD => float::fcvt_lu_d,
        FcvtSW => float::fcvt_s_w,
        FcvtSWu => float::fcvt_s_wu,
        FcvtSL => float::fcvt_s_l,
        FcvtSLu => float::fcvt_s_lu,
        FcvtDW => float::fcvt_d_w,
        FcvtDWu => float::fcvt_d_wu,
        FcvtDL => float::fcvt_d_l,
        FcvtDLu => float::fcvt_d_lu,
        FeqS => float::feq_s,
        FltS => float::flt_s,
        FleS => float::fle_s,
        FeqD => float::feq_d,
        FltD => float::flt_d,
        FleD => float::fle_d,
        FclassS => float::fclass_s,
        FclassD => float::fclass_d,
        FminS => float::fmin_s,
        FmaxS => float::fmax_s,
        FminD => float::fmin_d,
        FmaxD => float::fmax_d,
        FsgnjS => float::fsgnj_s,
        FsgnjnS => float::fsgnjn_s,
        FsgnjxS => float::fsgnjx_s,
        FsgnjD => float::fsgnj_d,
        FsgnjnD => float::fsgnjn_d,
        FsgnjxD => float::fsgnjx_d,
        FmvXW => float::fmv_x_w,
        FmvXD => float::fmv_x_d,
        FmvWX => float::fmv_w_x,
        FmvDX => float::fmv_d_x,
        _ => unreachable!("{operation:?} is not floating-point"),
    }
}
