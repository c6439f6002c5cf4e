//! Random user-mode programs of RV64GC instructions that end by writing out all they have computed.

use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// Instructions by the shape of their operands. `x8` points to data, and `x9` is for addresses.
const REGISTERS: &str =
    "add sub sll slt sltu xor srl sra or and addw subw sllw srlw sraw mul mulh mulhsu mulhu \
    mulw div divu rem remu divw divuw remw remuw";
const IMMEDIATES: &str = "addi slti sltiu xori ori andi addiw";
const SHIFTS: &str = "slli srli srai";
const WORD_SHIFTS: &str = "slliw srliw sraiw";
const LOADS: &str = "lb lbu lh lhu lw lwu ld";
const STORES: &str = "sb sh sw sd";
/// Of an extension that the assembler is told of where they are.
const PREFETCHES: &str = "prefetch.i prefetch.r prefetch.w";
const FLOAT_LOADS: &str = "flw fld";
const FLOAT_STORES: &str = "fsw fsd";
const ATOMICS: &str = "amoswap amoadd amoxor amoand amoor amomin amomax amominu amomaxu";
const BRANCHES: &str = "beq bne blt bge bltu bgeu";
const FLOAT_ROUNDED: &str = "fadd fsub fmul fdiv";
const FLOAT_FUSED: &str = "fmadd fmsub fnmsub fnmadd";
const FLOAT_PLAIN: &str = "fsgnj fsgnjn fsgnjx fmin fmax";
const FLOAT_COMPARE: &str = "feq flt fle";
const INTEGERS: &str = "w wu l lu";
const ROUNDINGS: [&str; 6] = ["rne", "rtz", "rdn", "rup", "rmm", "dyn"];
const OTHERS: &str =
    "lui auipc jal jalr lr sc fsqrt fclass fcvt.s.d fcvt.d.s fcvt.from fcvt.to fmv.x.w fmv.x.d \
    fmv.w.x fmv.d.x csrrw csrrs csrrc csrrwi csrrsi csrrci fence fence.i";
/// Compressed instructions; those on the stack pointer work on `x2`, which points to data too.
const COMPRESSED: &str = "c.addi4spn c.fld c.lw c.ld c.fsd c.sw c.sd c.nop c.addi c.addiw c.li c.addi16sp c.lui \
    c.srli c.srai c.andi c.sub c.xor c.or c.and c.subw c.addw c.j c.beqz c.bnez c.slli c.fldsp c.lwsp c.ldsp c.jr \
    c.mv c.jalr c.add c.fsdsp c.swsp c.sdsp";

/// Bytes of data that programs work on, and write out at their end.
pub const DATA_BYTES: usize = 2048;

/// The names of all instructions that programs are made of.
pub fn names() -> Vec<&'static str> {
    [
        REGISTERS,
        IMMEDIATES,
        SHIFTS,
        WORD_SHIFTS,
        LOADS,
        STORES,
        PREFETCHES,
        FLOAT_LOADS,
        FLOAT_STORES,
        ATOMICS,
        BRANCHES,
        FLOAT_ROUNDED,
        FLOAT_FUSED,
        FLOAT_PLAIN,
        FLOAT_COMPARE,
        OTHERS,
        COMPRESSED,
    ]
    .into_iter()
    .flat_map(str::split_whitespace)
    .collect()
}

/// A writer of programs.
pub struct Generator {
    random: ChaCha8Rng,
    text: String,
    /// Width of the latest reservation.
    reserved: &'static str,
}

/// Numbers that are special in some format, or as integers.
const SPECIAL: [u64; 24] = [
    0,
    1,
    u64::MAX,
    i64::MIN as u64,
    i64::MAX as u64,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff_8000_0000,
    0x3ff0_0000_0000_0000,
    0xbff8_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x0010_0000_0000_0000,
    0x000f_ffff_ffff_ffff,
    0x7fef_ffff_ffff_ffff,
    0xffff_ffff_3f80_0000,
    0xffff_ffff_ff80_0000,
    0xffff_ffff_7fc0_0000,
    0xffff_ffff_7f80_0001,
    0xffff_ffff_0080_0000,
    0xffff_ffff_807f_ffff,
    0xffff_ffff_7f7f_ffff,
];

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator {
            random: ChaCha8Rng::seed_from_u64(seed),
            text: String::new(),
            reserved: "w",
        }
    }

    /// A program with every instruction of [`names`], `rounds` times, and `count` more chosen at random.
    pub fn program(mut self, rounds: usize, count: usize) -> String {
        self.start();
        for _ in 0..rounds {
            for name in names() {
                self.instruction(name);
            }
        }
        for _ in 0..count {
            let all = names();
            let name = all[self.below(all.len())];
            self.instruction(name);
        }
        self.end();
        self.text
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound as u64) as usize
    }

    pub fn pick(&mut self, words: &'static str) -> &'static str {
        let words: Vec<_> = words.split_whitespace().collect();
        words[self.below(words.len())]
    }

    pub fn line(&mut self, line: impl AsRef<str>) {
        writeln!(self.text, "    {}", line.as_ref()).unwrap();
    }

    /// A value: special, near one as a double or single, small, or any.
    fn value(&mut self) -> u64 {
        let any = self.random.next_u64();
        match self.below(6) {
            0 | 1 => SPECIAL[self.below(SPECIAL.len())],
            2 => any & 0x801f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000,
            3 => any & 0x80ff_ffff | 0xffff_ffff_3f00_0000,
            4 => any >> self.below(64),
            _ => any,
        }
    }

    pub fn start(&mut self) {
        // The linker may use `x3` for addresses only in programs that set it.
        self.text.push_str(".option norelax\n.globl _start\n_start:\n");
        self.line("lla x8, data");
        self.line("lla x2, data");
        for register in (1..32).filter(|register| ![2, 8].contains(register)) {
            let value = self.value();
            self.line(format!("li x{register}, {value:#x}"));
        }
        for register in 0..32 {
            self.line(format!("fld f{register}, {}(x8)", register * 8));
        }
    }

    fn end(&mut self) {
        self.end_with("", 0);
    }

    /// All that was written so far.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Ends the program: `more`, bytes behind its data, is written out too.
    pub fn end_with(&mut self, more: &str, bytes: usize) {
        self.line("lla x8, results");
        for register in (1..32).filter(|register| ![2, 8, 9].contains(register)) {
            self.line(format!("sd x{register}, {}(x8)", register * 8));
        }
        for register in 0..32 {
            self.line(format!("fsd f{register}, {}(x8)", 256 + register * 8));
        }
        let total = 520 + DATA_BYTES + bytes;
        for line in [
            "csrr x9, fcsr",
            "sd x9, 512(x8)",
            "li a0, 1",
            "mv a1, x8",
            &format!("li a2, {total}"),
            "li a7, 64",
            "ecall",
            "li a0, 0",
            "li a7, 93",
            "ecall",
        ] {
            self.line(line);
        }
        self.text
            .push_str(".data\n.balign 64\nresults: .zero 520\ndata:\n");
        for _ in 0..DATA_BYTES / 8 {
            let value = self.value();
            self.line(format!(".dword {value:#x}"));
        }
        self.text.push_str(more);
    }

    /// An integer register to write: neither a pointer nor for addresses.
    fn rd(&mut self) -> usize {
        loop {
            let register = self.below(32);
            if ![2, 8, 9].contains(&register) {
                return register;
            }
        }
    }

    /// Any register.
    fn r(&mut self) -> usize {
        self.below(32)
    }

    /// A register that compressed instructions may write: 10 to 15.
    fn compact(&mut self) -> usize {
        10 + self.below(6)
    }

    /// A register that is neither zero, nor a pointer, nor for addresses.
    fn nonzero(&mut self) -> usize {
        10 + self.below(22)
    }

    fn precision(&mut self) -> &'static str {
        self.pick("s d")
    }

    fn rounding(&mut self) -> &'static str {
        ROUNDINGS[self.below(ROUNDINGS.len())]
    }

    fn signed(&mut self, bits: u32) -> i64 {
        let half = 1i64 << (bits - 1);
        self.below(2 << (bits - 1)) as i64 - half
    }

    fn instruction(&mut self, name: &'static str) {
        let has = |group: &str| group.split_whitespace().any(|word| word == name);
        let (rd, a, b) = (self.rd(), self.r(), self.r());
        let (fd, fa, fb, fc) = (self.r(), self.r(), self.r(), self.r());
        let (precision, mode) = (self.precision(), self.rounding());
        if has(COMPRESSED) {
            self.compressed(name);
        } else if has(REGISTERS) {
            self.line(format!("{name} x{rd}, x{a}, x{b}"));
        } else if has(IMMEDIATES) {
            let value = self.signed(12);
            self.line(format!("{name} x{rd}, x{a}, {value}"));
        } else if has(SHIFTS) || has(WORD_SHIFTS) {
            let amount = self.below(if has(SHIFTS) { 64 } else { 32 });
            self.line(format!("{name} x{rd}, x{a}, {amount}"));
        } else if has(LOADS) || has(STORES) {
            // Mostly aligned, sometimes not.
            let offset = self.below(DATA_BYTES / 8 - 1) * 8 + [0, 0, 0, 3][self.below(4)];
            let register = if has(LOADS) { rd } else { a };
            self.line(format!("{name} x{register}, {offset}(x8)"));
        } else if has(PREFETCHES) {
            // From anywhere, as they never fault.
            let offset = self.signed(7) * 32;
            self.line(".option push\n    .option arch, +zicbop");
            self.line(format!("{name} {offset}(x{a})\n    .option pop"));
        } else if has(FLOAT_LOADS) || has(FLOAT_STORES) {
            let offset = self.below(DATA_BYTES / 8) * 8;
            self.line(format!("{name} f{fd}, {offset}(x8)"));
        } else if has(ATOMICS) {
            self.atomic_address();
            let suffix = self.pick(".w .d .w.aq .d.rl .w.aqrl");
            self.line(format!("{name}{suffix} x{rd}, x{b}, (x9)"));
        } else if has(BRANCHES) {
            self.line(format!("{name} x{a}, x{b}, 1f"));
            self.filler();
            self.text.push_str("1:\n");
        } else if has(FLOAT_ROUNDED) {
            self.line(format!("{name}.{precision} f{fd}, f{fa}, f{fb}, {mode}"));
        } else if has(FLOAT_FUSED) {
            self.line(format!("{name}.{precision} f{fd}, f{fa}, f{fb}, f{fc}, {mode}"));
        } else if has(FLOAT_PLAIN) {
            self.line(format!("{name}.{precision} f{fd}, f{fa}, f{fb}"));
        } else if has(FLOAT_COMPARE) {
            self.line(format!("{name}.{precision} x{rd}, f{fa}, f{fb}"));
        } else {
            self.other(name);
        }
    }

    fn atomic_address(&mut self) {
        let offset = self.below(DATA_BYTES / 8) * 8;
        self.line(format!("addi x9, x8, {offset}"));
    }

    fn filler(&mut self) {
        let (rd, a) = (self.rd(), self.r());
        let value = self.signed(6);
        self.line(format!("addi x{rd}, x{a}, {value}"));
    }

    fn other(&mut self, name: &str) {
        let (rd, a, fd, fa) = (self.rd(), self.r(), self.r(), self.r());
        let (precision, mode, integer) = (self.precision(), self.rounding(), self.pick(INTEGERS));
        let upper = self.below(1 << 20);
        let small = self.below(32);
        let register = self.pick("fflags frm fcsr");
        let line = match name {
            "lui" | "auipc" => format!("{name} x{rd}, {upper:#x}"),
            "jal" => format!("jal x{rd}, 1f\n    addi x{rd}, x{rd}, 1\n1:"),
            "jalr" => format!("lla x9, 1f - 4\n    jalr x{rd}, 4(x9)\n    addi x{rd}, x{rd}, 1\n1:"),
            "lr" | "sc" => {
                self.atomic_address();
                let width = self.pick("w d");
                let pair = name == "lr" || self.below(3) != 0;
                // QEMU 7.2 stores a word where a doubleword was reserved, but reports a failure.
                let width = if pair { width } else { self.reserved };
                self.reserved = width;
                if name == "lr" {
                    format!("lr.{width} x{rd}, (x9)")
                } else {
                    let first = if pair {
                        format!("lr.{width} x{rd}, (x9)\n    ")
                    } else {
                        String::new()
                    };
                    format!("{first}sc.{width} x{rd}, x{a}, (x9)")
                }
            }
            "fsqrt" => format!("fsqrt.{precision} f{fd}, f{fa}, {mode}"),
            "fclass" => format!("fclass.{precision} x{rd}, f{fa}"),
            "fcvt.s.d" => format!("fcvt.s.d f{fd}, f{fa}, {mode}"),
            "fcvt.d.s" => format!("fcvt.d.s f{fd}, f{fa}"),
            "fcvt.from" if precision == "d" && integer.starts_with('w') => {
                format!("fcvt.d.{integer} f{fd}, x{a}")
            }
            "fcvt.from" => format!("fcvt.{precision}.{integer} f{fd}, x{a}, {mode}"),
            "fcvt.to" => format!("fcvt.{integer}.{precision} x{rd}, f{fa}, {mode}"),
            "fmv.x.w" | "fmv.x.d" => format!("{name} x{rd}, f{fa}"),
            "fmv.w.x" | "fmv.d.x" => format!("{name} f{fd}, x{a}"),
            // Only rounding modes that exist, for what runs with the dynamic one.
            "csrrw" | "csrrs" | "csrrc" => format!("andi x9, x{a}, 31\n    {name} x{rd}, fflags, x9"),
            "csrrwi" if register == "frm" => format!("csrrwi x{rd}, frm, {}", small % 5),
            "csrrwi" => format!("csrrwi x{rd}, {register}, {small}"),
            "csrrsi" => format!("csrrsi x{rd}, fflags, {small}"),
            "csrrci" => format!("csrrci x{rd}, {register}, {small}"),
            "fence" => "fence rw, w".to_string(),
            other => other.to_string(),
        };
        self.line(line);
    }

    fn compressed(&mut self, name: &'static str) {
        let (rd, other) = (self.compact(), self.compact());
        let (any, second) = (self.nonzero(), self.nonzero());
        let (fd, float) = (8 + self.below(8), self.r());
        let short = self.signed(6);
        let nonzero = if short == 0 { 1 } else { short };
        let amount = 1 + self.below(63);
        let (word, double) = (self.below(32) * 4, self.below(32) * 8);
        let (stack_word, stack_double) = (self.below(64) * 4, self.below(64) * 8);
        let line = match name {
            "c.addi4spn" => format!("{name} x{rd}, x2, {}", 4 + word),
            "c.lw" | "c.sw" => format!("{name} x{rd}, {word}(x8)"),
            "c.ld" | "c.sd" => format!("{name} x{rd}, {double}(x8)"),
            "c.fld" | "c.fsd" => format!("{name} f{fd}, {double}(x8)"),
            "c.nop" => name.to_string(),
            "c.addi" | "c.addiw" => format!("{name} x{any}, {nonzero}"),
            "c.li" => format!("{name} x{any}, {short}"),
            "c.addi16sp" => format!("{name} x2, 16\n    c.addi16sp x2, -16"),
            "c.lui" => format!("{name} x{any}, {}", 1 + self.below(31)),
            "c.srli" | "c.srai" => format!("{name} x{rd}, {amount}"),
            "c.slli" => format!("{name} x{any}, {amount}"),
            "c.andi" => format!("{name} x{rd}, {short}"),
            "c.sub" | "c.xor" | "c.or" | "c.and" | "c.subw" | "c.addw" => format!("{name} x{rd}, x{other}"),
            "c.j" => format!("{name} 1f\n    addi x{rd}, x{rd}, 1\n1:"),
            "c.beqz" | "c.bnez" => format!("{name} x{rd}, 1f\n    addi x{rd}, x{rd}, 1\n1:"),
            "c.fldsp" | "c.fsdsp" => format!("{name} f{float}, {stack_double}(x2)"),
            "c.lwsp" | "c.swsp" => format!("{name} x{any}, {stack_word}(x2)"),
            "c.ldsp" | "c.sdsp" => format!("{name} x{any}, {stack_double}(x2)"),
            "c.jr" | "c.jalr" => format!("lla x9, 1f\n    {name} x9\n    addi x{rd}, x{rd}, 1\n1:"),
            "c.mv" | "c.add" => format!("{name} x{any}, x{second}"),
            other => unreachable!("no such compressed instruction: {other}"),
        };
        self.line(line);
    }
}
