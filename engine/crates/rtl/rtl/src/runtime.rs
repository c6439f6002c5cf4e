//! Verilator's own sources. They are part of every design and the same in each, so that they are compiled once.

use crate::verilator::{run, COMPILER_FLAGS, REPORTS};
use crate::{cache, BuildOptions, Cache, RtlError, Toolchain};
use std::fs;
use std::path::PathBuf;

/// The objects of what a design is linked with, compiled or taken from `cache`; `unit` is the one that wants them.
pub(crate) fn objects(
    tools: &Toolchain,
    unit: &str,
    options: BuildOptions,
    cache: &Cache,
) -> Result<Vec<PathBuf>, RtlError> {
    let waves = options.waves.then_some("verilated_fst_c.cpp");
    let made_with = [
        tools.version(unit)?,
        tools.target(unit)?,
        COMPILER_FLAGS.join(" "),
    ];
    ["verilated.cpp", "verilated_threads.cpp"]
        .into_iter()
        .chain(waves)
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
            &mut tools.compile(folder, &tools.root.join("include").join(source), &object),
        )?;
        Ok(object)
    })
}
