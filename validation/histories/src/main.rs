//! Judges histories of bounded queues by the linearizability tester of `stateright`.
//!
//! Standard input has an operation in each line, and an empty line behind each history:
//!
//!     THREAD push|pop tries|waits PLACES ASKED BEGIN END [VALUE…]
//!
//! ASKED is the number of elements that the operation was for, BEGIN and END are ticks that no other operation has, and
//! the values are those that were pushed or popped. The output is the number of histories and that of those that no
//! order of their operations explains.

use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use std::io::{stdin, BufRead};

/// A queue with so many places, and its elements, the oldest first.
#[derive(Clone, Debug)]
struct Queue {
    places: usize,
    elements: Vec<u64>,
}

/// A push or a pop of up to `asked` elements, or of exactly as many if it waits.
#[derive(Clone, Debug)]
struct Call {
    is_push: bool,
    waits: bool,
    asked: usize,
}

impl SequentialSpec for Queue {
    type Op = Call;
    /// The elements that were pushed or popped.
    type Ret = Vec<u64>;

    /// The tester asks [`SequentialSpec::is_valid_step`], since a call may have several results.
    fn invoke(&mut self, call: &Call) -> Vec<u64> {
        unreachable!("{call:?} is not invoked, but compared with its result")
    }

    fn is_valid_step(&mut self, call: &Call, done: &Vec<u64>) -> bool {
        let most = if call.is_push {
            self.places - self.elements.len()
        } else {
            self.elements.len()
        };
        let least = if call.waits { call.asked } else { most.min(1) };
        if done.len() < least || done.len() > most.min(call.asked) {
            return false;
        }
        if call.is_push {
            self.elements.extend(done);
            return true;
        }
        let is_oldest = *done == self.elements[..done.len()];
        self.elements.drain(..done.len());
        is_oldest
    }
}

/// What happens at a tick.
enum Event {
    Invoke(Call),
    Return(Vec<u64>),
}

/// A history of the present input: the places of its queue, and its events with their ticks and threads.
#[derive(Default)]
struct History {
    places: usize,
    events: Vec<(u64, u64, Event)>,
}

impl History {
    /// Adds the operation of a line.
    fn add(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let thread = words.next()?.parse().ok()?;
        let is_push = words.next()? == "push";
        let waits = words.next()? == "waits";
        let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
        let [places, asked, begin, end, ref values @ ..] = numbers?[..] else {
            return None;
        };
        self.places = places as usize;
        let call = Call {
            is_push,
            waits,
            asked: asked as usize,
        };
        self.events.push((begin, thread, Event::Invoke(call)));
        self.events
            .push((end, thread, Event::Return(values.to_vec())));
        Some(())
    }

    /// Whether some order of its operations explains it.
    fn judge(mut self) -> bool {
        self.events.sort_by_key(|(tick, ..)| *tick);
        let mut tester = LinearizabilityTester::new(Queue {
            places: self.places,
            elements: Vec::new(),
        });
        for (_, thread, event) in self.events {
            let taken = match event {
                Event::Invoke(call) => tester.on_invoke(thread, call),
                Event::Return(done) => tester.on_return(thread, done),
            };
            taken.expect("a thread has one operation at a time");
        }
        tester.is_consistent()
    }
}

fn main() {
    let (mut judged, mut wrong) = (0, 0);
    let mut history = History::default();
    for (number, line) in stdin().lock().lines().enumerate() {
        let line = line.expect("text on standard input");
        if line.is_empty() {
            judged += 1;
            wrong += usize::from(!std::mem::take(&mut history).judge());
        } else if history.add(&line).is_none() {
            eprintln!("line {}: {line:?} is not an operation", number + 1);
            std::process::exit(2);
        }
    }
    println!("{judged} histories, {wrong} not linearizable");
}
