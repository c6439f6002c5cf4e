//! Instructions of BPF, as the kernel reads them (its documentation, "BPF Instruction Set Architecture").

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Register(pub(crate) u8);

/// The result of a function.
pub(crate) const R0: Register = Register(0);
/// The first argument; the context when the program begins.
pub(crate) const R1: Register = Register(1);
/// The second argument.
pub(crate) const R2: Register = Register(2);
/// The third argument.
pub(crate) const R3: Register = Register(3);
/// Free for a value.
pub(crate) const R4: Register = Register(4);
/// Free for a value.
pub(crate) const R5: Register = Register(5);
/// Preserved by called functions.
pub(crate) const R6: Register = Register(6);
/// The end of the stack.
pub(crate) const R10: Register = Register(10);

/// The width of a memory access: the bits of the opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    Byte = 0x10,
    Half = 0x08,
    Word = 0x00,
}

/// The condition of a jump: the bits of the opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    Equal = 0x10,
    Greater = 0x20,
    AnyBit = 0x40,
    NotEqual = 0x50,
    LessOrEqual = 0xb0,
}

/// One instruction.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Instruction {
    opcode: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

impl Instruction {
    const fn new(opcode: u8, to: Register, from: Register, offset: i16, immediate: i32) -> Instruction {
        Instruction {
            opcode,
            registers: from.0 << 4 | to.0,
            offset,
            immediate,
        }
    }
}

/// The target of jumps that are created before its position is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(usize);

/// A program while it is written.
#[derive(Default)]
pub(crate) struct Assembler {
    instructions: Vec<Instruction>,
    /// Jumps, and the labels they lead to.
    jumps: Vec<(usize, Label)>,
    /// The positions of labels, once they are known.
    places: Vec<Option<usize>>,
}

impl Assembler {
    fn push(&mut self, opcode: u8, to: Register, from: Register, offset: i16, immediate: i32) {
        self.instructions
            .push(Instruction::new(opcode, to, from, offset, immediate));
    }

    /// A place that is not known yet.
    pub(crate) fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }

    /// Places this label at the next instruction.
    pub(crate) fn place(&mut self, label: Label) {
        self.places[label.0] = Some(self.instructions.len());
    }

    /// `to = *(from + offset)`, with zeros above.
    pub(crate) fn load(&mut self, width: Width, to: Register, from: Register, offset: i16) {
        self.push(0x61 | width as u8, to, from, offset, 0);
    }

    /// `*(to + offset) = from`.
    pub(crate) fn store(&mut self, width: Width, to: Register, offset: i16, from: Register) {
        self.push(0x63 | width as u8, to, from, offset, 0);
    }

    /// `to = from`, of 64 bits.
    pub(crate) fn copy(&mut self, to: Register, from: Register) {
        self.push(0xbf, to, from, 0, 0);
    }

    /// `to = value`.
    pub(crate) fn set(&mut self, to: Register, value: i32) {
        self.push(0xb7, to, R0, 0, value);
    }

    /// `to += value`, of 64 bits.
    pub(crate) fn add_value(&mut self, to: Register, value: i32) {
        self.push(0x07, to, R0, 0, value);
    }

    /// `to += from`, of 64 bits.
    pub(crate) fn add(&mut self, to: Register, from: Register) {
        self.push(0x0f, to, from, 0, 0);
    }

    /// `to &= value`, of 64 bits.
    pub(crate) fn and_value(&mut self, to: Register, value: i32) {
        self.push(0x57, to, R0, 0, value);
    }

    /// `to >>= bits`, of 64 bits.
    pub(crate) fn shift_right(&mut self, to: Register, bits: i32) {
        self.push(0x77, to, R0, 0, bits);
    }

    /// `to` is a map, by its descriptor.
    pub(crate) fn set_map(&mut self, to: Register, descriptor: i32) {
        // The value has 64 bits, in two instructions; 1 instead of a register marks a map.
        self.push(0x18, to, Register(1), 0, descriptor);
        self.instructions.push(Instruction::default());
    }

    /// Jumps when the low 32 bits of `left` compare so with `right`.
    pub(crate) fn jump_if_value(&mut self, left: Register, when: When, right: u32, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push(0x06 | when as u8, left, R0, 0, right as i32);
    }

    /// Jumps when `left`, of 64 bits, compares so with `right`.
    pub(crate) fn jump_if_value_64(&mut self, left: Register, when: When, right: i32, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push(0x05 | when as u8, left, R0, 0, right);
    }

    /// Jumps when `left`, of 64 bits, compares so with `right`.
    pub(crate) fn jump_if(&mut self, left: Register, when: When, right: Register, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push(0x0d | when as u8, left, right, 0, 0);
    }

    /// Calls a function of the kernel.
    pub(crate) fn call(&mut self, function: i32) {
        self.push(0x85, R0, R0, 0, function);
    }

    /// The end.
    pub(crate) fn exit(&mut self) {
        self.push(0x95, R0, R0, 0, 0);
    }

    /// The instructions, with resolved jumps.
    pub(crate) fn finish(mut self) -> Vec<Instruction> {
        for (at, label) in self.jumps {
            let place = self.places[label.0].expect("labels are placed");
            let distance = place as isize - at as isize - 1;
            self.instructions[at].offset = distance.try_into().expect("programs are short");
        }
        self.instructions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_as_the_kernel_reads_them() {
        let mut code = Assembler::default();
        let end = code.label();
        code.load(Width::Half, R4, R2, 12);
        code.jump_if_value(R4, When::NotEqual, 8, end);
        code.store(Width::Word, R10, -8, R4);
        code.set_map(R1, 7);
        code.place(end);
        code.set(R0, 2);
        code.exit();
        let bytes = |instruction: &Instruction| {
            let [a, b] = instruction.offset.to_le_bytes();
            let [c, d, e, f] = instruction.immediate.to_le_bytes();
            [instruction.opcode, instruction.registers, a, b, c, d, e, f]
        };
        let code: Vec<_> = code.finish().iter().map(bytes).collect();
        assert_eq!(
            code,
            [
                [0x69, 0x24, 12, 0, 0, 0, 0, 0],
                [0x56, 0x04, 3, 0, 8, 0, 0, 0],
                [0x63, 0x4a, 0xf8, 0xff, 0, 0, 0, 0],
                [0x18, 0x11, 0, 0, 7, 0, 0, 0],
                [0; 8],
                [0xb7, 0x00, 0, 0, 2, 0, 0, 0],
                [0x95, 0x00, 0, 0, 0, 0, 0, 0],
            ]
        );
    }
}
