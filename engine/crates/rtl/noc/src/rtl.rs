use crate::{Arrival, Network, NocError, Packet, Shape};
use rackwright_rtl::{Broken, Design, Direction, Instance, StreamFlit};
use rackwright_time::unit::Cycle;

/// All bytes of a flit.
const WHOLE: u8 = 0xff;

/// The unit `mesh` with one network and flits of eight bytes.
pub struct Rtl {
    instance: Instance,
    shape: Shape,
}

impl Rtl {
    /// A mesh that has just left reset.
    ///
    /// # Errors
    /// [`NocError::OtherUnit`] for another design.
    pub fn new(design: &Design) -> Result<Rtl, NocError> {
        let shape = shape(design).ok_or_else(|| NocError::OtherUnit(design.manifest.unit.clone()))?;
        Ok(Rtl {
            instance: Instance::new(design, None)?,
            shape: shape.checked()?,
        })
    }
}

/// The shape of a design, if it is a mesh whose ports are in the order that is relied on here: in and out of each tile.
fn shape(design: &Design) -> Option<Shape> {
    let manifest = &design.manifest;
    let number = |name: &str| {
        manifest
            .parameters
            .get(name)?
            .as_u64()
            .map(|value| value as usize)
    };
    let shape = Shape {
        width: number("width")?,
        height: number("height")?,
        rows_first: manifest.parameters.get("routing")?.as_str()? == "xy",
        depth: number("depth")?,
        stages: number("stages")?,
    };
    let tiles = (0..shape.tiles()).flat_map(|tile| {
        [
            (format!("in_0_{tile}"), Direction::In),
            (format!("out_0_{tile}"), Direction::Out),
        ]
    });
    let ports = manifest
        .stream_ports()
        .map(|(name, direction)| (name.to_string(), direction));
    (ports.eq(tiles) && number("flit-bytes")? == 8).then_some(shape)
}

impl Network for Rtl {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn offer(&mut self, packet: Packet) {
        let (x, y) = (
            packet.destination % self.shape.width,
            packet.destination / self.shape.width,
        );
        for flit in 1..=packet.flits {
            // Later flits carry the header too: a mesh reads it in the first one only.
            self.instance.flit(StreamFlit {
                cycle: packet.created,
                data: x as u64 | (y as u64) << 8 | u64::from(packet.number) << 32,
                port: (2 * packet.source) as u8,
                keep: WHOLE,
                last: u8::from(flit == packet.flits),
            });
        }
    }

    fn advance(&mut self, until: u64, arrivals: &mut Vec<Arrival>) -> Result<(), NocError> {
        while self.instance.cycle().0 < until {
            let step = self.instance.step(Cycle::new(until));
            arrivals.extend(
                step.flits
                    .iter()
                    .filter(|flit| flit.last != 0)
                    .map(|flit| Arrival {
                        cycle: flit.cycle,
                        tile: usize::from(flit.port / 2),
                        number: (flit.data >> 32) as u32,
                    }),
            );
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
