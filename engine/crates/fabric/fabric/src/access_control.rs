//! Access control services of a port above others' links (PCI Express 5.0, 6.12 and 7.7.8): which packets from below may
//! go directly to a neighbour.

use crate::class::Class;
use crate::packet::Header;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Number of the extended capability, in its first version.
const CAPABILITY: u32 = 0x0001_000d;
/// The services that there are: source validation, redirection of requests and of completions, upstream forwarding.
const VALIDATES: u32 = 1;
const REDIRECTS_REQUESTS: u32 = 1 << 2;
const REDIRECTS_COMPLETIONS: u32 = 1 << 3;
const FORWARDS_UP: u32 = 1 << 4;
const SERVICES: u32 = VALIDATES | REDIRECTS_REQUESTS | REDIRECTS_COMPLETIONS | FORWARDS_UP;

/// The registers of the capability.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct AccessControl {
    enabled: u32,
}

impl AccessControl {
    /// Words of the capability.
    pub(crate) const WORDS: u64 = 2;

    /// A word of the capability.
    pub(crate) fn read(&self, word: u64) -> u32 {
        match word {
            0 => CAPABILITY,
            _ => self.enabled << 16 | SERVICES,
        }
    }

    /// Writes the bits of a word that `chosen` has.
    pub(crate) fn write(&mut self, word: u64, chosen: u32, data: u32) {
        if word == 1 {
            let (chosen, data) = (chosen >> 16, data >> 16);
            self.enabled = (data & chosen | self.enabled & !chosen) & SERVICES;
        }
    }

    /// Whether a request from below violates it: its requester is on none of the buses there.
    pub(crate) fn is_violated(&self, header: &Header, below: &RangeInclusive<u8>) -> bool {
        let is_request = header.kind.class() != Class::Completion;
        self.enabled & VALIDATES != 0 && is_request && !below.contains(&header.requester.bus())
    }

    /// Whether a packet for a neighbour goes to the root complex instead. Relaxed completions never do.
    pub(crate) fn redirects(&self, header: &Header) -> bool {
        let service = match header.kind.class() {
            Class::Completion if header.is_relaxed() => return false,
            Class::Completion => REDIRECTS_COMPLETIONS,
            _ => REDIRECTS_REQUESTS,
        };
        self.enabled & service != 0
    }

    /// Whether a packet from below whose target is also below goes on: upwards in a switch, and back in the root complex.
    pub(crate) fn forwards_up(&self) -> bool {
        self.enabled & FORWARDS_UP != 0
    }
}
