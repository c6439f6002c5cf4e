use super::predictor::{Flow, Guess, PACKET_BYTES};
use super::schedule::Step;
use super::{Rocket, RocketBlock, Run};
use crate::timing::explain::Count;
use rackwright_memory::AccessKind;
use rackwright_time::Cycle;

/// What is fetched when: packets, their lines, and where branches and jumps lead.
impl<const EXPLAINED: bool> Rocket<EXPLAINED> {
    #[inline]
    pub(super) fn line(&mut self, run: &mut Run, step: &Step, address: u64) {
        if self.instructions.contains(address) {
            return;
        }
        let misses = &self.parameters.misses;
        let mut fetch = self.fetch_of(run, step.packet, step.offset);
        // When the instruction before reaches the memory stage first, the pipeline takes the missing
        // successor for a misprediction and starts the fetch again.
        let before = run.start + u64::from(step.offset) - 1;
        if fetch + misses.fetch_kill > before {
            fetch = fetch.max(before);
        }
        let request = fetch + misses.fetch_request;
        let data = self.fetch_line(request, address);
        let before = run.start;
        self.delay_fetch(run, step, data + self.parameters.misses.fetch_response);
        self.explain(Count::InstructionMisses, 1);
        self.explain(Count::InstructionCache, run.start - before);
    }

    /// Moves the run so that the step's packet is fetched at `fetch`.
    #[inline]
    pub(super) fn delay_fetch(&self, run: &mut Run, step: &Step, fetch: u64) {
        let at = run.start + u64::from(step.offset);
        run.start += (fetch + self.parameters.front_end.depth).saturating_sub(at);
        run.fetch = fetch - u64::from(step.packet);
    }

    /// When a packet of the block is fetched: one per cycle, but no further ahead of retirement than the queue holds.
    #[inline]
    pub(super) fn fetch_of(&self, run: &Run, packet: u8, offset: u16) -> u64 {
        let front_end = &self.parameters.front_end;
        let ahead = (run.start + u64::from(offset)).saturating_sub(front_end.depth + front_end.ahead);
        (run.fetch + u64::from(packet)).max(ahead)
    }

    #[cold]
    pub(super) fn fetch_line(&mut self, request: u64, address: u64) -> u64 {
        let request = Cycle::new(request);
        let data = self.memory.lock().access(request, address, AccessKind::Fetch);
        self.instructions.choose_next();
        self.instructions.replace(address);
        data.0
    }

    /// A branch within a block, or at its end, that was not taken.
    #[inline]
    pub(super) fn branch_not_taken(&mut self, run: &mut Run, step: &Step, block: &RocketBlock) {
        let place = &block.instructions[usize::from(step.index)];
        let fetch = self.fetch_of(run, step.packet, step.offset);
        let guess = self.outcomes.guess(packet(place.end), fetch);
        let retired = run.start + u64::from(step.offset);
        self.outcomes.learn(guess, false, guess.taken, retired);
        if !guess.taken {
            return;
        }
        self.explain(Count::Mispredictions, 1);
        run.fetch = retired.saturating_sub(u64::from(step.packet));
        if let Some(following) = block.instructions.get(usize::from(step.index) + 1) {
            let supplied = retired + self.parameters.front_end.depth;
            let lost = supplied.saturating_sub(run.start + u64::from(following.offset));
            self.explain(Count::Branch, lost);
            run.start += lost;
        } else {
            self.expect(Count::Branch);
        }
    }

    /// A branch that was taken; returns when its target is fetched.
    #[inline]
    pub(super) fn branch_taken(&mut self, end: u64, fetch: u64, retired: u64, target: u64) -> u64 {
        let guess: Guess = self.outcomes.guess(packet(end), fetch);
        if !guess.taken {
            self.outcomes.learn(guess, true, true, retired);
            self.targets.learn(end, target, Flow::Branch);
            return self.mispredicted(retired);
        }
        let known = self.targets.look_up(end).is_some();
        if known {
            self.targets.used(end);
        }
        let wrong = self.is_late(known, fetch, retired);
        self.outcomes.learn(guess, true, wrong, retired);
        self.follow(known, end, target, Flow::Branch, fetch, retired)
    }

    /// Whether the target comes so late that the pipeline takes the jump for mispredicted.
    #[inline]
    pub(super) fn is_late(&self, known: bool, fetch: u64, retired: u64) -> bool {
        let front_end = &self.parameters.front_end;
        let next = fetch + if known { front_end.known } else { front_end.found };
        next + 2 > retired
    }

    /// The front end follows a jump that it predicted right.
    #[inline]
    pub(super) fn follow(
        &mut self,
        known: bool,
        end: u64,
        target: u64,
        flow: Flow,
        fetch: u64,
        retired: u64,
    ) -> u64 {
        let front_end = &self.parameters.front_end;
        if known {
            return fetch + front_end.known;
        }
        let late = self.is_late(false, fetch, retired);
        if late || retired <= fetch + front_end.depth + 1 {
            self.targets.learn(end, target, flow);
        }
        if late {
            self.mispredicted(retired)
        } else {
            fetch + self.parameters.front_end.found
        }
    }

    /// The front end starts anew when the instruction that it did not expect retires.
    #[inline]
    pub(super) fn mispredicted(&mut self, retired: u64) -> u64 {
        self.explain(Count::Mispredictions, 1);
        self.expect(Count::Branch);
        retired
    }

    /// An unconditional jump; returns when its target is fetched.
    #[inline]
    pub(super) fn jump(
        &mut self,
        flow: Flow,
        indirect: bool,
        end: u64,
        fetch: u64,
        retired: u64,
        target: u64,
    ) -> u64 {
        let known = self.targets.look_up(end);
        let guessed = match (known, indirect) {
            (Some((_, Flow::Return)), _) if fetch > self.pushed => self.returns.peek(),
            (Some((address, _)), _) => Some(address),
            (None, false) => Some(target),
            (None, true) if flow == Flow::Return => self.returns.peek(),
            (None, true) => None,
        };
        self.update_returns(flow, end, fetch);
        if guessed == Some(target) {
            return self.follow(known.is_some(), end, target, flow, fetch, retired);
        }
        self.targets.learn(end, target, flow);
        self.mispredicted(retired)
    }

    #[inline]
    pub(super) fn update_returns(&mut self, flow: Flow, end: u64, fetch: u64) {
        match flow {
            Flow::Call => {
                self.returns.push(end + 2);
                self.pushed = fetch + 1;
            }
            Flow::Return => self.returns.pop(),
            Flow::Branch | Flow::Jump => {}
        }
    }
}

#[inline]
pub(super) fn packet(address: u64) -> u64 {
    address & !(PACKET_BYTES - 1)
}
