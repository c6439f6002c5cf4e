use rustix::event::{epoll, eventfd, EventfdFlags, Timespec};
use rustix::io::Errno;
use rustix::time::{
    timerfd_create, timerfd_settime, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags,
};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of sockets that one wait returns; the others follow in the next.
const EVENTS: usize = 64;

/// The token of a waker. No socket may have this token.
const WAKER: u64 = u64::MAX;

/// The token of the timer. No socket may have this token either.
const TIMER: u64 = u64::MAX - 1;

/// Longer than any wait.
const LONGEST_TIMER: Duration = Duration::from_secs(1 << 30);

/// Waits for several sockets at once.
pub struct Poll {
    epoll: OwnedFd,
    waker: Waker,
    timer: OwnedFd,
    /// The time to which the timer is set.
    armed: Option<Instant>,
}

/// Ends the wait of a [`Poll`] from elsewhere.
#[derive(Clone)]
pub struct Waker {
    event: Arc<OwnedFd>,
}

impl Waker {
    /// Ends the present wait, or the next one if there is none.
    pub fn wake(&self) {
        // It fails only when the counter is full, and then the wait ends anyhow.
        let _ = rustix::io::write(&*self.event, &1_u64.to_ne_bytes());
    }
}

impl Poll {
    /// A poll without sockets. Waits of the thread that makes this end as exactly as the kernel can.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn new() -> io::Result<Poll> {
        rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let poll = Poll {
            epoll,
            timer: timerfd_create(TimerfdClockId::Monotonic, flags)?,
            armed: None,
            waker: Waker {
                event: Arc::new(event),
            },
        };
        poll.add(&*poll.waker.event, WAKER)?;
        poll.add(&poll.timer, TIMER)?;
        Ok(poll)
    }

    /// Waits for this socket too, which is known by `token` then.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn add(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        Ok(epoll::add(
            &self.epoll,
            socket,
            epoll::EventData::new_u64(token),
            epoll::EventFlags::IN,
        )?)
    }

    /// Waits for it no more.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn remove(&self, socket: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// A handle that ends a wait from another thread.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Waits until a socket is readable, or until the timeout, and replaces the contents of `ready` by the tokens of
    /// ready sockets.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<u64>) -> io::Result<()> {
        ready.clear();
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let mut events = [std::mem::MaybeUninit::uninit(); EVENTS];
        match epoll::wait(&self.epoll, &mut events, timeout.as_ref()) {
            Ok((events, _)) => ready.extend(events.iter().map(|event| event.data.u64())),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(at) = ready.iter().position(|token| *token == WAKER) {
            ready.swap_remove(at);
            let _ = rustix::io::read(&*self.waker.event, &mut [0_u8; 8]);
        }
        if let Some(at) = ready.iter().position(|token| *token == TIMER) {
            ready.swap_remove(at);
            let _ = rustix::io::read(&self.timer, &mut [0_u8; 8]);
            self.armed = None;
        }
        Ok(())
    }

    /// The same until `deadline`, or somewhat before: the timer may still be set for an earlier one. If deadlines
    /// hardly change, the kernel thus has no timer to start and to stop in every wait.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn wait_until(&mut self, deadline: Instant, ready: &mut Vec<u64>) -> io::Result<()> {
        if self.armed.is_none_or(|armed| deadline < armed) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return self.wait(Some(left), ready);
            }
            self.arm(left)?;
            self.armed = Some(deadline);
        }
        self.wait(None, ready)
    }

    fn arm(&self, left: Duration) -> io::Result<()> {
        let (once, left) = (Duration::ZERO, left.min(LONGEST_TIMER));
        let [it_interval, it_value] = [once, left].map(|time| Timespec {
            tv_sec: time.as_secs() as _,
            tv_nsec: time.subsec_nanos().into(),
        });
        let timer = Itimerspec {
            it_interval,
            it_value,
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &timer)?;
        Ok(())
    }
}
