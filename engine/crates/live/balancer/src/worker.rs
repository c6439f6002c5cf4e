use crate::lanes::{Lane, Lanes};
use crate::shared::Shared;
use rackwright_datagram::Inbox;
use rackwright_xdp::Incoming;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages received at once.
const BATCH: usize = 32;

/// Number of consecutive reads of a socket with responses before others are read. Sockets of clients are read once:
/// under overload, the dropped requests should be those without work done for them.
const TURNS: usize = 4;

/// Number of consecutive receptions of frames before sockets are polled.
const FRAME_TURNS: usize = 8;

/// Number of polls for frames before a thread that never sleeps polls sockets.
const SPINS: usize = 64;

/// Interval at which a draining thread checks whether it may end, or a thread retries frames for which the kernel had
/// no room.
const DRAIN_LOOK: Duration = Duration::from_millis(1);

/// One thread of a balancer.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) lanes: Lanes,
    /// The frames of a queue of an interface, if this thread has one.
    pub(crate) incoming: Option<Incoming>,
    /// Number of consecutive receptions of frames without a poll of sockets.
    pub(crate) frame_turns: usize,
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
            // Earlier datagrams of clients have been read when a wait finds none any more.
            let is_quiet = is_refusing && ready.is_empty() && self.lanes.open() == 0;
            if is_quiet && !is_drained && self.shared.core().waiting() == 0 {
                is_drained = true;
                self.shared.drained.fetch_add(1, Ordering::AcqRel);
            }
        }
        Ok(())
    }

    /// Waits until a datagram can be received or a timer event is due.
    fn wait(&mut self, is_draining: bool, ready: &mut Vec<u64>) -> io::Result<()> {
        if self.are_frames_there() {
            ready.clear();
            ready.push(Lane::Frames.token());
            return Ok(());
        }
        if self.lanes.is_waiting() {
            self.lanes.flush()?;
        }
        if self.shared.settings.lanes.busy_poll {
            return self.lanes.poll.wait(Some(Duration::ZERO), ready);
        }
        let next = self.shared.start + Duration::from_nanos(self.lanes.next_timer());
        let deadline = match is_draining || self.lanes.is_waiting() {
            true => next.min(Instant::now() + DRAIN_LOOK),
            false => next,
        };
        self.lanes.poll.wait_until(deadline, ready)
    }

    /// Whether frames are available, which needs no system call; sometimes the kernel is called anyway, for the
    /// sockets.
    fn are_frames_there(&mut self) -> bool {
        let is_turn = self.frame_turns < FRAME_TURNS;
        let spins = if self.shared.settings.lanes.busy_poll {
            SPINS
        } else {
            1
        };
        let incoming = self.incoming.as_ref().filter(|_| is_turn);
        let is_ready = |incoming: &Incoming| {
            (0..spins).any(|_| {
                std::hint::spin_loop();
                incoming.is_ready()
            })
        };
        let are_there = incoming.is_some_and(is_ready);
        self.frame_turns = if are_there { self.frame_turns + 1 } else { 0 };
        are_there
    }

    fn read(&mut self, lane: Lane, inbox: &mut Inbox) -> io::Result<()> {
        if let (Lane::Frames, Some(incoming)) = (lane, &mut self.incoming) {
            self.lanes.receive_frames(incoming)?;
            return Ok(());
        }
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
