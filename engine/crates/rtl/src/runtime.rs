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
    ["verilated.cpp", "verilated_threads.cpp"]
        .into_iter()
        .chain(waves)
        .map(|source| object(tools, unit, source, cache))
        .collect()
}

fn object(tools: &Toolchain, unit: &str, source: &str, cache: &Cache) -> Result<PathBuf, RtlError> {
    let flags = COMPILER_FLAGS.join(" ");
    let (version, target) = (tools.version(unit)?, tools.target(unit)?);
    let key = cache::key([source, REPORTS.1, &flags, &version, &target].map(str::as_bytes));
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
