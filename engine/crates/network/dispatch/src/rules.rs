use crate::load::{Load, LoadDelta};
use crate::outstanding::EPOCHS;
use crate::{Configuration, Policy};

/// The part of a dispatcher's configuration by which it decides and waits; all times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Policy,
    pub(crate) load_delta: LoadDelta,
    /// The value of `load_delta` if it is fixed.
    pub(crate) fixed_delta: Load,
    pub(crate) max_redirects: u8,
    pub(crate) truth_interval: u64,
    pub(crate) peer_timeout: u64,
    pub(crate) probe_interval: u64,
    /// Maximum number of waiting requests of each service.
    pub(crate) held: usize,
}

impl Rules {
    pub(crate) fn of(configuration: &Configuration) -> Rules {
        Rules {
            policy: configuration.policy,
            load_delta: configuration.load_delta,
            fixed_delta: match configuration.load_delta {
                LoadDelta::Fixed(delta) => Load((delta * f64::from(Load::ONE.0) + 0.5) as u32),
                LoadDelta::Adaptive => Load(0),
            },
            max_redirects: configuration.max_redirects,
            truth_interval: configuration.times.truth_interval_ns,
            peer_timeout: configuration.times.peer_timeout_ns,
            probe_interval: configuration.times.probe_interval_ns,
            held: configuration.held,
        }
    }
}

/// The periods of time by whose numbers requests are found to be too old.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epochs {
    pub(crate) length_ns: u64,
    pub(crate) current: u32,
    /// When the current one ends, in nanoseconds.
    pub(crate) end: u64,
}

impl Epochs {
    pub(crate) fn of(configuration: &Configuration) -> Epochs {
        let length_ns = configuration.times.expiry_ns / u64::from(EPOCHS);
        Epochs {
            length_ns,
            current: 0,
            end: length_ns,
        }
    }
}
