use crate::{Arrival, Network, NocError, Packet, Shape};
use rackwright_rtl::{Broken, Design, Direction, Instance, StreamFlit};
use rackwright_time::unit::Cycle;

/// All bytes of a flit.
const WHOLE: u8 = 0xff;

/// A network in RTL with flits of eight bytes: the unit `mesh` with one network, or the unit `crossbar`.
pub struct Rtl {
    instance: Instance,
    /// The header of a packet to each endpoint.
    headers: Vec<u64>,
}

impl Rtl {
    /// A mesh that has just left reset.
    ///
    /// # Errors
    /// [`NocError::OtherUnit`] for another design.
    pub fn mesh(design: &Design) -> Result<Rtl, NocError> {
        let name = |tile| format!("0_{tile}");
        let shape = shape(design).filter(|shape| has_streams(design, shape.tiles(), name));
        let shape = shape.ok_or_else(|| other(design, "mesh with one network and flits of 8 bytes"))?;
        let shape = shape.checked()?;
        let header = |tile| (tile % shape.width | tile / shape.width << 8) as u64;
        Rtl::new(design, (0..shape.tiles()).map(header).collect())
    }

    /// A crossbar that has just left reset.
    ///
    /// # Errors
    /// [`NocError::OtherUnit`] for another design.
    pub fn crossbar(design: &Design) -> Result<Rtl, NocError> {
        let ports =
            number(design, "ports").filter(|ports| has_streams(design, *ports, |port| port.to_string()));
        let ports = ports.ok_or_else(|| other(design, "crossbar"))?;
        Rtl::new(design, (0..ports as u64).collect())
    }

    fn new(design: &Design, headers: Vec<u64>) -> Result<Rtl, NocError> {
        let instance = Instance::new(design, None)?;
        Ok(Rtl { instance, headers })
    }
}

fn other(design: &Design, wanted: &'static str) -> NocError {
    let unit = design.manifest.unit.clone();
    NocError::OtherUnit { unit, wanted }
}

/// The value of a parameter.
fn number(design: &Design, name: &str) -> Option<usize> {
    let value = design.manifest.parameters.get(name)?.as_u64()?;
    Some(value as usize)
}

/// The shape of a mesh, as its parameters have it.
fn shape(design: &Design) -> Option<Shape> {
    let shape = Shape {
        width: number(design, "width")?,
        height: number(design, "height")?,
        rows_first: design.manifest.parameters.get("routing")?.as_str()? == "xy",
        depth: number(design, "depth")?,
        stages: number(design, "stages")?,
    };
    (number(design, "flit-bytes")? == 8).then_some(shape)
}

/// Whether the streams are in the order that is relied on here: in and out of each endpoint.
fn has_streams(design: &Design, endpoints: usize, name: impl Fn(usize) -> String) -> bool {
    let wanted = (0..endpoints).flat_map(|endpoint| {
        [
            (format!("in_{}", name(endpoint)), Direction::In),
            (format!("out_{}", name(endpoint)), Direction::Out),
        ]
    });
    let ports = design.manifest.stream_ports();
    let ports = ports.map(|(name, direction)| (name.to_string(), direction));
    ports.eq(wanted)
}

impl Network for Rtl {
    fn endpoints(&self) -> usize {
        self.headers.len()
    }

    fn offer(&mut self, packet: Packet) {
        let header = self.headers[packet.destination];
        for flit in 1..=packet.flits {
            // Later flits carry the header too: a network reads it in the first one only.
            self.instance.flit(StreamFlit {
                cycle: packet.created,
                data: header | u64::from(packet.number) << 32,
                port: (2 * packet.source) as u8,
                keep: WHOLE,
                last: u8::from(flit == packet.flits),
            });
        }
    }

    fn advance(&mut self, until: u64, arrivals: &mut Vec<Arrival>) -> Result<(), NocError> {
        while self.instance.cycle().0 < until {
            let step = self.instance.step(Cycle::new(until));
            let ends = step.flits.iter().filter(|flit| flit.last != 0);
            arrivals.extend(ends.map(|flit| Arrival {
                cycle: flit.cycle,
                endpoint: usize::from(flit.port / 2),
                number: (flit.data >> 32) as u32,
            }));
            if let Some(Broken::Stopped(cycle, reason)) = &step.broken {
                return Err(NocError::Stopped {
                    cycle: *cycle,
                    reason: reason.clone(),
                });
            }
        }
        Ok(())
    }
}
