use crate::timing::VectorParameters;
use rackwright_memory::{Named, NamedParameters, ParameterError, Shape};

/// All parameters of the `boom` model.
#[derive(Clone, Debug, PartialEq)]
pub struct BoomParameters {
    /// Entries of the reorder buffer.
    pub reorder_buffer: usize,
    /// Entries of the load queue, and of the store queue.
    pub load_queue: usize,
    /// As above.
    pub store_queue: usize,
    /// From the start of a mispredicted branch to the dispatch of the right successor.
    pub redirect: u64,
    /// From the commit of an instruction that empties the pipeline to the dispatch of its successor.
    pub flush: u64,
    /// From dispatch to the earliest execution.
    pub dispatch: u64,
    /// From the fetch of a packet to the earliest dispatch of its instructions.
    pub fetch: u64,
    /// Number of cycles by which the front end may be ahead of that: the capacity of the fetch buffer, at full width.
    pub fetch_ahead: u64,
    /// L1 instruction cache.
    pub instructions: Shape,
    /// L1 data cache.
    pub data: Shape,
    /// L1 misses.
    pub misses: BoomMisses,
    /// Latencies of execution.
    pub latencies: BoomLatencies,
    /// The vector unit, which the measured core does not have.
    pub vector: VectorParameters,
}

/// The path of an L1 miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoomMisses {
    /// Maximum number of outstanding lines of the data cache.
    pub outstanding: usize,
    /// From an L1 miss to the request at L2.
    pub request: u64,
    /// From the first beat of the answer back to the core.
    pub response: u64,
    /// Whether a load miss also requests the next line.
    pub prefetch_next_line: bool,
}

/// Cycles from the start of an operation to the start of one that needs its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoomLatencies {
    /// A load that hits, or takes its data from the store queue.
    pub load: u8,
    /// The same into a floating-point register.
    pub float_load: u8,
    /// Integer multiplication, pipelined.
    pub multiply: u8,
    /// Integer division of operands of equal size; one more per bit of the quotient and for each negation.
    pub divide: u8,
    /// A division of 64 steps, as by zero.
    pub divide_most: u32,
    /// All other floating-point operations, pipelined.
    pub float: u8,
    /// From an integer to a floating-point register.
    pub integer_to_float: u8,
    /// Floating-point division, and the time before its end at which the divider accepts the next operation.
    pub float_divide: u8,
    /// Square root.
    pub float_root: u8,
    /// Time before its result is usable at which a division or root frees its unit.
    pub float_divide_tail: u64,
    /// A read-modify-write at the head of the reorder buffer.
    pub atomic: u8,
}

impl BoomParameters {
    /// The `LargeBoom` configuration of BOOM 3 (three wide, 96 in flight), a core of the class of Arm's Cortex-A72:
    /// sizes and ports from its `WithNLargeBooms`, latencies as measured on its RTL (`validation/boom`).
    pub fn large() -> BoomParameters {
        let cache = Shape {
            bytes: 32 << 10,
            ways: 8,
        };
        BoomParameters {
            reorder_buffer: 96,
            load_queue: 24,
            store_queue: 24,
            redirect: 10,
            flush: 7,
            dispatch: 1,
            fetch: 6,
            fetch_ahead: 8,
            instructions: cache,
            data: cache,
            misses: BoomMisses {
                outstanding: 4,
                request: 2,
                response: 2,
                prefetch_next_line: true,
            },
            latencies: BoomLatencies {
                load: 4,
                float_load: 5,
                multiply: 6,
                divide: 7,
                divide_most: 71,
                float: 7,
                integer_to_float: 5,
                float_divide: 23,
                float_root: 31,
                float_divide_tail: 3,
                atomic: 4,
            },
            vector: VectorParameters::usual(),
        }
    }
}

/// The longest latency that may be set, in cycles.
const LONGEST: u64 = 200;

impl BoomLatencies {
    fn named(&mut self) -> Vec<Named<'_>> {
        vec![
            Named::new("load", 1..=LONGEST, &mut self.load),
            Named::new("float-load", 1..=LONGEST, &mut self.float_load),
            Named::new("multiply", 1..=LONGEST, &mut self.multiply),
            Named::new("divide", 1..=LONGEST, &mut self.divide),
            Named::new("divide-most", 1..=LONGEST, &mut self.divide_most),
            Named::new("float", 1..=LONGEST, &mut self.float),
            Named::new("integer-to-float", 1..=LONGEST, &mut self.integer_to_float),
            Named::new("float-divide", 1..=LONGEST, &mut self.float_divide),
            Named::new("float-root", 1..=LONGEST, &mut self.float_root),
            Named::new("float-divide-tail", 0..=LONGEST, &mut self.float_divide_tail),
            Named::new("atomic", 1..=LONGEST, &mut self.atomic),
        ]
    }
}

impl NamedParameters for BoomParameters {
    fn named(&mut self) -> Vec<Named<'_>> {
        let mut all = vec![
            Named::new("reorder-buffer", 3..=1024, &mut self.reorder_buffer),
            Named::new("load-queue", 1..=255, &mut self.load_queue),
            Named::new("store-queue", 1..=255, &mut self.store_queue),
            Named::new("redirect", 0..=LONGEST, &mut self.redirect),
            Named::new("flush", 0..=LONGEST, &mut self.flush),
            Named::new("dispatch", 0..=LONGEST, &mut self.dispatch),
            Named::new("fetch", 0..=LONGEST, &mut self.fetch),
            Named::new("fetch-ahead", 0..=LONGEST, &mut self.fetch_ahead),
        ];
        all.extend(
            self.instructions
                .named()
                .into_iter()
                .map(|each| each.of("instructions")),
        );
        all.extend(self.data.named().into_iter().map(|each| each.of("data")));
        all.extend([
            Named::new("outstanding-misses", 1..=64, &mut self.misses.outstanding),
            Named::new("miss-request", 0..=LONGEST, &mut self.misses.request),
            Named::new("miss-response", 0..=LONGEST, &mut self.misses.response),
            Named::new("prefetch-next-line", 0..=1, &mut self.misses.prefetch_next_line),
        ]);
        all.extend(self.latencies.named());
        all.extend(self.vector.named().into_iter().map(|each| each.of("vector")));
        all
    }

    fn check(&self) -> Result<(), ParameterError> {
        self.instructions.check("instructions")?;
        self.data.check("data")?;
        let BoomLatencies {
            float_divide,
            float_root,
            float_divide_tail: tail,
            ..
        } = self.latencies;
        if tail <= u64::from(float_divide.min(float_root)) {
            return Ok(());
        }
        let text = format!("float-divide-tail of {tail} is more than float-divide or float-root");
        Err(ParameterError::new(text))
    }
}
