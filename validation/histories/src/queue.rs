//! A bounded queue: `push|pop tries|waits PLACES ASKED [VALUE…]`. ASKED is the number of elements that the operation
//! was for; the values are those that were pushed or popped.

use crate::Specification;
use stateright::semantics::SequentialSpec;

/// The elements of a queue, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    elements: Vec<u64>,
}

/// A push or a pop of up to `asked` elements, or of exactly as many if it waits, of a queue with so many places.
#[derive(Clone, Debug)]
pub struct Call {
    is_push: bool,
    waits: bool,
    places: usize,
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
            call.places - self.elements.len()
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

impl Specification for Queue {
    fn parse(words: &[&str]) -> Option<(Call, Vec<u64>)> {
        let [kind, manner, ref numbers @ ..] = *words else {
            return None;
        };
        let numbers: Option<Vec<u64>> = numbers.iter().map(|word| word.parse().ok()).collect();
        let [places, asked, ref values @ ..] = numbers?[..] else {
            return None;
        };
        let call = Call {
            is_push: kind == "push",
            waits: manner == "waits",
            places: places as usize,
            asked: asked as usize,
        };
        Some((call, values.to_vec()))
    }
}
