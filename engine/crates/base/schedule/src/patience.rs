/// Looks between which a thread only pauses: windows last microseconds, and the kernel's help takes as long.
const PAUSES: u32 = 512;

/// Looks after which a thread stops looking, between the later of which it lets others run that want its processor. They
/// take about a millisecond: the visits that it waits for seldom take longer.
const LOOKS: u32 = 4_096;

/// How long a thread looks for another one's next round before it sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Patience {
    looks: u32,
}

impl Patience {
    /// That of so many threads on so many processors. When not every thread has a processor, the one that is waited for
    /// may want the processor of the one that waits.
    pub(crate) fn of(threads: usize, processors: usize) -> Patience {
        let looks = if threads <= processors { LOOKS } else { 0 };
        Patience { looks }
    }

    /// That of so many threads on this host.
    pub(crate) fn on_this_host(threads: usize) -> Patience {
        #[expect(
            clippy::disallowed_methods,
            reason = "how a thread waits does not show in what it computes"
        )]
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Patience::of(threads, processors)
    }

    /// Whether a thread that has looked so often in vain is to look again. If so, a moment has passed.
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
