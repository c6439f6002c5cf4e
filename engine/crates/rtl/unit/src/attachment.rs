use crate::attached::AttachedUnit;
use crate::error::UnitError;
use crate::reach::{assign, names, Reach};
use rackwright_memory::{Interconnect, Route};
use rackwright_rtl::{Attach, Design, Manifest, Port};
use rackwright_stats::UnitObserver;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A unit of a server, and its place.
#[derive(Clone)]
pub struct PlacedUnit {
    /// The design.
    pub design: Design,
    /// Where it sits.
    pub placement: Route,
}

/// The units of each hart of a machine, and how they are attached.
#[derive(Clone, Copy, Default)]
pub struct Attachment<'a> {
    /// Units beside each hart.
    pub units: &'a [PlacedUnit],
    /// Whether idle units are not clocked.
    pub skip_idle: bool,
    /// Whether to check that idle units are inactive, for which they are clocked.
    pub check_idle: bool,
    /// The destination of the units' signals, as FST: one file each, with the unit's name if there are several. The
    /// designs must have been built with waves.
    pub waves: Option<&'a Path>,
    /// Number of harts.
    pub harts: usize,
}

impl Attachment<'_> {
    /// The units of hart number `hart`, which reach memory through `interconnect`.
    ///
    /// # Errors
    /// [`UnitError`] when they cannot all be reached, or one has ports that lead nowhere.
    pub fn attach<I: Interconnect>(
        &self,
        interconnect: &mut I,
        hart: usize,
    ) -> Result<Vec<AttachedUnit>, UnitError> {
        self.attach_with(interconnect, hart, |_| false)
    }

    /// The same on a server with a link, to which the caller connects the streams [`LINK_STREAMS`] of one unit.
    ///
    /// # Errors
    /// [`UnitError`], also for several such units.
    pub fn attach_on_link<I: Interconnect>(
        &self,
        interconnect: &mut I,
        hart: usize,
    ) -> Result<Vec<AttachedUnit>, UnitError> {
        let mut linked = self.units.iter().filter(|unit| is_linked(&unit.design.manifest));
        if let Some(second) = linked.nth(1) {
            return Err(UnitError::Unconnected {
                unit: second.design.manifest.unit.clone(),
                ports: "streams for the link, which another unit has",
            });
        }
        self.attach_with(interconnect, hart, is_linked)
    }

    /// Whether any of them interrupts processes.
    pub fn interrupts(&self) -> bool {
        let mut units = self.units.iter();
        units.any(|unit| interrupts_processes(&unit.design.manifest))
    }

    /// Whether there is one of each for all harts, which reach the same ones in their turns.
    pub fn is_shared(&self) -> bool {
        let mut units = self.units.iter();
        units.any(|unit| unit.design.manifest.attaches(Attach::Machine))
    }

    fn attach_with<I: Interconnect>(
        &self,
        interconnect: &mut I,
        hart: usize,
        is_linked: impl Fn(&Manifest) -> bool,
    ) -> Result<Vec<AttachedUnit>, UnitError> {
        let manifests: Vec<&Manifest> = self.units.iter().map(|unit| &*unit.design.manifest).collect();
        let reaches = assign(&manifests)?;
        for manifest in manifests {
            if !is_linked(manifest) {
                refuse_unconnected(manifest)?;
            }
            if !manifest.attaches(Attach::Machine) {
                manifest.require(Attach::Hart)?;
            }
        }
        let names = names(self.units.iter().map(|unit| &*unit.design.manifest));
        let attached = self.units.iter().zip(names).zip(reaches);
        attached
            .map(|((unit, name), reach)| self.attach_one(unit, (name, reach), interconnect, hart))
            .collect()
    }

    fn attach_one<I: Interconnect>(
        &self,
        unit: &PlacedUnit,
        (name, reach): (String, Reach),
        interconnect: &mut I,
        hart: usize,
    ) -> Result<AttachedUnit, UnitError> {
        let waves = self.waves.map(|waves| self.wave_file(waves, &name, hart));
        let memory = interconnect.clock();
        let mut attached = AttachedUnit::new(&unit.design, &unit.placement, interconnect, waves.as_deref())?
            .on_clock(unit.design.clock, memory)
            .reached_by(name, reach);
        if self.check_idle {
            attached.instance().check_idle();
        } else {
            attached.instance().skip_idle(self.skip_idle);
        }
        Ok(attached)
    }

    /// Refuses units that processes could not give their addresses to. Registers are only for users of physical
    /// addresses.
    ///
    /// # Errors
    /// [`UnitError::Untranslated`] for the first one.
    pub fn require_translation(&self) -> Result<(), UnitError> {
        let mut manifests = self.units.iter().map(|unit| &unit.design.manifest);
        match manifests.find(|manifest| !manifest.has_registers() && !manifest.is_translated()) {
            Some(manifest) => Err(UnitError::Untranslated {
                unit: manifest.unit.clone(),
            }),
            None => Ok(()),
        }
    }

    /// `waves.fst` for one unit, `waves-<unit>.fst` for each of several, `waves-<unit>-hart<n>.fst` beside several harts.
    fn wave_file(&self, waves: &Path, unit: &str, hart: usize) -> PathBuf {
        if self.units.len() == 1 && self.harts == 1 {
            return waves.to_path_buf();
        }
        let stem = waves.file_stem().unwrap_or_default().to_string_lossy();
        let extension = waves.extension().unwrap_or("fst".as_ref()).to_string_lossy();
        let hart = if self.harts == 1 {
            String::new()
        } else {
            format!("-hart{hart}")
        };
        waves.with_file_name(format!("{stem}-{unit}{hart}.{extension}"))
    }
}

/// Reports events of units to `observer`, one unit after the other, with numbers from `first` on; returns the next
/// number.
pub fn observe(units: &mut [AttachedUnit], observer: &Arc<dyn UnitObserver>, first: usize) -> usize {
    units
        .iter_mut()
        .fold(first, |first, unit| unit.observe(observer.clone(), first))
}

/// The streams of a unit that are connected to the link of its server: frames from there and to there, and, if it has
/// that stream, frames that it passes on to the network interface.
pub const LINK_STREAMS: [&str; 3] = ["network_in", "network_out", "network_rest"];

/// Whether a unit's streams are those of a link, and no others.
fn is_linked(unit: &Manifest) -> bool {
    let [arriving, leaving, _] = LINK_STREAMS;
    let has = |wanted| unit.stream_ports().any(|(name, _)| name == wanted);
    has(arriving) && has(leaving) && unit.stream_ports().all(|(name, _)| LINK_STREAMS.contains(&name))
}

/// Whether a unit has an interrupt line for processes of an operating system: that of a unit which harts share.
pub fn interrupts_processes(unit: &Manifest) -> bool {
    unit.attaches(Attach::Machine) && unit.has_interrupt()
}

/// The unit receives commands and register accesses, it accesses memory, and programs wait for interrupts of units with
/// registers, or processes for those of units of a machine; no other ports are connected.
fn refuse_unconnected(unit: &Manifest) -> Result<(), UnitError> {
    let ports = unit.ports.iter().find_map(|port| match port {
        Port::Stream { .. } | Port::AxiStream { .. } => Some("a stream port"),
        Port::Interrupt { .. } if !unit.has_registers() && !interrupts_processes(unit) => {
            Some("an interrupt line and no registers")
        }
        _ => None,
    });
    match ports {
        Some(ports) => Err(UnitError::Unconnected {
            unit: unit.unit.clone(),
            ports,
        }),
        None => Ok(()),
    }
}
