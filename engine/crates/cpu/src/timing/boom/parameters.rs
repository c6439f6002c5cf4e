use crate::timing::VectorParameters;
use rackwright_memory::Shape;

/// Everything that the `boom` model is built from.
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
    /// How many cycles the front end may be ahead of that: what the fetch buffer holds, at full width.
    pub fetch_ahead: u64,
    /// L1 instruction cache.
    pub instructions: Shape,
    /// L1 data cache.
    pub data: Shape,
    /// Lines that may be on their way to the data cache at once.
    pub outstanding_misses: usize,
    /// From an L1 miss to the request at L2, and from the first beat of the answer back to the core.
    pub miss_request: u64,
    /// As above.
    pub miss_response: u64,
    /// Whether a load miss also asks for the next line.
    pub prefetch_next_line: bool,
    /// Latencies of execution.
    pub latencies: BoomLatencies,
    /// The vector unit, which the measured core does not have.
    pub vector: VectorParameters,
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
    /// Everything in floating point but what follows, pipelined.
    pub float: u8,
    /// From an integer to a floating-point register.
    pub integer_to_float: u8,
    /// Floating-point division, and how long before its end the divider takes the next operation.
    pub float_divide: u8,
    /// Square root.
    pub float_root: u8,
    /// How long before its result is usable a division or root frees its unit.
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
            outstanding_misses: 4,
            miss_request: 2,
            miss_response: 2,
            prefetch_next_line: true,
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
