use crate::collector::Collector;
use crate::names::{readable, Names};
use crate::slices::{Cause, TrapSlice, Turn, Work};
use crate::thread::Thread;
use crate::trace_file::TraceRecord;
use crate::tree::WHOLE;
use serde::Serialize;

/// The profile of a machine's harts, from the start to the end.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct Profile {
    /// All functions; other records refer to them by their position in this list.
    pub functions: Vec<FunctionRecord>,
    /// All threads; other records refer to them by their position in this list.
    pub threads: Vec<ThreadRecord>,
    /// The harts, in the order of their numbers.
    pub harts: Vec<HartRecord>,
    /// The names of the counts in [`FunctionRecord::stalls`].
    pub stalls: Vec<String>,
    /// The counters that samples have.
    pub counters: Vec<String>,
    /// Number of times that triggers have started and ended the observation.
    pub fired: [u32; 2],
    /// The result of the trace, if one was requested.
    pub trace: Option<TraceRecord>,
    /// For each hart, sample by sample: cycle, instructions, and the counters.
    #[serde(skip)]
    pub samples: Vec<Vec<u64>>,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct FunctionRecord {
    /// The program, library, module or kernel that contains it.
    pub module: String,
    /// Its name in the source.
    pub name: String,
    /// Its name for the linker.
    pub symbol: String,
    /// The shortest duration of each step with calls, and their number.
    pub durations: Vec<(u64, u64)>,
    /// Duration and begin of the slowest calls.
    pub slowest: Vec<(u64, u64)>,
    /// Cycles in which no instruction retired, by reason.
    pub stalls: Vec<u64>,
    /// The source file of its declaration; empty if debug information does not have it.
    pub file: String,
    /// The line in this file, from 1 on; 0 if unknown.
    pub line: u32,
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
    /// Its cycles that were observed.
    pub cycles: u64,
    /// When they were: first cycles, and first cycles after them.
    pub windows: Vec<(u64, u64)>,
    /// The instructions that it executed.
    pub instructions: u64,
    /// Its call stacks as a tree; the first node represents the hart, its children are threads, below which are
    /// functions.
    pub nodes: Vec<NodeRecord>,
    /// The depth below which recursions are folded, if some are.
    pub folded_below: Option<u32>,
    /// The longest calls.
    pub slices: Vec<SliceRecord>,
    /// Number of calls that are not among the slices.
    pub slices_dropped: u64,
    /// The longest times in which it has run one thread.
    pub turns: Vec<TurnRecord>,
    /// The longest traps.
    pub traps: Vec<TrapRecord>,
    /// The units beside it.
    pub units: Vec<UnitRecord>,
}

/// A unit beside a hart.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct UnitRecord {
    /// Its name.
    pub unit: String,
    /// The longest times in which it had work: first cycles, and first cycles after them.
    pub work: Vec<(u64, u64)>,
}

impl HartRecord {
    /// Takes note of the work of units while the hart was observed. Each comes with the number of its first event among
    /// `events`, which begin with the names of their units.
    pub(crate) fn keep_work(&mut self, work: Vec<(usize, Vec<Work>)>, events: &[String]) {
        let seen = |each: &Work| {
            let windows = self.windows.iter();
            windows
                .clone()
                .any(|(begin, end)| each.begin < *end && each.end > *begin)
        };
        let unit = |(first, work): (usize, Vec<Work>)| UnitRecord {
            unit: events[first].split('.').next().unwrap_or_default().to_string(),
            work: work
                .iter()
                .filter(|each| seen(each))
                .map(|each| (each.begin, each.end))
                .collect(),
        };
        self.units = work.into_iter().map(unit).collect();
    }
}

/// Parent, function (or thread), own cycles, own instructions, and calls of a node.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct NodeRecord(pub u32, pub u32, pub u64, pub u64, pub u64);

/// Thread, depth, function, begin and end of a call.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct SliceRecord(pub u32, pub u32, pub u32, pub u64, pub u64);

/// Thread, begin and end of a time in which a hart has run one thread.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct TurnRecord(pub u32, pub u64, pub u64);

/// Thread, cause (as in `scause`), register `a7`, begin and end of a trap.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct TrapRecord(pub u32, pub u64, pub u64, pub u64, pub u64);

impl Profile {
    pub(crate) fn of(
        names: &Names,
        threads: &[Thread],
        finished: Vec<(Collector, Vec<u64>)>,
        (counters, fired): (Vec<String>, [u32; 2]),
    ) -> Profile {
        let (harts, samples): (Vec<Collector>, Vec<Vec<u64>>) = finished.into_iter().unzip();
        let functions = names.iter().enumerate();
        let stalls = harts.first().map_or(&[][..], |hart| hart.stalls.names());
        Profile {
            functions: functions
                .map(|(number, named)| function(number as u32, named, names, &harts))
                .collect(),
            threads: threads.iter().map(thread).collect(),
            harts: harts.iter().map(hart).collect(),
            stalls: stalls.iter().map(|name| (*name).to_string()).collect(),
            counters,
            fired,
            trace: None,
            samples,
        }
    }
}

fn function(
    number: u32,
    (module, symbol): (&str, &str),
    names: &Names,
    harts: &[Collector],
) -> FunctionRecord {
    let mut durations = crate::Durations::default();
    let number = crate::Function(number);
    harts
        .iter()
        .filter_map(|hart| hart.durations(number))
        .for_each(|more| durations.merge(more));
    let mut stalls = vec![0; harts.first().map_or(0, |hart| hart.stalls.names().len())];
    let found = harts.iter().filter_map(|hart| hart.stalls.of_function(number));
    for reasons in found {
        for (sum, more) in stalls.iter_mut().zip(reasons.counts()) {
            *sum += more;
        }
    }
    let slowest = durations.slowest().iter();
    let source = names.source(number);
    FunctionRecord {
        module: module.to_string(),
        name: readable(symbol),
        symbol: symbol.to_string(),
        durations: durations.steps().collect(),
        slowest: slowest.map(|call| (call.cycles, call.begin)).collect(),
        stalls,
        file: source.map_or_else(String::new, |source| source.file.clone()),
        line: source.map_or(0, |source| source.line),
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

fn turn(turn: &Turn) -> TurnRecord {
    TurnRecord(turn.thread, turn.begin, turn.end)
}

fn trap(trap: &TrapSlice) -> TrapRecord {
    let Cause { code, call, begin } = trap.cause;
    TrapRecord(trap.thread, code, call, begin, trap.end)
}

fn hart(collector: &Collector) -> HartRecord {
    let nodes = collector.record.tree.nodes.iter();
    let slices = collector.record.slices.kept().iter();
    HartRecord {
        hart: collector.hart(),
        cycles: collector.cycles(),
        windows: collector.windows().to_vec(),
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
        folded_below: collector.record.tree.is_folded().then_some(WHOLE),
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
        slices_dropped: collector.record.slices.dropped(),
        turns: collector.record.turns.longest.kept().iter().map(turn).collect(),
        traps: collector.record.traps.kept().iter().map(trap).collect(),
        units: Vec::new(),
    }
}
