use crate::{Peer, Random, Selection};
use rackwright_ethernet::Mac;
use std::collections::BTreeMap;

/// A client's choice of the next server.
#[derive(Clone, Debug)]
pub(crate) enum Selector {
    Random,
    RoundRobin {
        next: usize,
    },
    PowerOfTwo {
        /// From a hardware address to the index of the peer.
        index: BTreeMap<Mac, usize>,
        /// Outstanding requests at each peer as of its last response.
        loads: Vec<u16>,
    },
}

impl Selector {
    pub(crate) fn new(selection: Selection, peers: &[Peer], random: &mut Random) -> Selector {
        match selection {
            Selection::Random => Selector::Random,
            Selection::RoundRobin => Selector::RoundRobin {
                next: random.below(peers.len()),
            },
            Selection::PowerOfTwo => Selector::PowerOfTwo {
                index: peers.iter().map(|peer| peer.mac).zip(0..).collect(),
                loads: vec![0; peers.len()],
            },
        }
    }

    /// The index of one of `peers` peers.
    #[inline]
    pub(crate) fn choose(&mut self, peers: usize, random: &mut Random) -> usize {
        if peers == 1 {
            return 0;
        }
        match self {
            Selector::Random => random.below(peers),
            Selector::RoundRobin { next } => {
                *next = (*next + 1) % peers;
                *next
            }
            Selector::PowerOfTwo { loads, .. } => {
                let one = random.below(peers);
                let other = (one + 1 + random.below(peers - 1)) % peers;
                match loads[other] < loads[one] {
                    true => other,
                    false => one,
                }
            }
        }
    }

    /// Processes the number of outstanding requests in a response.
    #[inline]
    pub(crate) fn heard(&mut self, from: Mac, load: u16) {
        if let Selector::PowerOfTwo { index, loads } = self {
            if let Some(peer) = index.get(&from) {
                loads[*peer] = load;
            }
        }
    }
}
