//! The format of manifests before the current one, which is converted as it is read.

use super::{Direction, Manifest, Moves, Port, FORMAT};
use crate::attach::Attach;

/// Its number.
pub(super) const FORMER: u32 = 1;

/// The memory port that, in the former format, was recognised by its name as one that reads intermediate data.
const FORMER_INTERMEDIATE: &str = "history";

impl Manifest {
    /// Converts a manifest of the former format to the current one.
    pub(super) fn bring_up_to_date(&mut self) -> Result<(), String> {
        let words = [
            ("clocks", !self.clocks.is_empty()),
            ("attach", self.attach.is_some()),
        ];
        if let Some((word, _)) = words.into_iter().find(|(_, is_there)| *is_there) {
            return Err(format!("`{word}` is a part of format {FORMAT}, not of {FORMER}"));
        }
        let clock = self.clock.take().ok_or("missing field `clock`")?;
        self.clocks.push(clock);
        self.attach = Some(places_by(&self.ports));
        for port in &mut self.ports {
            if let Port::Memory { name, traffic, .. } | Port::Axi4 { name, traffic, .. } = port {
                if name == FORMER_INTERMEDIATE {
                    *traffic = Moves::Intermediate;
                }
            }
        }
        Ok(())
    }

    /// The change that converts a manifest of the former format to the current one, in one line; none for a current
    /// one.
    pub fn advice(&self) -> Option<String> {
        if self.format == FORMAT {
            return None;
        }
        let places: Vec<String> = self
            .attach()
            .iter()
            .map(|place| format!("\"{}\"", place.name()))
            .collect();
        let mut words = format!(
            "format {FORMER} is read for now: say \"format\": {FORMAT}, \"clocks\": [{{…}}] in the place of \"clock\": {{…}}, \
             and \"attach\": [{}], of which you keep where it belongs",
            places.join(", ")
        );
        let intermediate = |port: &&Port| port.moves() == Some(Moves::Intermediate);
        if let Some(port) = self.ports.iter().find(intermediate) {
            words += &format!("; and \"traffic\": \"intermediate\" of port `{}`", port.name());
        }
        Some(words)
    }
}

/// The places for a unit of the former format, which does not list them: all those to which its ports can be connected.
/// What walks ask is said.
fn places_by(ports: &[Port]) -> Vec<Attach> {
    let takes_frames = |port: &Port| {
        matches!(
            port,
            Port::Stream {
                direction: Direction::In,
                ..
            }
        )
    };
    let mut places = Vec::new();
    if ports.iter().any(Port::is_control) {
        places.push(Attach::Hart);
    }
    if ports.iter().any(takes_frames) {
        places.extend([Attach::Link, Attach::Switch, Attach::Card]);
    }
    places
}
