//! A key of a store: `OPERATION ARGUMENT EXPECTED OUTCOME VALUE VERSION`, as memcached has them. The argument is the
//! value to store or the number to add, EXPECTED the version that a compare and set is for. Numbers are 0 where there
//! is none.

use crate::Specification;
use stateright::semantics::SequentialSpec;

/// What a key holds. Each change gives it a version above all before; which one is seen when it is read.
#[derive(Clone, Debug, Default)]
pub struct Key {
    value: Option<u64>,
    /// The version of the item if it `is_read`, otherwise one that is below it.
    version: u64,
    is_read: bool,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    operation: String,
    argument: u64,
    expected: u64,
}

/// The outcome of a request, with the value and the version that it returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    outcome: String,
    value: u64,
    version: u64,
}

impl Key {
    fn can_have(&self, version: u64) -> bool {
        if self.is_read {
            version == self.version
        } else {
            version > self.version
        }
    }

    fn change(&mut self, value: Option<u64>) {
        self.value = value;
        self.is_read = false;
    }

    /// An item has the expected version, or none that the one who asks can have read.
    fn compare_and_set(&mut self, request: &Request, outcome: &str) -> bool {
        if outcome == "exists" {
            return !(self.is_read && request.expected == self.version);
        }
        if outcome != "ok" || !self.can_have(request.expected) {
            return false;
        }
        self.version = request.expected;
        self.change(Some(request.argument));
        true
    }

    fn store(&mut self, request: &Request, outcome: &str) -> bool {
        let (stores, refusal) = match request.operation.as_str() {
            "add" => (self.value.is_none(), "exists"),
            "replace" => (self.value.is_some(), "missing"),
            _ => (true, ""),
        };
        if stores {
            self.change(Some(request.argument));
        }
        outcome == if stores { "ok" } else { refusal }
    }

    /// A request for an item with such a value, which succeeds.
    fn succeed(&mut self, value: u64, request: &Request, answer: &Answer) -> bool {
        match request.operation.as_str() {
            "get" => answer.value == value,
            "get_version" => {
                let may = self.can_have(answer.version);
                (self.version, self.is_read) = (answer.version, true);
                may && answer.value == value
            }
            "delete" => {
                self.change(None);
                true
            }
            "increment" => {
                self.change(Some(value + request.argument));
                answer.value == value + request.argument
            }
            other => panic!("{other:?} is no operation of a store"),
        }
    }
}

impl SequentialSpec for Key {
    type Op = Request;
    type Ret = Answer;

    /// The tester asks [`SequentialSpec::is_valid_step`], since versions are the store's own.
    fn invoke(&mut self, request: &Request) -> Answer {
        unreachable!("{request:?} is not invoked, but compared with its answer")
    }

    fn is_valid_step(&mut self, request: &Request, answer: &Answer) -> bool {
        let outcome = answer.outcome.as_str();
        match (request.operation.as_str(), self.value) {
            ("set" | "add" | "replace", _) => self.store(request, outcome),
            (_, None) => outcome == "missing",
            ("compare_and_set", _) => self.compare_and_set(request, outcome),
            (_, Some(value)) => outcome == "ok" && self.succeed(value, request, answer),
        }
    }
}

impl Specification for Key {
    fn parse(words: &[&str]) -> Option<(Request, Answer)> {
        let [operation, argument, expected, outcome, value, version] = *words else {
            return None;
        };
        let request = Request {
            operation: operation.to_owned(),
            argument: argument.parse().ok()?,
            expected: expected.parse().ok()?,
        };
        let answer = Answer {
            outcome: outcome.to_owned(),
            value: value.parse().ok()?,
            version: version.parse().ok()?,
        };
        Some((request, answer))
    }
}
