use crate::lanes::{Lane, Lanes};
use crate::shared::Shared;
use rackwright_datagram::Inbox;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages received at once.
const BATCH: usize = 32;

/// How often a socket with answers is read before others have their turn. Sockets of clients are read once: with more
/// than can be done, what is dropped should be what nobody has worked on yet.
const TURNS: usize = 4;

/// How often a thread that is to end looks whether it may.
const DRAIN_LOOK: Duration = Duration::from_millis(1);

/// One thread of a balancer.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) lanes: Lanes,
}

impl Worker {
    /// Receives and sends until it is told to end.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut inbox = Inbox::new(BATCH);
        let mut ready = Vec::new();
        let mut is_refusing = false;
        let mut is_drained = false;
        while !self.shared.stop.load(Ordering::Acquire) {
            let is_draining = self.shared.draining.load(Ordering::Acquire);
            if is_draining && !is_refusing {
                is_refusing = true;
                self.lanes.refuse_clients();
            }
            self.wait(is_draining, &mut ready)?;
            ready.sort_unstable_by_key(|token| matches!(Lane::of(*token), Lane::Clients(_)));
            for token in &ready {
                self.read(Lane::of(*token), &mut inbox)?;
            }
            let changes = self.shared.take_changes();
            if !changes.is_empty() {
                self.lanes.change(&changes)?;
            }
            if self.lanes.next_timer() <= self.shared.now() {
                self.lanes.timer()?;
            }
            // What clients had sent before is read when a wait finds nothing any more.
            let is_quiet = is_refusing && ready.is_empty() && self.lanes.open() == 0;
            if is_quiet && !is_drained && self.shared.core().waiting() == 0 {
                is_drained = true;
                self.shared.drained.fetch_add(1, Ordering::AcqRel);
            }
        }
        Ok(())
    }

    /// Waits until something can be received or is to be done.
    fn wait(&mut self, is_draining: bool, ready: &mut Vec<u64>) -> io::Result<()> {
        if self.shared.settings.busy_poll {
            return self.lanes.poll.wait(Some(Duration::ZERO), ready);
        }
        let next = self.shared.start + Duration::from_nanos(self.lanes.next_timer());
        let deadline = match is_draining {
            true => next.min(Instant::now() + DRAIN_LOOK),
            false => next,
        };
        self.lanes.poll.wait_until(deadline, ready)
    }

    fn read(&mut self, lane: Lane, inbox: &mut Inbox) -> io::Result<()> {
        let turns = match lane {
            Lane::Clients(_) => 1,
            _ => TURNS,
        };
        for _ in 0..turns {
            if !self.lanes.receive(lane, inbox)? {
                break;
            }
        }
        Ok(())
    }
}
