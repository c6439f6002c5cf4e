use super::registers::Settings;
use super::splitter::Span;
use crate::function::{Given, NEVER};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Maximum number of outstanding requests.
const OUTSTANDING: u64 = 1024;

/// Makes the requests of a run, and stamps them.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Generator {
    pub(super) writes: bool,
    /// The run has had a fault.
    pub(super) failed: bool,
    running: bool,
    left: u64,
    offset: u64,
    /// The earliest cycle of the next request.
    next: u64,
    outstanding: u64,
    /// Times at which outstanding requests were issued, by the clock of the stamps.
    flying: VecDeque<u32>,
    /// The difference between a cycle and a stamp: the clock of the stamps advances only while a request is
    /// outstanding.
    behind: u64,
    /// Its value when the last outstanding request completed.
    stopped: u64,
    pub(super) issued: u64,
    pub(super) done: u64,
    /// The cycle in which a run ends, until it is taken.
    pub(super) ends: Option<u64>,
}

impl Generator {
    /// A run begins, of writes or of reads.
    pub(super) fn begin(&mut self, now: u64, writes: bool, settings: &Settings) {
        self.writes = writes;
        self.failed = false;
        self.left = settings.count;
        self.outstanding = settings.outstanding.min(OUTSTANDING);
        self.running = true;
        if self.left == 0 {
            self.end(now);
        }
        self.offset = 0;
        self.next = self.next.max(now);
    }

    /// The run makes no more requests.
    pub(super) fn stop(&mut self, now: u64) {
        self.left = 0;
        self.end(now + 1);
    }

    pub(super) fn is_running(&self) -> bool {
        self.running
    }

    /// When it makes its next request.
    pub(super) fn due(&self, reader_free: u64, writer_free: u64) -> u64 {
        if self.left == 0 || self.failed || self.flying.len() as u64 >= self.outstanding {
            return NEVER;
        }
        self.next.max(if self.writes { writer_free } else { reader_free })
    }

    pub(super) fn issue(&mut self, now: u64, settings: &Settings) -> Option<Span> {
        if self.flying.is_empty() {
            self.behind = self.stopped.wrapping_sub(now);
        }
        self.flying.push_back(now.wrapping_add(self.behind) as u32);
        self.issued += 1;
        self.left -= 1;
        self.next = now + settings.interval.max(1);
        let span = Span {
            address: settings.base.wrapping_add(self.offset),
            bytes: settings.size,
        };
        self.offset = (self.offset + settings.stride) & settings.mask;
        Some(span)
    }

    /// The oldest request is done.
    pub(super) fn finish(&mut self, now: u64, give: &mut impl FnMut(u64, Given<'_>)) {
        let Some(issued) = self.flying.pop_front() else {
            return;
        };
        let done = now.wrapping_add(self.behind);
        self.done += 1;
        self.next = self.next.max(now + 1);
        if self.flying.is_empty() {
            self.stopped = done + 1;
        }
        self.end(now + 1);
        give(
            now,
            Given::Stamp(u64::from(issued) | u64::from(done as u32) << 32),
        );
    }

    /// The run ends in this cycle, if it makes no more requests and all are done.
    fn end(&mut self, cycle: u64) {
        if self.running && (self.left == 0 || self.failed) && self.flying.is_empty() {
            self.running = false;
            self.ends = Some(cycle);
        }
    }
}
