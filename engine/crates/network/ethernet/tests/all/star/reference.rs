//! The switch against a reference that steps every flit in every cycle: same frames, same cycles, same
//! drops, for random traffic and for any window.

use super::common::{frame, Setup, Star};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rackwright_contract::flits_of;
use rackwright_ethernet::{Frame, Mac};
use rackwright_time::network::Cycle;
use std::collections::VecDeque;

/// A flit: its bytes, and whether it is the last of its frame.
type Flit = (Vec<u8>, bool);

/// One port of the reference: what has come of a frame, and the flits that wait to leave.
#[derive(Default)]
struct Port {
    coming: Vec<u8>,
    frames: VecDeque<VecDeque<Flit>>,
    held: u64,
    leaving: u64,
    dropped: u64,
    left: Vec<(u64, Vec<u8>)>,
    current: Vec<u8>,
}

impl Port {
    /// Sends one flit, if one waits.
    fn send(&mut self, cycle: u64) {
        let Some(flits) = self.frames.front_mut() else {
            return;
        };
        let (bytes, last) = flits.pop_front().expect("a frame has flits");
        self.leaving += bytes.len() as u64;
        self.current.extend(bytes);
        if last {
            self.held -= self.leaving;
            self.leaving = 0;
            self.frames.pop_front();
            self.left.push((cycle, std::mem::take(&mut self.current)));
        }
    }

    fn offer(&mut self, frame: &[u8], buffer: u64) {
        if self.held + frame.len() as u64 > buffer {
            self.dropped += 1;
            return;
        }
        self.held += frame.len() as u64;
        self.frames.push_back(owned(frame).collect());
    }
}

/// Steps a star cycle by cycle. Returns for every host what came and when, and what its port dropped.
fn step_by_step(setup: &Setup, scripts: &[Vec<(Cycle, Frame)>], cycles: u64) -> Vec<Port> {
    let mut ports: Vec<Port> = scripts.iter().map(|_| Port::default()).collect();
    let arriving: Vec<Vec<(u64, Flit)>> = scripts
        .iter()
        .map(|script| flits_on_link(setup, script))
        .collect();
    let mut switching: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
    for cycle in 0..cycles {
        for (port, flits) in arriving.iter().enumerate() {
            let Ok(index) = flits.binary_search_by_key(&cycle, |(at, _)| *at) else {
                continue;
            };
            let (bytes, last) = &flits[index].1;
            ports[port].coming.extend(bytes);
            if *last {
                switching.push_back((cycle + setup.latency, std::mem::take(&mut ports[port].coming)));
            }
        }
        while switching.front().is_some_and(|(ready, _)| *ready == cycle) {
            let (_, content) = switching.pop_front().unwrap();
            ports[usize::from(content[5])].offer(&content, setup.buffer_bytes);
        }
        ports.iter_mut().for_each(|port| port.send(cycle));
    }
    ports
}

fn owned(frame: &[u8]) -> impl Iterator<Item = Flit> + '_ {
    flits_of(frame).map(|flit| (flit.bytes.to_vec(), flit.last))
}

fn flits_on_link(setup: &Setup, script: &[(Cycle, Frame)]) -> Vec<(u64, Flit)> {
    let mut flits = Vec::new();
    for (first, frame) in script {
        let bytes = frame.to_bytes();
        flits.extend(
            owned(&bytes)
                .zip(first.0 + setup.link..)
                .map(|(flit, at)| (at, flit)),
        );
    }
    flits
}

/// Frames for other hosts, back to back or with gaps.
fn script(own: usize, hosts: usize, moves: &[(u8, u16, u8)]) -> Vec<(Cycle, Frame)> {
    let mut cycle = 0;
    let mut sends = Vec::new();
    for (index, (gap, bytes, to)) in moves.iter().enumerate() {
        let to = (own + 1 + usize::from(*to) % (hosts - 1)) % hosts;
        let frame = frame(Mac::assigned(to as u32), 14 + usize::from(*bytes), index as u8);
        cycle += u64::from(*gap / 4);
        let flits = frame.length().div_ceil(8) as u64;
        sends.push((Cycle::new(cycle), frame));
        cycle += flits;
    }
    sends
}

const HOSTS: usize = 4;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        rng_seed: RngSeed::Fixed(14),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn the_switch_equals_one_that_steps_every_flit(
        moves in proptest::collection::vec(
            proptest::collection::vec((any::<u8>(), 0..600_u16, 0..2_u8), 0..40), HOSTS),
        buffer_bytes in 600..5000_u64,
        latency in 0..40_u64,
        window in 1..=50_u64,
    ) {
        let setup = Setup { buffer_bytes, latency, window: Some(window), ..Setup::default() };
        let scripts: Vec<_> =
            moves.iter().enumerate().map(|(own, moves)| script(own, HOSTS, moves)).collect();
        let cycles = 20_000;
        let expected = step_by_step(&setup, &scripts, cycles);
        let mut star = Star::new(&setup, scripts);
        star.graph.run(Cycle::new(cycles));
        for (host, port) in expected.iter().enumerate() {
            let came: Vec<(u64, Vec<u8>)> = star
                .came(host)
                .iter()
                .map(|(cycle, frame)| (cycle.0 - setup.link, frame.to_bytes()))
                .collect();
            prop_assert_eq!(&came, &port.left, "host {}", host);
            let counters = star.the_switch().output_ports()[host].counters();
            prop_assert_eq!(counters.dropped, port.dropped);
            prop_assert_eq!(counters.offered, counters.sent + counters.dropped);
        }
    }
}
