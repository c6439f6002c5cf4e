//! Random user-mode programs of vector instructions that end by writing out all they have computed.
//!
//! Only what the specification leaves no choice in: groups that may overlap, and sources of different widths that do not.
//! Conversions that truncate are not among them, on which QEMU 7.2 itself ends with a fault.

use crate::generate::{Generator, DATA_BYTES};
use std::collections::BTreeSet;

/// Instructions by the operands they take: `v` for vectors, `x` and `f` for scalars, `i` for immediates.
const PLAIN: &str = "vadd.vxi vsub.vx vrsub.xi vminu.vx vmin.vx vmaxu.vx vmax.vx vand.vxi vor.vxi vxor.vxi vsaddu.vxi vsadd.vxi \
    vssubu.vx vssub.vx vsmul.vx vaaddu.vx vaadd.vx vasubu.vx vasub.vx vmul.vx vmulh.vx vmulhu.vx vmulhsu.vx vdivu.vx \
    vdiv.vx vremu.vx vrem.vx";
const SHIFTS: &str = "vsll vsrl vsra vssrl vssra";
const COMPARISONS: &str = "vmseq.vxi vmsne.vxi vmsltu.vx vmslt.vx vmsleu.vxi vmsle.vxi vmsgtu.xi vmsgt.xi";
const FUSED: &str = "vmacc vnmsac vmadd vnmsub";
const CARRIES: &str = "vadc.vxi vsbc.vx vmadc.vxi vmsbc.vx";
const MERGES: &str = "vmerge vmv.v";
const NARROWING: &str = "vnsrl vnsra vnclipu vnclip";
const WIDENING: &str = "vwaddu vwadd vwsubu vwsub vwmulu vwmulsu vwmul";
const WIDENED: &str = "vwaddu.w vwadd.w vwsubu.w vwsub.w";
const WIDE_FUSED: &str = "vwmaccu.v vwmacc.v vwmaccsu.v vwmaccus.x";
const REDUCTIONS: &str = "vredsum vredand vredor vredxor vredminu vredmin vredmaxu vredmax";
const WIDE_REDUCTIONS: &str = "vwredsumu vwredsum";
const MASKS: &str = "vmand vmnand vmandn vmxor vmor vmnor vmorn vmxnor";
const MASK_UNARY: &str = "vmsbf.m vmsif.m vmsof.m viota.m vid.v vcpop.m vfirst.m";
const EXTENSIONS: &str = "vzext.vf2 vsext.vf2 vzext.vf4 vsext.vf4 vzext.vf8 vsext.vf8";
const PERMUTATIONS: &str = "vslideup vslidedown vslide1up vslide1down vrgather vrgatherei16 vcompress";
const SCALARS: &str = "vmv.x.s vmv.s.x vmv1r.v vmv2r.v vmv4r.v vmv8r.v";
const ACCESSES: &str = "unit mask whole first strided indexed";

const FLOAT_PLAIN: &str =
    "vfadd.vf vfsub.vf vfrsub.f vfmul.vf vfdiv.vf vfrdiv.f vfmin.vf vfmax.vf vfsgnj.vf vfsgnjn.vf \
    vfsgnjx.vf";
const FLOAT_FUSED: &str = "vfmacc vfnmacc vfmsac vfnmsac vfmadd vfnmadd vfmsub vfnmsub";
const FLOAT_COMPARISONS: &str = "vmfeq.vf vmfne.vf vmflt.vf vmfle.vf vmfgt.f vmfge.f";
const FLOAT_UNARY: &str = "vfsqrt.v vfrsqrt7.v vfrec7.v vfclass.v vfcvt.xu.f.v vfcvt.x.f.v \
    vfcvt.f.xu.v vfcvt.f.x.v";
const FLOAT_REDUCTIONS: &str = "vfredusum vfredosum vfredmin vfredmax";
const FLOAT_SCALARS: &str = "vfmv.f.s vfmv.s.f vfmv.v.f vfmerge vfslide1up vfslide1down";
const FLOAT_WIDENING: &str = "vfwadd vfwsub vfwmul";
const FLOAT_WIDENED: &str = "vfwadd.w vfwsub.w";
const FLOAT_WIDE_FUSED: &str = "vfwmacc vfwnmacc vfwmsac vfwnmsac";
const FLOAT_WIDE_REDUCTIONS: &str = "vfwredusum vfwredosum";
/// With the widths of the elements that the type says, and which of both sides is twice as wide.
const FLOAT_CONVERSIONS: &str = "vfwcvt.xu.f.v vfwcvt.x.f.v vfwcvt.f.f.v vfwcvt.f.xu.v \
    vfwcvt.f.x.v vfncvt.xu.f.w vfncvt.x.f.w vfncvt.f.f.w vfncvt.rod.f.f.w \
    vfncvt.f.xu.w vfncvt.f.x.w";

const GROUPS: [&str; 29] = [
    PLAIN,
    SHIFTS,
    COMPARISONS,
    FUSED,
    CARRIES,
    MERGES,
    NARROWING,
    WIDENING,
    WIDENED,
    WIDE_FUSED,
    REDUCTIONS,
    WIDE_REDUCTIONS,
    MASKS,
    MASK_UNARY,
    EXTENSIONS,
    PERMUTATIONS,
    SCALARS,
    ACCESSES,
    FLOAT_PLAIN,
    FLOAT_FUSED,
    FLOAT_COMPARISONS,
    FLOAT_UNARY,
    FLOAT_REDUCTIONS,
    FLOAT_SCALARS,
    FLOAT_WIDENING,
    FLOAT_WIDENED,
    FLOAT_WIDE_FUSED,
    FLOAT_WIDE_REDUCTIONS,
    FLOAT_CONVERSIONS,
];

/// Elements of `8 << width` bits, in groups of two to the power of `multiplier` registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kind {
    width: i32,
    multiplier: i32,
}

impl Kind {
    fn all() -> impl Iterator<Item = Kind> {
        let kinds = (0..4).flat_map(|width| (-3..4).map(move |multiplier| Kind { width, multiplier }));
        kinds.filter(Kind::exists)
    }

    fn exists(&self) -> bool {
        (0..4).contains(&self.width)
            && (-3..4).contains(&self.multiplier)
            && self.width <= 3 + self.multiplier.min(0)
    }

    fn with_width(self, width: i32) -> Kind {
        let multiplier = self.multiplier + width - self.width;
        Kind { width, multiplier }
    }

    fn doubled(self) -> Kind {
        self.with_width(self.width + 1)
    }

    fn registers(self) -> usize {
        1 << self.multiplier.max(0)
    }

    /// As the assembler writes it.
    fn name(self) -> String {
        let multiplier = match self.multiplier {
            more @ 0.. => format!("m{}", 1 << more),
            less => format!("mf{}", 1 << -less),
        };
        format!("e{}, {multiplier}", 8 << self.width)
    }
}

/// A writer of programs.
pub struct Vectors {
    base: Generator,
    kind: Kind,
    /// Instructions that were written so far, for who asks whether all were.
    pub written: BTreeSet<String>,
}

impl Vectors {
    pub fn new(seed: u64) -> Vectors {
        Vectors {
            base: Generator::new(seed),
            kind: Kind {
                width: 0,
                multiplier: 0,
            },
            written: BTreeSet::new(),
        }
    }

    /// Every name that programs may have.
    pub fn names() -> BTreeSet<&'static str> {
        GROUPS.iter().flat_map(|group| group.split_whitespace()).collect()
    }

    /// A program with each of the names `rounds` times, for types that it exists for.
    pub fn program(&mut self, rounds: usize) -> String {
        self.start();
        for _ in 0..rounds {
            for group in GROUPS {
                for name in group.split_whitespace() {
                    self.configure();
                    self.refresh();
                    self.instruction(group, name);
                }
            }
        }
        self.end();
        self.base.take()
    }

    fn line(&mut self, line: impl AsRef<str>) {
        self.base.line(line);
    }

    fn below(&mut self, bound: usize) -> usize {
        self.base.below(bound)
    }

    fn start(&mut self) {
        self.base.start();
        for register in [0, 8, 16, 24] {
            self.line(format!("addi x9, x8, {}", register * 16));
            self.line(format!("vl8re8.v v{register}, (x9)"));
        }
    }

    fn end(&mut self) {
        for register in [0, 8, 16, 24] {
            self.line(format!("lla x9, vectors + {}", register * 16));
            self.line(format!("vs8r.v v{register}, (x9)"));
        }
        for (place, register) in ["vl", "vtype", "vcsr", "vstart", "vlenb"].iter().enumerate() {
            self.line(format!("csrr x5, {register}"));
            self.line(format!("sd x5, {}(x9)", 128 + 8 * place));
        }
        // Behind the data of the usual end, and written out with it.
        self.base.end_with("vectors: .zero 552\n", 552);
    }

    /// Chooses a type, a length and rounding modes.
    fn configure(&mut self) {
        let all: Vec<_> = Kind::all().collect();
        self.kind = all[self.below(all.len())];
        self.set_kind(self.kind);
        let (fixed, float) = (self.below(4), self.below(5));
        self.line(format!("csrwi vxrm, {fixed}"));
        self.line(format!("csrwi frm, {float}"));
    }

    fn set_kind(&mut self, kind: Kind) {
        let name = kind.name();
        let policy = self.base.pick("ta,ma tu,mu ta,mu tu,ma");
        match self.below(4) {
            0 => {
                let length = self.below(32);
                self.line(format!("vsetivli x5, {length}, {name}, {policy}"));
            }
            1 => {
                let length = self.below(140);
                self.line(format!("li x5, {length}"));
                self.line(format!("vsetvli x6, x5, {name}, {policy}"));
            }
            _ => self.line(format!("vsetvli x5, x0, {name}, {policy}")),
        }
    }

    /// Brings new values into some registers, so that not all become alike.
    fn refresh(&mut self) {
        let (register, offset) = (self.below(16) * 2, self.below(DATA_BYTES / 8 - 4) * 8);
        self.line(format!("addi x9, x8, {offset}"));
        self.line(format!("vl2re8.v v{register}, (x9)"));
    }

    /// Writes an instruction, and notes that it was.
    fn put(&mut self, name: &str, text: String) {
        self.written.insert(name.to_string());
        self.line(text);
    }

    /// A group that overlaps none of the others.
    fn group_apart(&mut self, registers: usize, others: &[(usize, usize)]) -> usize {
        loop {
            let first = self.below(32 / registers) * registers;
            let apart =
                |&(other, count): &(usize, usize)| first + registers <= other || other + count <= first;
            if others.iter().all(apart) {
                return first;
            }
        }
    }

    fn group(&mut self, kind: Kind) -> usize {
        self.group_apart(kind.registers(), &[])
    }

    /// Nothing, or a mask, which `target` then must not overlap.
    fn mask(&mut self, target: usize) -> &'static str {
        if target != 0 && self.below(2) == 0 {
            ", v0.t"
        } else {
            ""
        }
    }

    /// One of the letters, and an operand of that kind.
    fn operand(&mut self, letters: &str, kind: Kind, others: &[(usize, usize)]) -> (char, String) {
        let letters: Vec<char> = letters.chars().collect();
        let letter = letters[self.below(letters.len())];
        let operand = match letter {
            'v' => format!("v{}", self.group_apart(kind.registers(), others)),
            'x' => format!("x{}", self.below(32)),
            'f' => format!("f{}", self.below(32)),
            'u' => self.below(32).to_string(),
            _ => (self.below(32) as i64 - 16).to_string(),
        };
        (if letter == 'u' { 'i' } else { letter }, operand)
    }

    fn is_float(&self) -> bool {
        self.kind.width >= 2
    }

    fn instruction(&mut self, group: &'static str, name: &'static str) {
        let needs_float = [
            FLOAT_PLAIN,
            FLOAT_FUSED,
            FLOAT_COMPARISONS,
            FLOAT_UNARY,
            FLOAT_REDUCTIONS,
            FLOAT_SCALARS,
        ];
        let needs_single = [
            FLOAT_WIDENING,
            FLOAT_WIDENED,
            FLOAT_WIDE_FUSED,
            FLOAT_WIDE_REDUCTIONS,
        ];
        let wide = [
            NARROWING,
            WIDENING,
            WIDENED,
            WIDE_FUSED,
            WIDE_REDUCTIONS,
            FLOAT_CONVERSIONS,
        ];
        let widens_float = needs_single.contains(&group);
        if needs_float.contains(&group) && !self.is_float()
            || widens_float && self.kind.width != 2
            || (widens_float || wide.contains(&group)) && (self.kind.width == 3 || self.kind.multiplier == 3)
        {
            return;
        }
        let (stem, letters) = name.split_once('.').unwrap_or((name, ""));
        match group {
            PLAIN | FLOAT_PLAIN => self.plain(name, stem, letters),
            SHIFTS => self.plain(name, name, "vxu"),
            COMPARISONS | FLOAT_COMPARISONS => self.comparison(name, stem, letters),
            FUSED => self.fused(name, name, "vx", self.kind),
            FLOAT_FUSED => self.fused(name, name, "vf", self.kind),
            CARRIES => self.carry(name, stem, letters),
            MERGES => self.merge(name),
            NARROWING => self.narrowing(name),
            WIDENING => self.widening(name, name, "vx", false),
            WIDENED => self.widening(name, stem, "vx", true),
            FLOAT_WIDENING => self.widening(name, name, "vf", false),
            FLOAT_WIDENED => self.widening(name, stem, "vf", true),
            WIDE_FUSED => self.fused(
                name,
                stem,
                if letters == "v" { "vx" } else { "x" },
                self.kind.doubled(),
            ),
            FLOAT_WIDE_FUSED => self.fused(name, name, "vf", self.kind.doubled()),
            REDUCTIONS | FLOAT_REDUCTIONS | WIDE_REDUCTIONS | FLOAT_WIDE_REDUCTIONS => self.reduction(name),
            MASKS => {
                let [a, b, c] = [self.below(32), self.below(32), self.below(32)];
                self.put(name, format!("{name}.mm v{a}, v{b}, v{c}"));
            }
            MASK_UNARY => self.mask_unary(name),
            EXTENSIONS => self.extension(name),
            PERMUTATIONS => self.permutation(name),
            SCALARS => self.scalar(name),
            ACCESSES => self.access(name),
            FLOAT_UNARY => self.unary(name, self.kind, self.kind),
            FLOAT_SCALARS => self.float_scalar(name),
            _ => self.conversion(name),
        }
    }

    fn plain(&mut self, name: &str, stem: &str, letters: &str) {
        let (target, source) = (self.group(self.kind), self.group(self.kind));
        let (letter, operand) = self.operand(letters, self.kind, &[]);
        let mask = self.mask(target);
        self.put(
            name,
            format!("{stem}.v{letter} v{target}, v{source}, {operand}{mask}"),
        );
    }

    fn comparison(&mut self, name: &str, stem: &str, letters: &str) {
        let target = self.below(32);
        let own = [(target, 1)];
        let source = self.group_apart(self.kind.registers(), &own);
        let (letter, operand) = self.operand(letters, self.kind, &own);
        let mask = ["", ", v0.t"][self.below(2)];
        self.put(
            name,
            format!("{stem}.v{letter} v{target}, v{source}, {operand}{mask}"),
        );
    }

    /// A multiply-add, whose destination of type `target` is wider than the sources, or not.
    fn fused(&mut self, name: &str, stem: &str, letters: &str, target: Kind) {
        let first = self.group(target);
        let own = [(first, target.registers())];
        let others: &[_] = if target == self.kind { &[] } else { &own };
        let source = self.group_apart(self.kind.registers(), others);
        let (letter, operand) = self.operand(letters, self.kind, others);
        let mask = self.mask(first);
        self.put(
            name,
            format!("{stem}.v{letter} v{first}, {operand}, v{source}{mask}"),
        );
    }

    fn carry(&mut self, name: &str, stem: &str, letters: &str) {
        let makes_carry = stem.starts_with("vm");
        let target = if makes_carry {
            1 + self.below(31)
        } else {
            self.group_apart(self.kind.registers(), &[(0, 1)])
        };
        let own = [(target, 1)];
        let others: &[_] = if makes_carry { &own } else { &[] };
        let source = self.group_apart(self.kind.registers(), others);
        let (letter, operand) = self.operand(letters, self.kind, others);
        let (suffix, carry) = if makes_carry && self.below(2) == 0 {
            ("", "")
        } else {
            ("m", ", v0")
        };
        self.put(
            name,
            format!("{stem}.v{letter}{suffix} v{target}, v{source}, {operand}{carry}"),
        );
    }

    fn merge(&mut self, name: &str) {
        let target = self.group_apart(self.kind.registers(), &[(0, 1)]);
        let source = self.group(self.kind);
        let (letter, operand) = self.operand("vxi", self.kind, &[]);
        self.put(
            name,
            match name {
                "vmerge" => format!("vmerge.v{letter}m v{target}, v{source}, {operand}, v0"),
                _ => format!("vmv.v.{letter} v{target}, {operand}"),
            },
        );
    }

    fn narrowing(&mut self, name: &str) {
        let wide = self.kind.doubled();
        let target = self.group(self.kind);
        let own = [(target, self.kind.registers())];
        let source = self.group_apart(wide.registers(), &own);
        let (letter, operand) = self.operand("vxu", self.kind, &[]);
        let mask = self.mask(target);
        self.put(
            name,
            format!("{name}.w{letter} v{target}, v{source}, {operand}{mask}"),
        );
    }

    fn widening(&mut self, name: &str, stem: &str, letters: &str, wide_source: bool) {
        let wide = self.kind.doubled();
        let target = self.group(wide);
        let own = [(target, wide.registers())];
        let source = if wide_source {
            self.group(wide)
        } else {
            self.group_apart(self.kind.registers(), &own)
        };
        let (letter, operand) = self.operand(letters, self.kind, &own);
        let mask = self.mask(target);
        let form = if wide_source { 'w' } else { 'v' };
        self.put(
            name,
            format!("{stem}.{form}{letter} v{target}, v{source}, {operand}{mask}"),
        );
    }

    fn reduction(&mut self, name: &str) {
        let (target, first) = (self.below(32), self.below(32));
        let source = self.group_apart(self.kind.registers(), &[(target, 1)]);
        let mask = self.mask(target);
        self.put(name, format!("{name}.vs v{target}, v{source}, v{first}{mask}"));
    }

    fn mask_unary(&mut self, name: &str) {
        let makes_elements = matches!(name, "viota.m" | "vid.v");
        let registers = if makes_elements { self.kind.registers() } else { 1 };
        let target = self.group_apart(registers, &[]);
        let source = self.group_apart(1, &[(target, registers)]);
        let mask = self.mask(target);
        self.put(
            name,
            match name {
                "vid.v" => format!("vid.v v{target}{mask}"),
                "vcpop.m" | "vfirst.m" => format!("{name} x{}, v{source}{mask}", 10 + target % 16),
                _ => format!("{name} v{target}, v{source}{mask}"),
            },
        );
    }

    fn extension(&mut self, name: &str) {
        let steps = match name.as_bytes()[name.len() - 1] {
            b'2' => 1,
            b'4' => 2,
            _ => 3,
        };
        let source = self.kind.with_width(self.kind.width - steps);
        if source.exists() {
            self.unary(name, source, self.kind);
        }
    }

    /// From elements of one type to elements of another.
    fn unary(&mut self, name: &str, source: Kind, target: Kind) {
        let first = self.group(target);
        let own = [(first, target.registers())];
        let others: &[_] = if source == target { &[] } else { &own };
        let from = self.group_apart(source.registers(), others);
        let mask = self.mask(first);
        self.put(name, format!("{name} v{first}, v{from}{mask}"));
    }

    fn permutation(&mut self, name: &str) {
        let registers = self.kind.registers();
        let target = self.group(self.kind);
        let own = [(target, registers)];
        let source = self.group_apart(registers, &own);
        let mask = self.mask(target);
        match name {
            "vslide1up" | "vslide1down" => {
                let scalar = self.below(32);
                self.put(name, format!("{name}.vx v{target}, v{source}, x{scalar}{mask}"));
            }
            "vcompress" => {
                let chosen = self.group_apart(1, &own);
                self.put(name, format!("vcompress.vm v{target}, v{source}, v{chosen}"));
            }
            "vrgatherei16" => {
                let indices = self.kind.with_width(1);
                if (-3..4).contains(&indices.multiplier) {
                    let others = [(target, registers), (source, registers)];
                    let from = self.group_apart(
                        indices.registers(),
                        if registers == 8 { &others[..1] } else { &others },
                    );
                    self.put(
                        name,
                        format!("vrgatherei16.vv v{target}, v{source}, v{from}{mask}"),
                    );
                }
            }
            _ => {
                // Small amounts, so that not everything is slid away.
                let amount = self.below(20);
                self.line(format!("li x6, {amount}"));
                let (letter, operand) =
                    self.operand(if name == "vrgather" { "vxu" } else { "xu" }, self.kind, &own);
                let operand = if letter == 'x' { "x6".to_string() } else { operand };
                self.put(
                    name,
                    format!("{name}.v{letter} v{target}, v{source}, {operand}{mask}"),
                );
            }
        }
    }

    fn scalar(&mut self, name: &str) {
        let (vector, integer, from) = (self.below(32), 10 + self.below(16), self.below(32));
        self.put(
            name,
            match name {
                "vmv.x.s" => format!("vmv.x.s x{integer}, v{vector}"),
                "vmv.s.x" => format!("vmv.s.x v{vector}, x{integer}"),
                _ => {
                    let count: usize = name[3..4].parse().unwrap();
                    let [to, from] = [vector, from].map(|register| register / count * count);
                    format!("{name} v{to}, v{from}")
                }
            },
        );
    }

    fn float_scalar(&mut self, name: &str) {
        let (vector, float) = (self.below(32), self.below(32));
        let target = self.group_apart(self.kind.registers(), &[(0, 1)]);
        let source = self.group_apart(self.kind.registers(), &[(target, self.kind.registers())]);
        self.put(
            name,
            match name {
                "vfmv.f.s" => format!("vfmv.f.s f{float}, v{vector}"),
                "vfmv.s.f" => format!("vfmv.s.f v{vector}, f{float}"),
                "vfmv.v.f" => format!("vfmv.v.f v{target}, f{float}"),
                "vfmerge" => format!("vfmerge.vfm v{target}, v{source}, f{float}, v0"),
                _ => format!("{name}.vf v{target}, v{source}, f{float}"),
            },
        );
    }

    fn conversion(&mut self, name: &str) {
        let wide = self.kind.doubled();
        let (source, target) = if name.starts_with("vfw") {
            (self.kind, wide)
        } else {
            (wide, self.kind)
        };
        let float = |kind: Kind| kind.width >= 2;
        let from_float = name.ends_with(".f.v") || name.ends_with(".f.w");
        let to_float = name.contains("cvt.f") || name.contains("rod");
        if (!from_float || float(source)) && (!to_float || float(target)) {
            self.unary(name, source, target);
        }
    }

    /// Loads and stores, both, of a form.
    fn access(&mut self, form: &'static str) {
        let store = self.below(2) == 0;
        let letter = if store { 's' } else { 'l' };
        let offset = 8 * (128 + self.below(3));
        self.line(format!("addi x9, x8, {offset}"));
        match form {
            "mask" => {
                let register = self.below(32);
                self.put(form, format!("v{letter}m.v v{register}, (x9)"));
            }
            "whole" => {
                let count = 1 << self.below(4);
                let register = self.below(32 / count) * count;
                let width = 8 << self.below(4);
                self.put(
                    form,
                    match store {
                        true => format!("vs{count}r.v v{register}, (x9)"),
                        false => format!("vl{count}re{width}.v v{register}, (x9)"),
                    },
                );
            }
            "indexed" => self.indexed(form, letter),
            _ => self.of_width(form, letter),
        }
    }

    /// How many fields there may be for groups of so many registers, one of those numbers.
    fn fields(&mut self, registers: usize) -> usize {
        if self.below(2) == 0 {
            1
        } else {
            1 + self.below(8 / registers)
        }
    }

    fn of_width(&mut self, form: &str, letter: char) {
        let widths: Vec<Kind> = (0..4)
            .map(|width| self.kind.with_width(width))
            .filter(|kind| (-3..4).contains(&kind.multiplier))
            .collect();
        let data = widths[self.below(widths.len())];
        let fields = self.fields(data.registers());
        let count = fields * data.registers();
        let register = self.below((32 - count) / data.registers() + 1) * data.registers();
        let mask = self.mask(register);
        let segment = if fields > 1 {
            format!("seg{fields}")
        } else {
            String::new()
        };
        let bits = 8 << data.width;
        let stride = self.below(15) as i64 - 7;
        self.put(
            form,
            match form {
                "unit" => format!("v{letter}{segment}e{bits}.v v{register}, (x9){mask}"),
                "first" => format!("vl{segment}e{bits}ff.v v{register}, (x9){mask}"),
                _ => format!("li x6, {stride}\n    v{letter}s{segment}e{bits}.v v{register}, (x9), x6{mask}"),
            },
        );
    }

    fn indexed(&mut self, form: &str, letter: char) {
        let (kind, width) = (self.kind, self.below(4) as i32);
        let indices = kind.with_width(width);
        if !indices.exists() {
            return;
        }
        let fields = self.fields(kind.registers());
        let count = fields * kind.registers();
        // Both have room in any case: the indices at one end, the data at the other.
        if count + indices.registers() > 24 {
            return;
        }
        let register = 8 + self.below((24 - count) / kind.registers() + 1) * kind.registers();
        let places = self.group_apart(indices.registers(), &[(register, count)]);
        self.line(format!("vsetvli x5, x0, {}, ta, ma", indices.name()));
        self.line("li x6, 0x3f9");
        self.line(format!("vand.vx v{places}, v{places}, x6"));
        self.set_kind(kind);
        let mask = self.mask(register);
        let order = self.base.pick("u o");
        let segment = if fields > 1 {
            format!("seg{fields}")
        } else {
            String::new()
        };
        let bits = 8 << width;
        self.line("mv x9, x8");
        self.put(
            form,
            format!("v{letter}{order}x{segment}ei{bits}.v v{register}, (x9), v{places}{mask}"),
        );
    }
}
