//! The core's part of vector instructions: it issues them to the unit, and stalls when necessary.

use super::Rocket;
use crate::instruction::Register;
use crate::timing::explain::Count;
use crate::timing::vector::VectorUnit;
use crate::timing::VectorRun;
use rackwright_memory::AccessKind;

impl<const EXPLAINED: bool> Rocket<EXPLAINED> {
    /// Issues a register-to-register instruction that would retire at `at` to the unit, and waits for a result in
    /// `target` of the core; returns by how much it retires later.
    #[cold]
    pub(super) fn vector_operation(&mut self, at: u64, word: u32, target: Register, value: u64) -> u64 {
        let mut unit = self.take_unit();
        let given = unit.arithmetic(at, word, VectorRun::unpack(value));
        self.vector.unit = Some(unit);
        let until = if target == Register::NONE {
            given.taken
        } else {
            given.result
        };
        self.wait(at, until)
    }

    /// The same of a load or `store`; `values` begins with its [`VectorRun`] and its lines.
    #[cold]
    pub(super) fn vector_access(&mut self, at: u64, word: u32, store: bool, values: &[u64]) -> u64 {
        let Some((shape, lines)) = values.split_first() else {
            return 0;
        };
        let shape = VectorRun::unpack(*shape);
        let lines = lines[..usize::from(shape.lines)].iter().copied();
        // The unit is absent while it looks up lines, which the rest of the core does for it.
        let mut unit = self.take_unit();
        let taken = unit.access(at, word, shape, store, lines, |at, address| {
            at + self.vector_line(at, address, store)
        });
        self.vector.quiet = unit.quiet();
        self.vector.unit = Some(unit);
        self.wait(at, taken)
    }

    fn take_unit(&mut self) -> Box<VectorUnit> {
        self.vector
            .unit
            .take()
            .expect("the unit is there between two instructions")
    }

    /// Looks up a line at `at`; returns by how much later it is present.
    fn vector_line(&mut self, at: u64, address: u64, store: bool) -> u64 {
        if !store {
            return if self.data.contains(address) {
                0
            } else {
                self.fetch_data(at, address, AccessKind::Read).late
            };
        }
        match self.data.modify(address) {
            Some(false) => 0,
            Some(true) => self.fetch_permission(at, address),
            None => {
                let late = self.fetch_data(at, address, AccessKind::Own).late;
                self.data.modify(address);
                late
            }
        }
    }

    /// Waits from `at` until `until`; returns the number of cycles.
    #[cold]
    pub(super) fn wait(&mut self, at: u64, until: u64) -> u64 {
        let late = until.saturating_sub(at);
        self.explain(Count::Waiting, late);
        late
    }
}
