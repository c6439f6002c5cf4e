use crate::error::FabricError;
use rackwright_rtl::{Direction, Manifest, Port};

/// Bytes of a beat of each memory port of a unit that may be on a card: one with registers, and perhaps memory ports and
/// an interrupt.
///
/// # Errors
/// [`FabricError::Card`] for another one.
pub(super) fn widths(card: &str, manifest: &Manifest) -> Result<Vec<usize>, FabricError> {
    let refuse = |reason: String| FabricError::Card {
        card: card.to_string(),
        reason: format!("the unit `{}` {reason}", manifest.unit),
    };
    let mut widths = Vec::new();
    let mut has_registers = false;
    for port in &manifest.ports {
        match port {
            Port::Memory {
                bytes, watch: false, ..
            }
            | Port::Axi4 { bytes, .. }
            | Port::TileLink {
                bytes,
                direction: Direction::Out,
                ..
            } => widths.push(*bytes as usize),
            Port::Memory { name, .. } => {
                return Err(refuse(format!(
                    "watches memory by its port `{name}`, which no packet of PCI Express does"
                )));
            }
            Port::Mmio { .. } | Port::Axi4Lite { .. } | Port::Apb { .. } | Port::TileLink { .. } => {
                has_registers = true;
            }
            Port::Event { .. } | Port::Interrupt { .. } => {}
            Port::Command { name, .. } | Port::Stream { name, .. } | Port::AxiStream { name, .. } => {
                return Err(refuse(format!(
                    "has the port `{name}`, which leads nowhere on a card"
                )));
            }
        }
    }
    if !has_registers {
        return Err(refuse(
            "has no registers by which the host reaches it".to_string(),
        ));
    }
    Ok(widths)
}
