use crate::attached::AttachedUnit;
use crate::error::UnitError;
use rackwright_memory::{Placement, SharedHierarchy};
use rackwright_rtl::{Design, Port};
use std::path::{Path, PathBuf};

/// The units of each hart of a machine, and how they are attached.
#[derive(Clone, Copy, Default)]
pub struct Attachment<'a> {
    /// Units beside each hart.
    pub units: &'a [Design],
    /// Where all of them sit.
    pub placement: Placement,
    /// Whether quiescent units are not clocked.
    pub skip_quiescent: bool,
    /// Whether it is checked that idle units do nothing; they are clocked then.
    pub check_idle: bool,
    /// Where the signals of the units go, as FST: one file each, with the unit's name if there are several. The
    /// designs must have been built with waves.
    pub waves: Option<&'a Path>,
    /// How many harts there are.
    pub harts: usize,
}

impl Attachment<'_> {
    /// The units of hart number `hart`.
    ///
    /// # Errors
    /// [`UnitError`] when two of them answer the same instruction, or one has ports that lead nowhere.
    pub fn attach(&self, hierarchy: &SharedHierarchy, hart: usize) -> Result<Vec<AttachedUnit>, UnitError> {
        refuse_shared_opcodes(self.units)?;
        self.units.iter().try_for_each(refuse_unconnected)?;
        let mut hierarchy = hierarchy.lock();
        let attach = |design: &Design| -> Result<AttachedUnit, UnitError> {
            let waves = self
                .waves
                .map(|waves| self.wave_file(waves, &design.manifest.unit, hart));
            let memory = hierarchy.parameters().clock;
            let mut unit = AttachedUnit::new(design, self.placement, &mut hierarchy, waves.as_deref())?
                .on_clock(design.clock, memory);
            if self.check_idle {
                unit.watch_idle();
            } else {
                unit.instance().skip_quiescent(self.skip_quiescent);
            }
            Ok(unit)
        };
        self.units.iter().map(attach).collect()
    }

    /// Refuses units that processes could not give their addresses to.
    ///
    /// # Errors
    /// [`UnitError::Untranslated`] for the first one.
    pub fn require_translation(&self) -> Result<(), UnitError> {
        let flat = self.units.iter().find(|unit| !unit.manifest.is_translated());
        match flat {
            Some(unit) => Err(UnitError::Untranslated {
                unit: unit.manifest.unit.clone(),
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

/// Commands reach a unit through its command port, data through its memory ports; nothing else is connected.
fn refuse_unconnected(unit: &Design) -> Result<(), UnitError> {
    let ports = unit.manifest.ports.iter().find_map(|port| match port {
        Port::Mmio { .. } => Some("registers"),
        Port::Stream { .. } => Some("a stream port"),
        Port::Interrupt { .. } => Some("an interrupt line"),
        _ => None,
    });
    match ports {
        Some(ports) => Err(UnitError::Unconnected {
            unit: unit.manifest.unit.clone(),
            ports,
        }),
        None => Ok(()),
    }
}

fn refuse_shared_opcodes(units: &[Design]) -> Result<(), UnitError> {
    for (index, unit) in units.iter().enumerate() {
        for other in &units[..index] {
            let shared = unit
                .manifest
                .opcodes()
                .iter()
                .find(|opcode| other.manifest.opcodes().contains(opcode));
            if let Some(&opcode) = shared {
                let units = [&other.manifest.unit, &unit.manifest.unit].map(Clone::clone);
                return Err(UnitError::SharedOpcode { opcode, units });
            }
        }
    }
    Ok(())
}
