//! Streams and the interrupt line, through a unit that sends back what reaches it.

use rackwright_rtl::{
    BuildOptions, Cache, Design, Instance, InterruptChange, Manifest, StreamFlit, Toolchain,
};
use rackwright_time::unit::{Cycle, Cycles};
use std::path::{Path, PathBuf};

/// The unit of one of the manifests.
fn design(manifest: &str) -> Design {
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
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/repeat")
        .join(manifest);
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

/// Two frames: one of two flits in two cycles, and one whose flits are due at once.
fn two_frames() -> [StreamFlit; 4] {
    [
        flit(100, 0, 1, false),
        flit(101, 0, 2, true),
        flit(1000, 0, 3, false),
        flit(1000, 0, 4, true),
    ]
}

/// What leaves until cycle 2000 for flits `given` to a unit in steps of `window`, and the cycles evaluated.
fn repeated(
    design: &Design,
    given: &[StreamFlit],
    window: Cycles,
    skip: bool,
) -> (Vec<StreamFlit>, Vec<InterruptChange>, u64) {
    let mut unit = Instance::new(design, None).unwrap();
    unit.skip_idle(skip);
    given.iter().for_each(|flit| unit.flit(*flit));
    let (mut flits, mut interrupts) = (Vec::new(), Vec::new());
    while unit.cycle() < Cycle::new(2000) {
        let step = unit.step(unit.cycle() + window);
        flits.extend_from_slice(step.flits);
        interrupts.extend_from_slice(step.interrupts);
    }
    (flits, interrupts, unit.evaluated_cycles())
}

#[test]
fn flits_cross_in_their_cycles_whatever_the_window_and_with_and_without_skipping() {
    let design = design("manifest.json");
    let (flits, interrupts, evaluated) = repeated(&design, &two_frames(), Cycles::new(10), true);
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
        let (same_flits, same_interrupts, _) = repeated(&design, &two_frames(), Cycles::new(window), skip);
        assert_eq!((same_flits, same_interrupts), (flits.clone(), interrupts.clone()));
    }
}

#[test]
fn a_wide_port_takes_two_flits_of_a_frame_in_a_cycle() {
    let design = design("wide.json");
    // Behind the two frames: one of three flits, and one whose first flit is short and goes alone.
    let short = StreamFlit {
        keep: 0x07,
        ..flit(1500, 0, 8, false)
    };
    let others = [
        flit(1200, 0, 5, false),
        flit(1200, 0, 6, false),
        flit(1200, 0, 7, true),
        short,
        flit(1500, 0, 9, true),
    ];
    let given = [&two_frames()[..], &others].concat();
    let (flits, interrupts, evaluated) = repeated(&design, &given, Cycles::new(10), true);
    let expected = [
        flit(102, 1, 1, false),
        flit(102, 1, 2, true),
        flit(1001, 1, 3, false),
        flit(1001, 1, 4, true),
        flit(1201, 1, 5, false),
        flit(1201, 1, 6, false),
        flit(1202, 1, 7, true),
        StreamFlit {
            cycle: 1501,
            port: 1,
            ..short
        },
        flit(1502, 1, 9, true),
    ];
    assert_eq!(flits, expected);
    assert!(evaluated < 30, "{evaluated} cycles evaluated");
    for (window, skip) in [(1, true), (400, true), (10, false)] {
        let (same_flits, same_interrupts, _) = repeated(&design, &given, Cycles::new(window), skip);
        assert_eq!((same_flits, same_interrupts), (flits.clone(), interrupts.clone()));
    }
}

#[test]
fn a_port_of_thirty_two_bytes_takes_four_flits_of_a_frame_in_a_cycle() {
    let design = design("widest.json");
    let given: Vec<StreamFlit> = (1..=6).map(|data| flit(100, 0, data, data == 6)).collect();
    let (flits, _, _) = repeated(&design, &given, Cycles::new(10), true);
    let expected: Vec<StreamFlit> = (1..=6)
        .map(|data| flit(if data <= 4 { 101 } else { 102 }, 1, data, data == 6))
        .collect();
    assert_eq!(flits, expected);
    assert_eq!(repeated(&design, &given, Cycles::new(1), false).0, flits);
}
