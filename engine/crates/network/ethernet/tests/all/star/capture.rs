//! Captures: what is written can be read back, to the cycle.

use super::common::{frame, Setup, Star};
use pcap_file::pcapng::{Block, PcapNgReader};
use rackwright_ethernet::{Capture, Mac};
use rackwright_schedule::PortId;
use rackwright_time::network::Cycle;
use rackwright_time::Clock;

#[test]
fn every_frame_is_stamped_with_the_cycle_of_its_last_flit() {
    let clock = Clock::new(3_200_000_000).unwrap();
    let sends = vec![
        (Cycle::new(7), frame(Mac::assigned(1), 64, 1)),
        (Cycle::new(1000), frame(Mac::assigned(1), 65, 2)),
    ];
    let mut star = Star::new(&Setup::default(), vec![sends, Vec::new()]);
    let port = PortId {
        model: star.switch,
        port: 1,
    };
    star.graph.tap(port).unwrap();
    star.graph.run(Cycle::new(5000));
    let mut capture = Capture::new(Vec::new(), clock, &["switch.port1".to_string()]).unwrap();
    for tapped in star.graph.take_tapped() {
        capture
            .write(0, tapped.cycle, tapped.direction, &tapped.item)
            .unwrap();
    }
    let file = capture.finish();
    let mut reader = PcapNgReader::new(file.as_slice()).unwrap();
    let mut stamps = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            stamps.push((packet.timestamp.as_nanos() as u64, packet.data.len()));
        }
    }
    let left = |sent: u64, flits: u64| {
        clock
            .instant(Cycle::new(sent + flits - 1 + 50 + 10 + flits - 1))
            .0
    };
    assert_eq!(stamps, [(left(7, 8), 64), (left(1000, 9), 65)]);
}
