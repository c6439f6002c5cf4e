//! Verilator's own sources. They are part of every design and the same in each, so that they are compiled once.

use crate::verilator::{run, COMPILER_FLAGS, REPORTS};
use crate::{cache, BuildOptions, Cache, Manifest, RtlError, Toolchain, Waves};
use std::fs;
use std::path::PathBuf;

/// Files that Verilator opens for a unit are in the folder of the unit's manifest: the host has a function for this.
const OPEN: &str = "-DRACKWRIGHT_OPENS_FILES";

/// The objects to link with the design of `manifest`, compiled or taken from `cache`.
pub(crate) fn objects(
    tools: &Toolchain,
    manifest: &Manifest,
    options: BuildOptions,
    cache: &Cache,
) -> Result<Vec<PathBuf>, RtlError> {
    let unit = &manifest.unit;
    let waves = options.waves.map(Waves::runtime);
    let imports = (!manifest.dpi_paths().is_empty()).then_some("verilated_dpi.cpp");
    let made_with = [
        tools.version(unit)?,
        tools.target(unit)?,
        COMPILER_FLAGS.join(" "),
        OPEN.to_string(),
    ];
    ["verilated.cpp", "verilated_threads.cpp"]
        .into_iter()
        .chain(waves)
        .chain(imports)
        .map(|source| object(tools, unit, source, &made_with, cache))
        .collect()
}

fn object(
    tools: &Toolchain,
    unit: &str,
    source: &str,
    made_with: &[String],
    cache: &Cache,
) -> Result<PathBuf, RtlError> {
    let parts = [source, REPORTS.1]
        .into_iter()
        .chain(made_with.iter().map(String::as_str));
    let key = cache::key(parts.map(str::as_bytes));
    cache.find_or_build(&format!("{key}.o"), |folder| {
        let header = folder.join(REPORTS.0);
        fs::write(&header, REPORTS.1).map_err(RtlError::file(&header))?;
        let object = folder.join("runtime.o");
        run(
            unit,
            tools
                .compile(folder, &tools.root.join("include").join(source), &object)
                .arg(OPEN),
        )?;
        Ok(object)
    })
}
