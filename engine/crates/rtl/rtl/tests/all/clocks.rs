//! A design with two clocks, of which the slower one has the command port.

use crate::host::{cache, toolchain};
use rackwright_contract::Command;
use rackwright_rtl::{BuildOptions, CommandResponse, Instance, Manifest};
use rackwright_time::unit::{Cycle, Cycles};
use std::path::Path;

/// The answers to commands that are due in these cycles, and how often the unit was busy.
fn answers(unit: &mut Instance, due: &[u64]) -> (Vec<CommandResponse>, u64) {
    for cycle in due {
        let command = Command {
            opcode: 0,
            funct: 0,
            rs1: 0,
            rs2: 0,
            rd: 7,
            xd: true,
        };
        unit.command(Cycle::new(*cycle), command);
    }
    let mut found = Vec::new();
    while found.len() < due.len() {
        found.extend(unit.step(unit.cycle() + Cycles::new(64)).command_responses);
    }
    (found, unit.event(0))
}

#[test]
fn ports_of_a_slow_clock_move_with_its_edges_whether_or_not_idle_cycles_are_skipped() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/clocks/manifest.json");
    let manifest = Manifest::read(&manifest).unwrap();
    let design = toolchain()
        .build(manifest, BuildOptions::default(), &cache())
        .unwrap();
    let due = [1001, 5000, 5001, 9003];
    let with = |skip: bool| {
        let mut unit = Instance::new(&design, None).unwrap();
        unit.skip_idle(skip);
        (answers(&mut unit, &due), unit.evaluated_cycles())
    };
    let ((found, busy), evaluated) = with(true);
    // Taken at 1004 and 5000, the first edges from their cycles on; three edges of four cycles each later the answer stands
    // there, and is taken with the next one. The third command waits until the second is answered.
    let cycles: Vec<u64> = found.iter().map(|answer| answer.cycle.0).collect();
    assert_eq!(cycles, [1020, 5016, 5036, 9020]);
    assert!(found.iter().all(|answer| answer.data == 12 && answer.rd == 7));
    assert_eq!(busy, 4 * 12);
    assert!(evaluated < 200, "{evaluated}");
    assert_eq!(with(false).0, (found, busy));
}
