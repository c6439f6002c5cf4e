use crate::collector::Collector;
use crate::names::{readable, Names};
use crate::session::Thread;
use serde::Serialize;

/// What the harts of a machine did, from the start to the end.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Profile {
    /// All functions; others say which by their place in this list.
    pub functions: Vec<FunctionRecord>,
    /// All threads; others say which by their place in this list.
    pub threads: Vec<ThreadRecord>,
    /// The harts, in the order of their numbers.
    pub harts: Vec<HartRecord>,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct FunctionRecord {
    /// The program, library, module or kernel that it is of.
    pub module: String,
    /// Its name as the source has it.
    pub name: String,
    /// Its name as the linker has it.
    pub symbol: String,
    /// The shortest duration of each step in which there were calls, and how many.
    pub durations: Vec<(u64, u64)>,
    /// Duration and begin of the slowest calls.
    pub slowest: Vec<(u64, u64)>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct ThreadRecord {
    /// The name of its process.
    pub process: String,
    /// The number of its process.
    pub process_number: u64,
    /// Its own name.
    pub name: String,
    /// Its own number.
    pub number: u64,
}

/// A hart.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct HartRecord {
    /// Its number.
    pub hart: usize,
    /// Its cycles.
    pub cycles: u64,
    /// The instructions that it executed.
    pub instructions: u64,
    /// Its call stacks as a tree; the first node stands for the hart, its children are threads, below which are functions.
    pub nodes: Vec<NodeRecord>,
    /// The longest calls.
    pub slices: Vec<SliceRecord>,
    /// How many calls are not among the slices.
    pub slices_dropped: u64,
    /// Cycle, instructions, and values of [`crate::COUNTERS`].
    pub samples: Vec<(u64, u64, Vec<u64>)>,
}

/// Parent, function (or thread), own cycles, own instructions, and calls of a node.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct NodeRecord(pub u32, pub u32, pub u64, pub u64, pub u64);

/// Thread, depth, function, begin and end of a call.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct SliceRecord(pub u32, pub u32, pub u32, pub u64, pub u64);

impl Profile {
    pub(crate) fn of(names: &Names, threads: &[Thread], harts: &[Collector]) -> Profile {
        let functions = names.iter().enumerate();
        Profile {
            functions: functions
                .map(|(number, (module, symbol))| function(number as u32, module, symbol, harts))
                .collect(),
            threads: threads.iter().map(thread).collect(),
            harts: harts.iter().map(hart).collect(),
        }
    }
}

fn function(number: u32, module: &str, symbol: &str, harts: &[Collector]) -> FunctionRecord {
    let mut durations = crate::Durations::default();
    let number = crate::Function(number);
    harts
        .iter()
        .filter_map(|hart| hart.durations(number))
        .for_each(|more| durations.merge(more));
    let slowest = durations.slowest().iter();
    FunctionRecord {
        module: module.to_string(),
        name: readable(symbol),
        symbol: symbol.to_string(),
        durations: durations.steps().collect(),
        slowest: slowest.map(|call| (call.cycles, call.begin)).collect(),
    }
}

fn thread(thread: &Thread) -> ThreadRecord {
    ThreadRecord {
        process: thread.process.clone(),
        process_number: thread.process_number,
        name: thread.name.clone(),
        number: thread.number,
    }
}

fn hart(collector: &Collector) -> HartRecord {
    let nodes = collector.tree.nodes.iter();
    let slices = collector.slices.kept().iter();
    let samples = collector.samples.iter();
    HartRecord {
        hart: collector.hart(),
        cycles: collector.cycles(),
        instructions: collector.instructions(),
        nodes: nodes
            .map(|node| {
                NodeRecord(
                    node.parent,
                    node.function.0,
                    node.cycles,
                    node.instructions,
                    node.calls,
                )
            })
            .collect(),
        slices: slices
            .map(|slice| {
                SliceRecord(
                    slice.thread,
                    slice.depth,
                    slice.function.0,
                    slice.begin,
                    slice.end,
                )
            })
            .collect(),
        slices_dropped: collector.slices.dropped(),
        samples: samples
            .map(|counts| (counts.cycle, counts.instructions, counts.values.clone()))
            .collect(),
    }
}
