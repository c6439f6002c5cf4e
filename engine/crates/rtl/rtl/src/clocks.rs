//! The clocks of a unit.

use rackwright_time::Clock;
use serde::{Deserialize, Deserializer};

/// One clock of a unit, and its reset.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockPins {
    /// Name of the clock input.
    pub pin: String,
    /// Name of the reset input; none (`null`, which must be explicit) for a design whose initial state is that of its
    /// register declarations.
    #[serde(deserialize_with = "said")]
    pub reset: Option<String>,
    /// Which level of the reset input resets the unit.
    #[serde(default)]
    pub active: Level,
    /// Whether the reset takes effect immediately instead of at a clock edge.
    #[serde(default)]
    pub asynchronous: bool,
    /// Frequency of the clock.
    pub hertz: u64,
    /// The clock that synthesis supports, as information for users who select a clock.
    #[serde(default)]
    pub synthesised_hertz: Option<u64>,
    /// The ports that are on it, of a clock that is not the first; all others are on the first.
    #[serde(default)]
    pub ports: Vec<String>,
}

/// A value that may be `null` but must be there.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(deserializer)
}

/// A level of a pin.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// 1.
    #[default]
    High,
    /// 0.
    Low,
}

/// Number of cycles of the first clock per cycle of `other`; at least one, even for clocks that have not been checked.
pub(crate) fn ratio(first: &ClockPins, other: &ClockPins) -> u64 {
    (first.hertz / other.hertz).max(1)
}

/// Checks the clocks of a unit whose ports have these names.
///
/// # Errors
/// The error in the clocks, if there is one.
pub(crate) fn check(clocks: &[ClockPins], ports: &[&str]) -> Result<(), String> {
    let [first, others @ ..] = clocks else {
        return Err("`clocks` is empty: a unit has one at least, that of its ports".into());
    };
    for (index, clock) in clocks.iter().enumerate() {
        Clock::new(clock.hertz).map_err(|error| format!("hertz of clock `{}`: {error}", clock.pin))?;
        if clocks[..index].iter().any(|other| other.pin == clock.pin) {
            return Err(format!("two clocks are on the pin `{}`", clock.pin));
        }
    }
    if !first.ports.is_empty() {
        return Err(format!(
            "clock `{}` lists ports: it is the first, and has those that no other lists",
            first.pin
        ));
    }
    for (index, clock) in others.iter().enumerate() {
        if first.hertz % clock.hertz != 0 {
            return Err(format!(
                "clocks `{}` of {} Hz and `{}` of {} Hz have no ratio: the first is to be a multiple of each other one",
                first.pin, first.hertz, clock.pin, clock.hertz
            ));
        }
        for name in &clock.ports {
            if !ports.contains(&name.as_str()) {
                return Err(format!("clock `{}` lists `{name}`, which is no port", clock.pin));
            }
            if let Some(other) = others[..index].iter().find(|other| other.ports.contains(name)) {
                return Err(format!(
                    "port `{name}` is on the clocks `{}` and `{}`",
                    other.pin, clock.pin
                ));
            }
        }
    }
    Ok(())
}
