//! Units with buses as AMBA defines them, driven through the host: the DMA of the examples.
//!
//! The tools come from the environment, as `./rw test` sets it: `RACKWRIGHT_VERILATOR_ROOT` and
//! `RACKWRIGHT_CXX`.

use rackwright_rtl::{
    Broken, BuildOptions, BusRegisters, Cache, Instance, Manifest, MemoryResponse, RegisterAccess, Toolchain,
};
use rackwright_time::unit::Cycles;
use std::path::{Path, PathBuf};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../..");

fn dma() -> Instance {
    let root = std::env::var_os("RACKWRIGHT_VERILATOR_ROOT")
        .expect("RACKWRIGHT_VERILATOR_ROOT names Verilator's root folder; run the tests through ./rw test");
    let root = PathBuf::from(root);
    let compiler = std::env::var_os("RACKWRIGHT_CXX").unwrap_or_else(|| "g++".into());
    let tools = Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        compiler: compiler.into(),
    };
    let cache = Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("designs"));
    let manifest = Path::new(REPOSITORY).join("examples/bring-your-own/axi/manifest.json");
    let manifest = Manifest::read(&manifest).unwrap();
    let registers = BusRegisters {
        bytes: 4,
        size: 64,
        has_parts: true,
    };
    assert_eq!(manifest.bus_registers(), Some(registers));
    let design = tools.build(manifest, BuildOptions::default(), &cache).unwrap();
    Instance::new(&design, None).unwrap()
}

/// Accesses a register, and gives what it answers.
fn access(unit: &mut Instance, address: u32, write: Option<u32>) -> u64 {
    unit.register_access(RegisterAccess {
        due: unit.cycle().0,
        data: write.unwrap_or(0).into(),
        address,
        write: write.map_or(0, |_| 15),
    });
    let step = unit.step(unit.cycle() + Cycles::new(20));
    assert!(step.broken.is_none());
    step.register_answers[0].data
}

#[test]
fn registers_keep_what_is_written() {
    let mut unit = dma();
    for (address, value) in [(0x10, 0x1234_5678), (0x14, 9), (0x20, 64)] {
        access(&mut unit, address, Some(value));
    }
    let kept: Vec<u64> = [0x10, 0x14, 0x20]
        .into_iter()
        .map(|address| access(&mut unit, address, None))
        .collect();
    assert_eq!(kept, [0x1234_5678, 9, 64]);
}

#[test]
fn a_burst_is_so_many_requests_and_its_words_are_written_in_order() {
    let mut unit = dma();
    for (address, value) in [
        (0x10, 0x1ff0),
        (0x14, 0),
        (0x18, 0x8000),
        (0x1c, 0),
        (0x20, 32),
        (0, 1),
    ] {
        access(&mut unit, address, Some(value));
    }
    let (mut reads, mut written) = (Vec::new(), Vec::new());
    // The first burst is asked for in the cycle in which the last access was answered.
    for _ in 0..100 {
        let requests = unit.requests().to_vec();
        for request in requests {
            let mut data = [0; 32];
            if request.is_write() {
                let word = u64::from_le_bytes(request.data[..8].try_into().unwrap());
                written.push((request.address, request.mask, word));
            } else {
                reads.push(request.address);
                data[..8].copy_from_slice(&request.address.to_le_bytes());
            }
            unit.respond(&MemoryResponse {
                due: unit.cycle() + Cycles::new(5),
                tag: request.tag,
                port: request.port,
                fault: false,
                data,
            });
        }
        let until = unit.cycle() + Cycles::new(4);
        assert_eq!(unit.step(until).broken, None::<Broken>);
    }
    // Two bursts: a page ends after two beats.
    assert_eq!(reads, [0x1ff0, 0x1ff8, 0x2000, 0x2008]);
    let expected = [
        (0x8000, 255, 0x1ff0),
        (0x8008, 255, 0x1ff8),
        (0x8010, 255, 0x2000),
        (0x8018, 255, 0x2008),
    ];
    assert_eq!(written, expected);
    assert_eq!(access(&mut unit, 0, None), 6);
}
