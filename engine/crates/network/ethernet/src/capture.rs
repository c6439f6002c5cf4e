use crate::Frame;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::{DataLink, PcapError};
use rackwright_schedule::Direction;
use rackwright_time::network::Cycle;
use rackwright_time::Clock;
use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;

/// Time stamps count units of 10^-12 s, so that no two cycles of any clock up to 1 THz share one.
const PICOSECONDS: u8 = 12;
/// Values of the direction bits of a packet's flags.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// Why a capture could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the capture cannot be written: {0}")]
pub struct CaptureError(#[from] PcapError);

/// A pcapng file of the frames at some ports, one interface for each.
///
/// The time stamp of a frame is the beginning of the cycle in which its last flit passed the port,
/// in picoseconds since the start of the run, rounded down.
pub struct Capture<W: Write> {
    writer: PcapNgWriter<W>,
    clock: Clock,
}

impl<W: Write> Capture<W> {
    /// A capture of ports with these names.
    ///
    /// # Errors
    /// [`CaptureError`] when the writer fails.
    pub fn new(writer: W, clock: Clock, ports: &[String]) -> Result<Capture<W>, CaptureError> {
        let mut writer = PcapNgWriter::new(writer)?;
        for port in ports {
            let interface = InterfaceDescriptionBlock {
                linktype: DataLink::ETHERNET,
                snaplen: 0,
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Borrowed(port)),
                    InterfaceDescriptionOption::IfTsResol(PICOSECONDS),
                ],
            };
            writer.write_pcapng_block(interface)?;
        }
        Ok(Capture { writer, clock })
    }

    /// Adds a frame at the port with this position in the list of ports.
    ///
    /// # Errors
    /// [`CaptureError`] when the writer fails.
    pub fn write(
        &mut self,
        port: usize,
        cycle: Cycle,
        direction: Direction,
        frame: &Frame,
    ) -> Result<(), CaptureError> {
        let bytes = frame.to_bytes();
        let flags = match direction {
            Direction::In => INBOUND,
            Direction::Out => OUTBOUND,
        };
        let packet = EnhancedPacketBlock {
            interface_id: port as u32,
            // The crate writes nanoseconds as the number of units, whatever the unit.
            timestamp: Duration::from_nanos(self.clock.instant(cycle).0),
            original_len: bytes.len() as u32,
            data: Cow::Owned(bytes),
            options: vec![EnhancedPacketOption::Flags(flags)],
        };
        self.writer.write_pcapng_block(packet)?;
        Ok(())
    }

    /// Ends the capture and returns the writer.
    pub fn finish(self) -> W {
        self.writer.into_inner()
    }
}
