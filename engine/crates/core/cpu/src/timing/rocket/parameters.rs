//! The numbers of Rocket's pipeline, each measured on the RTL with all accesses hitting.

use crate::timing::random::ShiftRegister;
use crate::timing::VectorParameters;
use rackwright_memory::{Named, NamedParameters, ParameterError};

/// Cycles between the retirements of an instruction and of the next one that needs its result, and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// `ld`, `lw`, `lwu`, atomics.
    pub load_wide: u32,
    /// `lb`, `lh` and their unsigned forms: one more for alignment.
    pub load_narrow: u32,
    /// `fld`, `flw`.
    pub float_load: u32,
    /// Results that only the write-back stage has: counters and other registers, comparisons, `fmv.x`, `sc`.
    pub slow_result: u32,
    /// Integer multiplications.
    pub multiply: MultiplyLatencies,
    /// A division of operands of equal size; one more for each bit that the quotient may have.
    pub divide_least: u32,
    /// A division that cannot end early.
    pub divide_most: u32,
    /// `fadd.d`, `fmul.d`, `fmadd.d`.
    pub multiply_add_double: u32,
    /// The same in single precision, moves, conversions, sign injection.
    pub float_other: u32,
    /// Floating-point divisions and roots.
    pub float_divide: FloatDivideLatencies,
    /// From a memory access to the next one after a fence.
    pub drain: u32,
    /// An instruction that flushes the pipeline, to the next.
    pub flush: u32,
    /// `fence.i`, which empties the instruction cache too.
    pub flush_instructions: u32,
    /// A load that is replayed because it needs a store that is still in the pipeline.
    pub replay: u32,
}

/// Integer multiplications: the unit accepts no other operation meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiplyLatencies {
    /// Of a first operand of eight bits; one more for each eight bits more.
    pub least: u32,
    /// Of 64 bits, or for the high half.
    pub double: u32,
    /// Of 32 bits.
    pub word: u32,
}

/// Floating-point divisions and roots: the unit accepts no other operation meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloatDivideLatencies {
    /// `fdiv.d`, `fsqrt.d`.
    pub double: u32,
    /// `fdiv.s`, `fsqrt.s`.
    pub single: u32,
    /// Time before its result is usable at which a division frees the unit.
    pub tail: u32,
}

/// The contribution of the L1 caches and of the components between them and L2 (TileLink crossbars, the broadcast hub,
/// the AXI4 bridge) to a miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissPath {
    /// From when a load or store would retire to its request at L2.
    pub data_request: u64,
    /// From the first beat of the answer to the retirement.
    pub data_response: u64,
    /// Additional cycles before the request, if a modified line has to be evicted first.
    pub release: u64,
    /// From the request of the new line to the one that writes the old line back.
    pub write_back: u64,
    /// From the fetch of a packet to the request of its line.
    pub fetch_request: u64,
    /// A fetch restarted within this many cycles takes its request back.
    pub fetch_kill: u64,
    /// From the first beat of the answer to the fetch of the packet.
    pub fetch_response: u64,
}

/// How many lines each L1 cache has replaced before a program starts: where its pseudo-random choices of ways go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Of the instruction cache: the boot ROM and its jump bring lines in.
    pub instructions: u32,
    /// Of the data cache.
    pub data: u32,
}

/// The front end, relative to retirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontEnd {
    /// From the fetch of a packet to the earliest retirement of an instruction that ends in it.
    pub depth: u64,
    /// Number of cycles by which the front end may be ahead of that.
    pub ahead: u64,
    /// From the fetch of a jump to that of its target, when the target buffer knows it.
    pub known: u64,
    /// The same when the jump is only found in the fetched packet.
    pub found: u64,
}

/// All parameters of the `rocket` model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocketParameters {
    /// Execution.
    pub latencies: Latencies,
    /// L1 misses.
    pub misses: MissPath,
    /// Ways of the L1 caches.
    pub replaced: Replaced,
    /// Instruction supply.
    pub front_end: FrontEnd,
    /// The vector unit, which the measured core does not have.
    pub vector: VectorParameters,
}

impl RocketParameters {
    /// The core of `pythondata-cpu-rocket`, configuration `LitexFull`, as measured (`validation/rocket`).
    pub fn measured() -> RocketParameters {
        RocketParameters {
            latencies: Latencies {
                load_wide: 2,
                load_narrow: 3,
                float_load: 4,
                slow_result: 3,
                multiply: MultiplyLatencies {
                    least: 4,
                    double: 10,
                    word: 6,
                },
                divide_least: 5,
                divide_most: 67,
                multiply_add_double: 6,
                float_other: 4,
                float_divide: FloatDivideLatencies {
                    double: 57,
                    single: 28,
                    tail: 2,
                },
                drain: 4,
                flush: 4,
                flush_instructions: 12,
                replay: 5,
            },
            misses: MissPath {
                data_request: 2,
                data_response: 11,
                release: 18,
                write_back: 56,
                fetch_request: 5,
                fetch_kill: 4,
                fetch_response: 10,
            },
            replaced: Replaced {
                instructions: 3,
                data: 0,
            },
            front_end: FrontEnd {
                depth: 4,
                ahead: 5,
                known: 1,
                found: 2,
            },
            vector: VectorParameters::usual(),
        }
    }
}

/// The longest latency that may be set, in cycles: blocks keep some in eight bits.
const LONGEST: u64 = 200;

impl Latencies {
    fn named(&mut self) -> Vec<Named<'_>> {
        vec![
            Named::new("load-wide", 1..=LONGEST, &mut self.load_wide),
            Named::new("load-narrow", 1..=LONGEST, &mut self.load_narrow),
            Named::new("float-load", 1..=LONGEST, &mut self.float_load),
            Named::new("slow-result", 1..=LONGEST, &mut self.slow_result),
            Named::new("multiply-least", 1..=LONGEST, &mut self.multiply.least),
            Named::new("multiply", 1..=LONGEST, &mut self.multiply.double),
            Named::new("multiply-word", 1..=LONGEST, &mut self.multiply.word),
            Named::new("divide-least", 1..=LONGEST, &mut self.divide_least),
            Named::new("divide-most", 1..=LONGEST, &mut self.divide_most),
            Named::new("multiply-add-double", 1..=LONGEST, &mut self.multiply_add_double),
            Named::new("float-other", 1..=LONGEST, &mut self.float_other),
            Named::new("float-divide-double", 1..=LONGEST, &mut self.float_divide.double),
            Named::new("float-divide-single", 1..=LONGEST, &mut self.float_divide.single),
            Named::new("float-divide-tail", 0..=LONGEST, &mut self.float_divide.tail),
            Named::new("drain", 1..=LONGEST, &mut self.drain),
            Named::new("flush", 1..=LONGEST, &mut self.flush),
            Named::new("flush-instructions", 1..=LONGEST, &mut self.flush_instructions),
            Named::new("replay", 1..=LONGEST, &mut self.replay),
        ]
    }
}

impl MissPath {
    fn named(&mut self) -> Vec<Named<'_>> {
        vec![
            Named::new("data-request", 0..=LONGEST, &mut self.data_request),
            Named::new("data-response", 0..=LONGEST, &mut self.data_response),
            Named::new("release", 0..=LONGEST, &mut self.release),
            Named::new("write-back", 0..=LONGEST, &mut self.write_back),
            Named::new("fetch-request", 0..=LONGEST, &mut self.fetch_request),
            Named::new("fetch-kill", 0..=LONGEST, &mut self.fetch_kill),
            Named::new("fetch-response", 0..=LONGEST, &mut self.fetch_response),
        ]
    }
}

impl Replaced {
    fn named(&mut self) -> Vec<Named<'_>> {
        let most = u64::from(ShiftRegister::PERIOD) - 1;
        vec![
            Named::new("instructions", 0..=most, &mut self.instructions),
            Named::new("data", 0..=most, &mut self.data),
        ]
    }
}

impl FrontEnd {
    fn named(&mut self) -> Vec<Named<'_>> {
        vec![
            Named::new("depth", 0..=LONGEST, &mut self.depth),
            Named::new("ahead", 0..=LONGEST, &mut self.ahead),
            Named::new("known", 0..=LONGEST, &mut self.known),
            Named::new("found", 0..=LONGEST, &mut self.found),
        ]
    }
}

impl NamedParameters for RocketParameters {
    fn named(&mut self) -> Vec<Named<'_>> {
        let mut all = self.latencies.named();
        all.extend(self.misses.named().into_iter().map(|each| each.of("miss")));
        all.extend(self.replaced.named().into_iter().map(|each| each.of("replaced")));
        all.extend(
            self.front_end
                .named()
                .into_iter()
                .map(|each| each.of("front-end")),
        );
        all.extend(self.vector.named().into_iter().map(|each| each.of("vector")));
        all
    }

    fn check(&self) -> Result<(), ParameterError> {
        let latencies = &self.latencies;
        let ordered = [
            (
                "multiply-least",
                latencies.multiply.least,
                "multiply",
                latencies.multiply.double,
            ),
            (
                "multiply-least",
                latencies.multiply.least,
                "multiply-word",
                latencies.multiply.word,
            ),
            (
                "divide-least",
                latencies.divide_least,
                "divide-most",
                latencies.divide_most,
            ),
            (
                "float-divide-tail",
                latencies.float_divide.tail,
                "float-divide-single",
                latencies.float_divide.single,
            ),
            (
                "float-divide-tail",
                latencies.float_divide.tail,
                "float-divide-double",
                latencies.float_divide.double,
            ),
        ];
        match ordered.into_iter().find(|(_, less, _, more)| less > more) {
            None => Ok(()),
            Some((name, less, other, more)) => Err(ParameterError::new(format!(
                "{name} of {less} is more than {other} of {more}"
            ))),
        }
    }
}
