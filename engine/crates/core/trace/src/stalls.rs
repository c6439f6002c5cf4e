//! Reasons for cycles in which no instruction retired, by function.

use crate::names::Function;

/// The most reasons that a timing model has.
const ROOM: usize = 8;

/// Cycles by reason.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Reasons([u64; ROOM]);

impl Reasons {
    /// The first counts of a model that has `stalls` reasons.
    #[inline]
    pub(crate) fn of(counts: &[u64], stalls: usize) -> Reasons {
        let mut reasons = Reasons::default();
        reasons.0[..stalls].copy_from_slice(&counts[..stalls]);
        reasons
    }

    pub(crate) fn counts(&self) -> &[u64] {
        &self.0
    }

    /// Adds the difference between `before` and `after`.
    #[inline]
    fn add(&mut self, before: &Reasons, after: &Reasons) {
        for ((sum, after), before) in self.0.iter_mut().zip(after.0).zip(before.0) {
            *sum += after - before;
        }
    }
}

/// The reasons of all functions.
#[derive(Default, Debug)]
pub(crate) struct Stalls {
    /// The names of the reasons; if there are none, nothing is recorded.
    names: &'static [&'static str],
    present: Reasons,
    accounted: Reasons,
    functions: Vec<Reasons>,
}

impl Stalls {
    /// Of a model that has these reasons.
    pub(crate) fn of(names: &'static [&'static str]) -> Stalls {
        Stalls {
            names,
            ..Stalls::default()
        }
    }

    /// The names of the reasons.
    pub(crate) fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// Updates the model's current counters.
    #[inline(always)]
    pub(crate) fn update(&mut self, present: Reasons) {
        if !self.names.is_empty() {
            self.present = present;
        }
    }

    /// Attributes the counts since the last call to `function`.
    #[inline]
    pub(crate) fn account(&mut self, function: Function) {
        if self.names.is_empty() {
            return;
        }
        let index = function.0 as usize;
        if index >= self.functions.len() {
            self.functions.resize(index + 1, Reasons::default());
        }
        self.functions[index].add(&self.accounted, &self.present);
        self.accounted = self.present;
    }

    /// Discards the counts since the last call.
    pub(crate) fn skip(&mut self) {
        self.accounted = self.present;
    }

    pub(crate) fn of_function(&self, function: Function) -> Option<&Reasons> {
        self.functions.get(function.0 as usize)
    }
}
