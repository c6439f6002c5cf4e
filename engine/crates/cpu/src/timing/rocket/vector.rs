//! What the core does with vector instructions: it gives them to the unit, and waits where it has to.

use super::explain::Count;
use super::schedule::Step;
use super::{Rocket, Run};
use crate::instruction::Register;
use crate::timing::vector::VectorUnit;
use crate::timing::VectorRun;
use rackwright_memory::AccessKind;

impl<const EXPLAINED: bool> Rocket<EXPLAINED> {
    /// Gives an instruction to the unit that stays in the registers, and waits for a result in `target` of the core.
    #[cold]
    pub(super) fn vector_operation(
        &mut self,
        run: &mut Run,
        step: &Step,
        word: u32,
        target: Register,
        value: u64,
    ) {
        let at = run.start + u64::from(step.offset);
        let mut unit = self.take_unit();
        let given = unit.arithmetic(at, word, VectorRun::unpack(value));
        self.vector = Some(unit);
        let until = if target == Register::NONE {
            given.taken
        } else {
            given.result
        };
        self.wait_in_block(run, step, until);
    }

    /// Gives a load or `store` to the unit; behind its [`VectorRun`], `values` has the lines.
    #[cold]
    pub(super) fn vector_access(
        &mut self,
        run: &mut Run,
        step: &Step,
        word: u32,
        store: bool,
        values: &mut impl Iterator<Item = u64>,
    ) {
        let at = run.start + u64::from(step.offset);
        let shape = VectorRun::unpack(values.next().unwrap_or(0));
        // The unit is not there while it looks for lines, which is what the rest of the core does for it.
        let mut unit = self.take_unit();
        let lines = values.take(usize::from(shape.lines));
        let taken = unit.access(at, word, shape, store, lines, |at, address| {
            at + self.vector_line(at, address, store)
        });
        self.vector_quiet = unit.quiet();
        self.vector = Some(unit);
        self.wait_in_block(run, step, taken);
    }

    fn take_unit(&mut self) -> Box<VectorUnit> {
        self.vector
            .take()
            .expect("the unit is there between two instructions")
    }

    /// Looks for a line at `at`; returns how much later it is there.
    fn vector_line(&mut self, at: u64, address: u64, store: bool) -> u64 {
        if !store {
            return if self.data.contains(address) {
                0
            } else {
                self.fetch_data(at, address, AccessKind::Read).0
            };
        }
        match self.data.modify(address) {
            Some(false) => 0,
            Some(true) => self.fetch_permission(at, address),
            None => {
                let late = self.fetch_data(at, address, AccessKind::Own).0;
                self.data.modify(address);
                late
            }
        }
    }

    /// Has the instruction of a step retire no sooner than `until`.
    pub(super) fn wait_in_block(&mut self, run: &mut Run, step: &Step, until: u64) {
        let late = until.saturating_sub(run.start + u64::from(step.offset));
        self.explain(Count::Waiting, late);
        run.start += late;
    }
}
