/// The purpose of a thread's socket; with its index it is the token by which the thread waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    /// Clients of the service with that index.
    Clients(usize),
    /// The replica with that number.
    Replica(usize),
    /// Messages of other dispatchers.
    Peers,
    /// Responses of other dispatchers to requests redirected by this thread.
    Relayed,
    /// Frames of AF_XDP, of clients and replicas.
    Frames,
}

impl Lane {
    pub(crate) fn token(self) -> u64 {
        match self {
            Lane::Clients(index) => (index as u64) << 2,
            Lane::Replica(index) => (index as u64) << 2 | 1,
            Lane::Peers => 2,
            Lane::Relayed => 3,
            Lane::Frames => 1 << 2 | 2,
        }
    }

    pub(crate) fn of(token: u64) -> Lane {
        let index = (token >> 2) as usize;
        match token & 3 {
            0 => Lane::Clients(index),
            1 => Lane::Replica(index),
            2 if index == 0 => Lane::Peers,
            2 => Lane::Frames,
            _ => Lane::Relayed,
        }
    }
}
