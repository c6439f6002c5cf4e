/// Number of polls between which a thread only pauses: windows last microseconds, and a system call takes as long.
const PAUSES: u32 = 512;

/// Number of polls after which a thread sleeps; between the later ones, it yields its processor. They take about a
/// millisecond: the visits that it waits for seldom take longer.
const LOOKS: u32 = 4_096;

/// How long a thread polls for another one's next round before it sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Patience {
    looks: u32,
}

impl Patience {
    /// The patience for a number of threads on a number of processors. If there are fewer processors than threads, the
    /// awaited thread may need the processor of the waiting one.
    pub(crate) fn of(threads: usize, processors: usize) -> Patience {
        let looks = if threads <= processors { LOOKS } else { 0 };
        Patience { looks }
    }

    /// The patience for a number of threads on this host.
    pub(crate) fn on_this_host(threads: usize) -> Patience {
        #[expect(
            clippy::disallowed_methods,
            reason = "how a thread waits does not show in what it computes"
        )]
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Patience::of(threads, processors)
    }

    /// Whether a thread polls again after `looks` unsuccessful polls. If so, a moment has passed.
    #[inline]
    pub(crate) fn looks_again(self, looks: u32) -> bool {
        if looks >= self.looks {
            return false;
        }
        if looks < PAUSES {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
        true
    }
}
