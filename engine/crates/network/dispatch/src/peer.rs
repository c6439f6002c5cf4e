use crate::load::Load;
use crate::{PeerId, Report, MAX_SERVICES};
use arrayvec::ArrayVec;

/// Another dispatcher.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) id: PeerId,
    /// The indices of the services that both have.
    pub(crate) services: ArrayVec<u16, MAX_SERVICES>,
    /// Until when it is taken for alive.
    pub(crate) alive_until: u64,
    /// Time at which it is sent the current loads, unless a message is sent to it before.
    pub(crate) truth_at: u64,
    /// Which of its messages was the latest.
    latest: Option<(u32, u32)>,
}

impl Peer {
    pub(crate) fn new(id: PeerId, services: ArrayVec<u16, MAX_SERVICES>) -> Peer {
        Peer {
            id,
            services,
            alive_until: 0,
            truth_at: 0,
            latest: None,
        }
    }

    #[inline]
    pub(crate) fn is_alive(&self, now: u64) -> bool {
        now < self.alive_until
    }

    /// Whether a message is newer than all before. Any message of a peer that was assumed to be dead is new: its clock
    /// may have been reset.
    #[inline]
    pub(crate) fn accepts(&mut self, now: u64, report: &Report) -> bool {
        let is_new = match self.latest {
            Some((incarnation, sequence)) if self.is_alive(now) => {
                report.incarnation > incarnation
                    || report.incarnation == incarnation
                        && report.sequence.wrapping_sub(sequence).wrapping_sub(1) < u32::MAX / 2
            }
            _ => true,
        };
        if is_new {
            self.latest = Some((report.incarnation, report.sequence));
        }
        is_new
    }
}

/// The assumed state of a peer's replicas of one service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) load: Load,
    pub(crate) cores: u16,
    /// The load of one further request.
    pub(crate) step: Load,
}

impl View {
    /// Nothing is known.
    pub(crate) const UNKNOWN: View = View {
        load: Load::UNAVAILABLE,
        cores: 0,
        step: Load(0),
    };
}
