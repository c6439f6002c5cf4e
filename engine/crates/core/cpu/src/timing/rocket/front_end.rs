use super::predictor::{Flow, Guess, PACKET_BYTES};
use super::schedule::Step;
use super::{Rocket, RocketBlock, Run};
use crate::timing::explain::Count;
use rackwright_memory::AccessKind;
use rackwright_time::Cycle;

/// The times of fetches: packets, their lines, and the targets of branches and jumps.
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
        if guess.taken {
            self.stray_to_target(place.end, fetch, retired);
        }
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
            self.stray(packet(end) + PACKET_BYTES, fetch + 1, retired);
            self.outcomes.learn(guess, true, true, retired);
            self.targets.correct(end, target);
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

    /// Whether the target is so late that the pipeline treats the jump as mispredicted.
    #[inline]
    pub(super) fn is_late(&self, known: bool, fetch: u64, retired: u64) -> bool {
        self.next_fetch(known, fetch) + 2 > retired
    }

    /// Time of the fetch of the packet after a jump whose own packet is fetched in cycle `fetch`, and whose target is
    /// known then or found only in this packet.
    #[inline]
    fn next_fetch(&self, known: bool, fetch: u64) -> u64 {
        let front_end = &self.parameters.front_end;
        fetch + if known { front_end.known } else { front_end.found }
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
            return self.next_fetch(true, fetch);
        }
        let late = self.is_late(false, fetch, retired);
        if late || retired <= fetch + front_end.depth + 1 {
            self.targets.learn(end, target, flow);
        }
        if late {
            self.mispredicted(retired)
        } else {
            self.next_fetch(false, fetch)
        }
    }

    /// The front end restarts when the unexpected instruction retires.
    #[inline]
    pub(super) fn mispredicted(&mut self, retired: u64) -> u64 {
        self.explain(Count::Mispredictions, 1);
        self.expect(Count::Branch);
        retired
    }

    /// Until the misprediction of a jump that retires at `retired` is detected, the front end continues at `address`
    /// from cycle `fetch` on, as far as its queue accepts packets. The known calls and returns on this path change the
    /// stack, which is not repaired.
    #[cold]
    fn stray(&mut self, mut address: u64, fetch: u64, retired: u64) {
        // The queue has the packet of the jump itself, too.
        let full = fetch + self.parameters.front_end.ahead.saturating_sub(1);
        let found_out = retired.saturating_sub(FOUND_OUT);
        for _ in fetch..found_out.min(full) {
            address = self.stray_on(address);
        }
    }

    /// The same after a branch that was wrongly predicted to be taken, if its target was known.
    #[cold]
    fn stray_to_target(&mut self, end: u64, fetch: u64, retired: u64) {
        if let Some((target, _)) = self.targets.look_up(end) {
            self.stray(target, self.next_fetch(true, fetch), retired);
        }
    }

    /// The address at which the front end continues, on a wrong path, after the packet of `address`.
    fn stray_on(&mut self, address: u64) -> u64 {
        let sequential = packet(address) + PACKET_BYTES;
        let Some((end, target, flow)) = self.targets.from(address) else {
            return sequential;
        };
        match flow {
            Flow::Branch if !self.outcomes.would_take(packet(end)) => sequential,
            Flow::Branch | Flow::Jump => target,
            Flow::Call => {
                self.returns.push(end + 2);
                target
            }
            Flow::Return => {
                let back = self.returns.peek();
                self.returns.pop();
                back.unwrap_or(target)
            }
        }
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
            (Some((address, Flow::Return)), _) if fetch > self.pushed => {
                self.returns.peek().or(Some(address))
            }
            (Some((address, _)), _) => Some(address),
            (None, false) => Some(target),
            (None, true) if flow == Flow::Return => self.returns.peek(),
            (None, true) => None,
        };
        self.update_returns(flow, end, fetch);
        if guessed == Some(target) {
            return self.follow(known.is_some(), end, target, flow, fetch, retired);
        }
        if let Some(guessed) = guessed {
            self.stray(guessed, self.next_fetch(known.is_some(), fetch), retired);
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

/// Number of cycles before retirement at which a misprediction is detected; packets fetched before that still enter the
/// queue.
const FOUND_OUT: u64 = 1;

#[inline]
pub(super) fn packet(address: u64) -> u64 {
    address & !(PACKET_BYTES - 1)
}
