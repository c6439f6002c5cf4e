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
    /// From the execution of a mispredicted branch to the dispatch of the right successor.
    pub redirect: u64,
    /// From dispatch to the earliest execution.
    pub dispatch: u64,
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
}

/// Cycles from the start of an operation to the start of one that needs its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoomLatencies {
    /// A load that hits, or takes its data from the store queue.
    pub load: u32,
    /// Integer multiplication, pipelined.
    pub multiply: u32,
    /// Integer division of operands of equal size; one more per bit of the quotient.
    pub divide_least: u32,
    /// Addition, multiplication, multiply-add, pipelined.
    pub float: u32,
    /// Moves, comparisons and conversions.
    pub float_other: u32,
    /// Division and square root in double precision.
    pub float_divide_double: u32,
    /// The same in single precision.
    pub float_divide_single: u32,
    /// A read-modify-write at the head of the reorder buffer.
    pub atomic: u32,
    /// An instruction that empties the pipeline, to the dispatch of the next.
    pub serial: u32,
}

impl BoomParameters {
    /// The `LargeBoom` configuration of BOOM 3 (three wide, 96 in flight), a core of the class of Arm's Cortex-A72:
    /// sizes and ports from its `WithNLargeBooms`, latencies and the 12-cycle misprediction from Zhao 2020
    /// (SonicBOOM), divider and multiplier as in rocket-chip, from which BOOM takes them.
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
            dispatch: 2,
            instructions: cache,
            data: cache,
            outstanding_misses: 4,
            miss_request: 2,
            miss_response: 2,
            prefetch_next_line: true,
            latencies: BoomLatencies {
                load: 4,
                multiply: 3,
                divide_least: 5,
                float: 4,
                float_other: 2,
                float_divide_double: 57,
                float_divide_single: 28,
                atomic: 6,
                serial: 4,
            },
        }
    }
}
