//! Streams and the interrupt line, through a unit that sends back what reaches it.

use rackwright_rtl::{
    BuildOptions, Cache, Design, Instance, InterruptChange, Manifest, StreamFlit, Toolchain,
};
use rackwright_time::{Cycle, Cycles};
use std::path::{Path, PathBuf};

fn design() -> Design {
    let root = std::env::var_os("RACKWRIGHT_VERILATOR_ROOT")
        .expect("RACKWRIGHT_VERILATOR_ROOT names Verilator's root folder; run the tests through ./rw test");
    let root = PathBuf::from(root);
    let tools = Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        compiler: std::env::var_os("RACKWRIGHT_CXX")
            .unwrap_or_else(|| "g++".into())
            .into(),
    };
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/repeat/manifest.json");
    let cache = Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("streams"));
    let manifest = Manifest::read(&manifest).unwrap();
    tools.build(manifest, BuildOptions::default(), &cache).unwrap()
}

fn flit(cycle: u64, port: u8, data: u64, last: bool) -> StreamFlit {
    StreamFlit {
        cycle,
        data,
        port,
        keep: if last { 0x07 } else { 0xff },
        last: u8::from(last),
    }
}

/// What leaves until cycle 2000 for flits given in steps of `window`, and the cycles evaluated.
fn repeated(window: Cycles, skip: bool) -> (Vec<StreamFlit>, Vec<InterruptChange>, u64) {
    let mut unit = Instance::new(&design(), None).unwrap();
    unit.skip_quiescent(skip);
    unit.flit(flit(100, 0, 1, false));
    unit.flit(flit(101, 0, 2, true));
    // Both due at once: one per cycle.
    unit.flit(flit(1000, 0, 3, false));
    unit.flit(flit(1000, 0, 4, true));
    let (mut flits, mut interrupts) = (Vec::new(), Vec::new());
    while unit.cycle() < Cycle(2000) {
        let step = unit.step(unit.cycle() + window);
        flits.extend_from_slice(step.flits);
        interrupts.extend_from_slice(step.interrupts);
    }
    (flits, interrupts, unit.evaluated_cycles())
}

#[test]
fn flits_cross_in_their_cycles_whatever_the_window_and_with_and_without_skipping() {
    let (flits, interrupts, evaluated) = repeated(Cycles(10), true);
    let expected = [
        flit(101, 1, 1, false),
        flit(102, 1, 2, true),
        flit(1001, 1, 3, false),
        flit(1002, 1, 4, true),
    ];
    assert_eq!(flits, expected);
    let change = |cycle, level| InterruptChange { cycle, level };
    assert_eq!(interrupts, [change(102, 1), change(1001, 0), change(1002, 1)]);
    assert!(evaluated < 20, "{evaluated} cycles evaluated");
    for (window, skip) in [(1, true), (400, true), (10, false)] {
        let (same_flits, same_interrupts, _) = repeated(Cycles(window), skip);
        assert_eq!((same_flits, same_interrupts), (flits.clone(), interrupts.clone()));
    }
}
