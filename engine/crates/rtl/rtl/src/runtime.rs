//! Verilator's own sources, and headers. They are part of every design and the same in each, so that they are compiled
//! once.

use crate::verilator::{compiler_flags, run, REPORTS};
use crate::{cache, BuildOptions, Cache, Manifest, RtlError, Toolchain, Waves};
use std::fs;
use std::path::{Path, PathBuf};

/// Headers of the host and of Verilated code. Reading them takes half a second of a processor, which is half of the time
/// for a small design.
const HEADERS: &str = "
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include \"verilated.h\"
";

/// Files that Verilator opens for a unit are in the folder of the unit's manifest: the host has a function for this.
const OPEN: &str = "-DRACKWRIGHT_OPENS_FILES";

/// The end of the name of a header that the compiler has read; with another one, it does not find it.
pub(crate) const READ: &str = "h.gch";

/// The objects to link with the design of `manifest`, compiled or taken from `cache`.
pub(crate) fn objects(
    tools: &Toolchain,
    manifest: &Manifest,
    options: BuildOptions,
    cache: &Cache,
) -> Result<Vec<PathBuf>, RtlError> {
    let unit = &manifest.unit;
    let waves = options.waves.map(Waves::runtime);
    let state = options.with_state.then_some("verilated_save.cpp");
    let imports = (!manifest.dpi_paths().is_empty()).then_some("verilated_dpi.cpp");
    let mut made_with = made_with(tools, unit)?;
    made_with.push(OPEN.to_string());
    ["verilated.cpp", "verilated_threads.cpp"]
        .into_iter()
        .chain(waves)
        .chain(state)
        .chain(imports)
        .map(|source| object(tools, unit, source, &made_with, cache))
        .collect()
}

/// The header that every source of a design includes first, with what the compiler has read of it beside it.
pub(crate) fn headers(tools: &Toolchain, unit: &str, cache: &Cache) -> Result<PathBuf, RtlError> {
    let text = [REPORTS.1, HEADERS].concat();
    let root = tools.root.to_string_lossy();
    let made_with = made_with(tools, unit)?;
    let parts = [text.as_str(), &root]
        .into_iter()
        .chain(made_with.iter().map(String::as_str));
    let name = format!("{}.h", cache::key(parts.map(str::as_bytes)));
    // The compiler checks what it has read against the files themselves, so that the header has to stay.
    let header = cache.find_or_build(&name, |folder| {
        let header = folder.join(&name);
        fs::write(&header, &text).map_err(RtlError::file(&header))?;
        Ok(header)
    })?;
    let read = Path::new(&name).with_extension(READ);
    cache.find_or_build(&read.to_string_lossy(), |folder| {
        let compiled = folder.join("headers.gch");
        run(unit, &mut tools.compile_header(&header, &compiled))?;
        Ok(compiled)
    })?;
    Ok(header)
}

/// What all objects depend on, besides their sources.
fn made_with(tools: &Toolchain, unit: &str) -> Result<Vec<String>, RtlError> {
    Ok(vec![
        tools.version(unit)?,
        tools.target(unit)?,
        compiler_flags().join(" "),
    ])
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
        let source = tools.root.join("include").join(source);
        run(unit, tools.compile(folder, &header, &source, &object).arg(OPEN))?;
        Ok(object)
    })
}
