/// The times at which a hart was observed, and the part that has been attributed to functions.
#[derive(Default)]
pub(super) struct Account {
    /// Whether the hart is observed at present; when it was, up to now.
    is_on: bool,
    windows: Vec<(u64, u64)>,
    /// The time up to which cycles and instructions are accounted for, and the number of observed cycles.
    accounted: u64,
    cycles: u64,
    accounted_instructions: u64,
    instructions: u64,
}

impl Account {
    /// The hart is observed from now on; [`Account::start_at`] sets the time.
    pub(super) fn switch_on(&mut self) {
        self.is_on = true;
    }

    /// It is observed no longer.
    pub(super) fn switch_off(&mut self) {
        self.is_on = false;
    }

    /// The time before `now` was not observed.
    pub(super) fn start_at(&mut self, now: u64) {
        self.accounted = now;
        if self.is_on {
            self.windows.retain(|(begin, end)| begin < end);
            self.windows.push((now, now));
        }
    }

    /// Instructions were executed.
    #[inline(always)]
    pub(super) fn retired(&mut self, instructions: usize) {
        self.instructions += instructions as u64;
    }

    /// Accounts for the time up to `now`: cycles and instructions. None while the hart is not observed.
    pub(super) fn take(&mut self, now: u64) -> Option<(u64, u64)> {
        let cycles = now - std::mem::replace(&mut self.accounted, now);
        if !self.is_on {
            return None;
        }
        self.cycles += cycles;
        if let Some((_, end)) = self.windows.last_mut() {
            *end = now;
        }
        let before = std::mem::replace(&mut self.accounted_instructions, self.instructions);
        Some((cycles, self.instructions - before))
    }

    /// The time up to which cycles are accounted for.
    pub(super) fn accounted(&self) -> u64 {
        self.accounted
    }

    /// Cycles that were observed.
    pub(super) fn cycles(&self) -> u64 {
        self.cycles
    }

    /// First cycles of the times in which it was observed, and the first cycles after them.
    pub(super) fn windows(&self) -> &[(u64, u64)] {
        &self.windows
    }

    /// Instructions executed while it was observed.
    pub(super) fn instructions(&self) -> u64 {
        self.instructions
    }
}
