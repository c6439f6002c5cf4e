use super::queues::Pair;
use super::registers::Settings;
use super::splitter::{Piece, Span, Splitter};
use crate::function::configuration::Configuration;
use crate::function::{Given, BEAT, NEVER, PAYLOAD};
use crate::packet::{Header, Id, Kind};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Writes ranges, with words that are their addresses and the seed.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Writer {
    splitter: Splitter,
    pieces: Pair<Piece>,
    /// Requests whose words are still to be generated, and those being generated.
    patterns: Pair<Span>,
    making: Option<Span>,
    /// The time from which on the next words are generated.
    source_free: u64,
    /// From when on a beat has been copied.
    open: u64,
    /// When the last packets of requests have left.
    dones: VecDeque<u64>,
    data: Vec<u8>,
}

impl Writer {
    pub(super) fn free_at(&self) -> u64 {
        self.splitter.free_at().max(self.patterns.free_at())
    }

    pub(super) fn take(&mut self, now: u64, span: Span) {
        self.splitter.take(now, span);
        self.patterns.push(now, span);
    }

    fn moves(&self) -> u64 {
        self.splitter.ready().max(self.pieces.free_at())
    }

    /// Time at which the generation of the next words starts.
    fn makes(&self) -> u64 {
        match (&self.making, self.patterns.front()) {
            (None, Some((at, _))) => at.max(self.source_free),
            _ => NEVER,
        }
    }

    pub(super) fn due(&self) -> u64 {
        let done = self.dones.front().copied().unwrap_or(NEVER);
        self.splitter.due().min(self.moves()).min(self.makes()).min(done)
    }

    pub(super) fn step(&mut self, now: u64, configuration: &Configuration) {
        if self.moves() == now {
            if let Some(piece) = self.splitter.give(now) {
                self.pieces.push(now, piece);
            }
        }
        if self.splitter.due() == now {
            self.splitter
                .step(now, configuration.allowed().payload().min(PAYLOAD));
        }
        if self.makes() == now {
            self.making = self.patterns.pop(now);
        }
    }

    /// Whether a request is done in this cycle.
    pub(super) fn done_at(&mut self, now: u64) -> bool {
        self.dones.front() == Some(&now) && self.dones.pop_front().is_some()
    }

    /// The time from which on a packet is ready to leave, and its data credits.
    pub(super) fn ready(&self) -> (u64, u64) {
        self.pieces
            .front()
            .map_or((NEVER, 0), |(at, piece)| (at, piece.beats))
    }

    /// A packet leaves: its header now, its beats as they are copied. Returns the cycle of the last one.
    pub(super) fn leave(
        &mut self,
        now: u64,
        id: Id,
        settings: &Settings,
        give: &mut impl FnMut(u64, Given<'_>),
    ) -> u64 {
        let Some(piece) = self.pieces.pop(now) else {
            return now;
        };
        let gap = settings.copy.max(1);
        let last = (now + 1).max(self.open) + (piece.beats - 1) * gap;
        self.open = last + gap;
        if piece.last {
            self.making = None;
            self.source_free = last + 1;
            self.dones.push_back(last);
        }
        self.data.resize((piece.beats * BEAT) as usize, 0);
        let mut word = piece.address.wrapping_add(settings.seed);
        for bytes in self.data.chunks_exact_mut(8) {
            bytes.copy_from_slice(&word.to_le_bytes());
            word = word.wrapping_add(8);
        }
        let words = (piece.beats * BEAT / 4) as u16;
        let header = Header::memory(Kind::MemoryWrite, id, 0, piece.address, words);
        give(last + 1, Given::Packet(&header, &self.data));
        last
    }

    pub(super) fn is_idle(&self) -> bool {
        self.splitter.is_idle() && self.pieces.is_empty() && self.dones.is_empty()
    }
}
