//! Bursts of an AXI4 master, of every type and of more beats than the host keeps.

use rackwright_contract::Command;
use rackwright_rtl::{BuildOptions, Cache, Instance, Manifest, MemoryRequest, MemoryResponse, Toolchain};
use rackwright_time::unit::Cycles;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const READ: u8 = 0;
const WRITE: u8 = 1;
const COUNT: u8 = 2;

const FIXED: u64 = 0;
const INCREMENTING: u64 = 1;
const WRAPPING: u64 = 2;

fn unit() -> Instance {
    let root = std::env::var_os("RACKWRIGHT_VERILATOR_ROOT").expect("run the tests through ./rw test");
    let root = PathBuf::from(root);
    let compiler = std::env::var_os("RACKWRIGHT_CXX").unwrap_or_else(|| "g++".into());
    let tools = Toolchain {
        verilator: root.join("bin/verilator_bin"),
        root,
        compiler: compiler.into(),
    };
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bursts/manifest.json");
    let cache = Cache::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("designs"));
    let manifest = Manifest::read(&fixture).unwrap();
    let design = tools.build(manifest, BuildOptions::default(), &cache).unwrap();
    Instance::new(&design, None).unwrap()
}

fn command(unit: &mut Instance, funct: u8, rs1: u64, rs2: u64) {
    let xd = funct == COUNT;
    let command = Command {
        opcode: 0,
        funct,
        rs1,
        rs2,
        rd: 1,
        xd,
    };
    unit.command(unit.cycle(), command);
}

fn burst(unit: &mut Instance, funct: u8, address: u64, length: u64, bytes: u64, kind: u64) {
    let size = u64::from(bytes.trailing_zeros());
    command(unit, funct, address, (length - 1) | (size << 8) | (kind << 11));
}

/// What the unit asks of memory in so many cycles, unanswered.
fn asked(unit: &mut Instance, cycles: u64) -> Vec<MemoryRequest> {
    let end = unit.cycle() + Cycles::new(cycles);
    let mut all = Vec::new();
    while unit.cycle() < end {
        unit.step(end);
        all.extend_from_slice(unit.requests());
    }
    all
}

#[test]
fn the_addresses_of_a_burst_are_those_of_its_type_and_size() {
    let shapes = [
        (0x1000, 3, 16, INCREMENTING, vec![0x1000, 0x1010, 0x1020]),
        (0x1008, 3, 16, INCREMENTING, vec![0x1000, 0x1010, 0x1020]),
        (0x1008, 4, 4, INCREMENTING, vec![0x1000, 0x1000, 0x1010, 0x1010]),
        (0x1020, 4, 16, WRAPPING, vec![0x1020, 0x1030, 0x1000, 0x1010]),
        (0x101c, 4, 4, WRAPPING, vec![0x1010; 4]),
        (0x1024, 3, 4, FIXED, vec![0x1020; 3]),
    ];
    for operation in [READ, WRITE] {
        for (address, length, bytes, kind, expected) in &shapes {
            let mut unit = unit();
            burst(&mut unit, operation, *address, *length, *bytes, *kind);
            let all = asked(&mut unit, 2200);
            let addresses: Vec<u64> = all.iter().map(|request| request.address).collect();
            assert_eq!(
                &addresses, expected,
                "operation {operation} type {kind} of {bytes}"
            );
        }
    }
}

/// Long reads that nobody answers fill the host while the data of a write are still to come.
#[test]
fn reads_leave_room_for_the_data_of_a_write() {
    let mut unit = unit();
    burst(&mut unit, WRITE, 5 << 20, 256, 16, INCREMENTING);
    for index in 0..4 {
        burst(&mut unit, READ, index << 20, 255, 16, INCREMENTING);
    }
    let mut open = asked(&mut unit, 4000);
    let tags: BTreeSet<u16> = open.iter().map(|request| request.tag).collect();
    assert_eq!(tags.len(), open.len(), "no tag is given out twice");
    let (mut reads, mut writes) = (0, 0);
    for _ in 0..200 {
        for request in std::mem::take(&mut open) {
            *(if request.is_write() {
                &mut writes
            } else {
                &mut reads
            }) += 1;
            unit.respond(&MemoryResponse {
                due: unit.cycle() + Cycles::new(20),
                tag: request.tag,
                port: request.port,
                fault: false,
                data: [0; 32],
            });
        }
        open = asked(&mut unit, 20);
    }
    assert_eq!((reads, writes), (4 * 255, 256));
    command(&mut unit, COUNT, 0, 0);
    let answer = unit.step(unit.cycle() + Cycles::new(100)).command_responses[0];
    assert_eq!(answer.data, 4 * 255);
}
