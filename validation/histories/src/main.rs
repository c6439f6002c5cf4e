//! Judges histories by the linearizability tester of `stateright`: of a bounded queue with the argument `queue`, of a key
//! of a store with `store`.
//!
//! Standard input has an operation in each line, and an empty line behind each history:
//!
//!     THREAD BEGIN END OPERATION…
//!
//! BEGIN and END are ticks that no other operation has at the other end. OPERATION is what was asked for and what came
//! of it, as `queue.rs` and `store.rs` describe it. The output is the number of histories and that of those that no
//! order of their operations explains.

mod queue;
mod store;

use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use std::io::{stdin, BufRead};

/// An object whose histories are judged; it begins as its default.
trait Specification: SequentialSpec + Clone + Default {
    /// An operation and its result, from the words of a line behind its ticks.
    fn parse(words: &[&str]) -> Option<(Self::Op, Self::Ret)>;
}

/// What happens at a tick.
enum Event<S: SequentialSpec> {
    Invoke(S::Op),
    Return(S::Ret),
}

/// The events of a history with their ticks and threads.
struct History<S: SequentialSpec>(Vec<(u64, u64, Event<S>)>);

impl<S: Specification> History<S>
where
    S::Op: Clone + std::fmt::Debug,
    S::Ret: Clone + std::fmt::Debug + PartialEq,
{
    /// Adds the operation of a line.
    fn add(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let [thread, begin, end, ref operation @ ..] = words[..] else {
            return None;
        };
        let thread = thread.parse().ok()?;
        let (asked, done) = S::parse(operation)?;
        self.0
            .push((begin.parse().ok()?, thread, Event::Invoke(asked)));
        self.0
            .push((end.parse().ok()?, thread, Event::Return(done)));
        Some(())
    }

    /// Whether some order of its operations explains it.
    fn judge(mut self) -> bool {
        self.0.sort_by_key(|(tick, ..)| *tick);
        let mut tester = LinearizabilityTester::new(S::default());
        for (_, thread, event) in self.0 {
            let taken = match event {
                Event::Invoke(asked) => tester.on_invoke(thread, asked),
                Event::Return(done) => tester.on_return(thread, done),
            };
            taken.expect("a thread has one operation at a time");
        }
        tester.is_consistent()
    }
}

/// Judges the histories on standard input.
fn judge<S: Specification>()
where
    S::Op: Clone + std::fmt::Debug,
    S::Ret: Clone + std::fmt::Debug + PartialEq,
{
    let (mut judged, mut wrong) = (0, 0);
    let mut history = History::<S>(Vec::new());
    for (number, line) in stdin().lock().lines().enumerate() {
        let line = line.expect("text on standard input");
        if line.is_empty() {
            judged += 1;
            let all = std::mem::replace(&mut history, History(Vec::new()));
            wrong += usize::from(!all.judge());
        } else if history.add(&line).is_none() {
            eprintln!("line {}: {line:?} is not an operation", number + 1);
            std::process::exit(2);
        }
    }
    println!("{judged} histories, {wrong} not linearizable");
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("queue") => judge::<queue::Queue>(),
        Some("store") => judge::<store::Key>(),
        _ => {
            eprintln!("queue or store?");
            std::process::exit(2);
        }
    }
}
