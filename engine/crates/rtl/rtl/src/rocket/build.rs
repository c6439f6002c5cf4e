use super::rocc::with_commands;
use super::{RocketDesign, RocketSystem};
use crate::verilator::{optimisation, run};
use crate::{cache, Cache, RtlError, Toolchain};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const HOST: &[(&str, &str)] = &[
    ("interface.h", include_str!("../../rocket/interface.h")),
    ("axi.h", include_str!("../../rocket/axi.h")),
    ("front.h", include_str!("../../rocket/front.h")),
    ("rocc.h", include_str!("../../rocket/rocc.h")),
    ("host.cpp", include_str!("../../rocket/host.cpp")),
    ("visible.vlt", include_str!("../../rocket/visible.vlt")),
];

impl RocketSystem {
    /// The configuration of the package: big cores (FPU, 16 KiB L1 caches) and a memory port of 64 or 128 bits.
    fn configuration(self) -> &'static str {
        match self {
            RocketSystem::One => "freechips.rocketchip.system.LitexFullConfig",
            RocketSystem::Four => "freechips.rocketchip.system.LitexFull4DConfig",
        }
    }

    /// The optimisation of code that is executed often: one core runs for hours, four cores run only the small programs
    /// of the validation.
    fn optimisation(self) -> String {
        match self {
            RocketSystem::One => optimisation(),
            RocketSystem::Four => "-O1".to_owned(),
        }
    }

    /// The macro that passes the number of cores to the host.
    fn definition(self) -> String {
        format!("-DROCKET_CORES={}", self.cores())
    }
}

const VERILATOR_FLAGS: &[&str] = &[
    "--cc",
    "--prefix",
    "Rocket",
    "--top-module",
    "ExampleRocketSystem",
    "-O3",
    "--x-assign",
    "0",
    "--x-initial",
    "0",
    "--no-assert",
    "--no-timing",
    // Without the simulation-only parts: bus monitors, random initial values, time-outs by plusarg.
    "-DSYNTHESIS",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
];

const COMPILER_FLAGS: &[&str] = &["-std=c++20", "-fPIC", "-fno-plt", "-w", "-march=native"];

/// The Verilog of the cores, with their ports for commands.
const CORES: &str = "cores.v";

/// Construction and initial values run once, so they are not worth optimising.
const ONCE: &str = "Slow.cpp";

impl Toolchain {
    /// Rocket cores, compiled from `verilog`, the folder of this name in the PyPI package `pythondata-cpu-rocket`, or
    /// taken from `cache`. Compiling one core takes about half a minute, four several minutes.
    ///
    /// # Errors
    /// [`RtlError::File`] when the folder is not that package's, [`RtlError::Tool`] when a tool
    /// fails, [`RtlError::Load`] when the result cannot be loaded.
    pub fn build_rocket(
        &self,
        system: RocketSystem,
        verilog: &Path,
        cache: &Cache,
    ) -> Result<RocketDesign, RtlError> {
        let file = generated_file(system, verilog, "v");
        let text = fs::read_to_string(&file).map_err(RtlError::file(&file))?;
        let cores = with_commands(&file, &text)?;
        let libraries = libraries(system, verilog);
        let name = self.rocket_name(system, &cores, &libraries)?;
        let path = cache.find_or_build(&name, |folder| {
            self.compile_rocket(system, &cores, &libraries, folder)
        })?;
        RocketDesign::load(system, &path)
    }

    fn rocket_name(
        &self,
        system: RocketSystem,
        cores: &str,
        libraries: &[PathBuf],
    ) -> Result<String, RtlError> {
        let mut parts = vec![format!(
            "{} {VERILATOR_FLAGS:?} {COMPILER_FLAGS:?} {} {}",
            self.target("rocket")?,
            system.definition(),
            system.optimisation()
        )];
        parts.push(run("rocket", Command::new(&self.verilator).arg("--version"))?);
        parts.extend(HOST.iter().map(|(_, text)| (*text).to_owned()));
        parts.push(cores.to_owned());
        for source in libraries {
            parts.push(fs::read_to_string(source).map_err(RtlError::file(source))?);
        }
        Ok(cache::library(parts.iter().map(String::as_bytes)))
    }

    fn compile_rocket(
        &self,
        system: RocketSystem,
        cores: &str,
        libraries: &[PathBuf],
        folder: &Path,
    ) -> Result<PathBuf, RtlError> {
        let cores_file = folder.join(CORES);
        write(&cores_file, cores)?;
        for (name, text) in HOST {
            write(&folder.join(name), text)?;
        }
        run(
            "rocket",
            Command::new(&self.verilator)
                .env("VERILATOR_ROOT", &self.root)
                .args(VERILATOR_FLAGS)
                .arg("--Mdir")
                .arg(folder)
                .arg(folder.join("visible.vlt"))
                .arg(&cores_file)
                .args(libraries),
        )?;
        let objects = [
            self.compile_group(system, folder, "often", &system.optimisation(), true)?,
            self.compile_group(system, folder, "once", "-O0", false)?,
        ];
        let library = folder.join("rocket.so");
        run(
            "rocket",
            Command::new(&self.compiler)
                .arg("-shared")
                .args(objects)
                .arg("-o")
                .arg(&library)
                .arg("-pthread"),
        )?;
        Ok(library)
    }

    /// Compiles the generated sources that are executed often (with the host and Verilator's runtime), or those that
    /// are executed once, as one unit.
    fn compile_group(
        &self,
        system: RocketSystem,
        folder: &Path,
        name: &str,
        optimise: &str,
        often: bool,
    ) -> Result<PathBuf, RtlError> {
        let include = self.root.join("include");
        let mut text = String::new();
        for source in generated(folder)? {
            if source.ends_with(ONCE) != often {
                text.push_str(&format!("#include \"{source}\"\n"));
            }
        }
        if often {
            text.push_str(
                "#include \"host.cpp\"\n#include \"verilated.cpp\"\n#include \"verilated_threads.cpp\"\n",
            );
        }
        let (source, object) = (
            folder.join(name).with_extension("cpp"),
            folder.join(name).with_extension("o"),
        );
        write(&source, &text)?;
        let mut command = Command::new(&self.compiler);
        command
            .args(COMPILER_FLAGS)
            .arg(system.definition())
            .arg(optimise);
        for path in [folder, &include, &include.join("vltstd")] {
            command.arg("-I").arg(path);
        }
        run("rocket", command.arg("-c").arg(&source).arg("-o").arg(&object))?;
        Ok(object)
    }
}

/// A file of the package that was generated for a system.
fn generated_file(system: RocketSystem, verilog: &Path, suffix: &str) -> PathBuf {
    verilog
        .join("generated-src")
        .join(format!("{}.{suffix}", system.configuration()))
}

/// The modules that the system uses.
fn libraries(system: RocketSystem, verilog: &Path) -> Vec<PathBuf> {
    let library = |name: &str| verilog.join("vsrc").join(name);
    vec![
        generated_file(system, verilog, "behav_srams.v"),
        library("plusarg_reader.v"),
        library("EICG_wrapper.v"),
        library("AsyncResetReg.v"),
    ]
}

fn generated(folder: &Path) -> Result<Vec<String>, RtlError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(RtlError::file(folder))? {
        let name = entry.map_err(RtlError::file(folder))?.file_name();
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("Rocket") && name.ends_with(".cpp") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn write(path: &Path, text: &str) -> Result<(), RtlError> {
    fs::write(path, text).map_err(RtlError::file(path))
}
