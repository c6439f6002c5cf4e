use crate::sources::Sources;
use crate::{binding, cache, pins, runtime, Cache, Design, Manifest, Naming, Port, RtlError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Compiled with every source.
pub(crate) const REPORTS: (&str, &str) = ("reports.h", include_str!("../host/reports.h"));

const HOST: &[(&str, &str)] = &[
    ("interface.h", include_str!("../host/interface.h")),
    ("channels.h", include_str!("../host/channels.h")),
    REPORTS,
    ("stream.h", include_str!("../host/stream.h")),
    ("axi.h", include_str!("../host/axi.h")),
    ("stimulus.h", include_str!("../host/stimulus.h")),
    ("host.cpp", include_str!("../host/host.cpp")),
];

/// Also compiled with designs that translate addresses.
const TRANSLATED: (&str, &str) = ("translated.h", include_str!("../host/translated.h"));

/// Also compiled with designs that watch memory.
const WATCH: (&str, &str) = ("watch.h", include_str!("../host/watch.h"));

/// Also compiled with designs that have several clocks.
const CLOCKS: (&str, &str) = ("clocks.h", include_str!("../host/clocks.h"));

/// Also compiled with designs that have AMBA buses.
const AMBA: (&str, &str) = ("amba.h", include_str!("../host/amba.h"));

/// Also compiled with designs that have ports of TileLink.
const TILELINK: (&str, &str) = ("tilelink.h", include_str!("../host/tilelink.h"));

/// The sources that the design of `manifest` is compiled with.
fn host(manifest: &Manifest) -> impl Iterator<Item = (&'static str, &'static str)> {
    HOST.iter().copied().chain(added(manifest))
}

/// The additional ports of a design, which not every design has.
pub(crate) fn added(manifest: &Manifest) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_amba = |port: &Port| match port {
        Port::Axi4 { naming, .. } => *naming != Naming::Elaborated,
        Port::Axi4Lite { .. } | Port::Apb { .. } | Port::TileLink { .. } => true,
        _ => false,
    };
    let translated = manifest.is_translated().then_some(TRANSLATED);
    let watch = manifest.watches().then_some(WATCH);
    let amba = manifest.ports.iter().any(is_amba).then_some(AMBA);
    let is_tilelink = |port: &Port| matches!(port, Port::TileLink { .. });
    let tilelink = manifest.ports.iter().any(is_tilelink).then_some(TILELINK);
    let clocks = (manifest.clocks().len() > 1).then_some(CLOCKS);
    translated
        .into_iter()
        .chain(watch)
        .chain(amba)
        .chain(tilelink)
        .chain(clocks)
}

/// Also compiled with designs whose state can be saved.
const STATE: (&str, &str) = ("state.h", include_str!("../host/state.h"));

/// Number of lines of a tool's output that an error contains.
const ERROR_LINES: usize = 20;

/// The tools that turn Verilog into a shared library. This is the compiler of RTL behind the
/// interface "manifest and Verilog in, shared library out".
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The program `verilator_bin`.
    pub verilator: PathBuf,
    /// Verilator's root folder, with `include/verilated.cpp`.
    pub root: PathBuf,
    /// The C++ compiler: clang 16 or newer by preference, else g++.
    pub compiler: PathBuf,
}

/// The options for a build, in addition to the plain design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// What file of their signals instances can write (slower).
    pub waves: Option<Waves>,
    /// Whether the state of instances can be saved and restored (takes longer to compile).
    pub with_state: bool,
}

impl BuildOptions {
    /// What they add to the name of a design in the cache, and to its last source.
    fn state(self, manifest: &Manifest) -> Result<Option<String>, RtlError> {
        if !self.with_state {
            return Ok(None);
        }
        let passes = binding::state(manifest).map_err(|port| RtlError::UnsavedPort {
            unit: manifest.unit.clone(),
            port,
        })?;
        Ok(Some(format!("#include \"{}\"\n{passes}", STATE.0)))
    }
}

/// A file of signals, by its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waves {
    /// What each signal is in each cycle.
    Fst,
    /// How often each bit changes, and how long it is 1.
    Saif,
}

impl Waves {
    /// The format of a file of this name: SAIF if it ends so, else FST.
    pub fn of(path: &Path) -> Waves {
        match path.extension() {
            Some(extension) if extension == "saif" => Waves::Saif,
            _ => Waves::Fst,
        }
    }

    /// Words for Verilator. Memories of flops are counted too, those that are large enough for macros are not.
    fn verilator_flags(self) -> &'static [&'static str] {
        match self {
            Waves::Fst => &["--trace-fst"],
            Waves::Saif => &[
                "--trace-saif",
                "--trace-max-array",
                "256",
                "--trace-max-width",
                "4096",
            ],
        }
    }

    /// Words for the compiler of the host.
    fn compiler_flags(self) -> &'static [&'static str] {
        match self {
            Waves::Fst => &["-DRACKWRIGHT_WAVES"],
            Waves::Saif => &["-DRACKWRIGHT_WAVES", "-DRACKWRIGHT_ACTIVITY"],
        }
    }

    fn libraries(self) -> &'static [&'static str] {
        match self {
            Waves::Fst => &["-lz", "-llz4"],
            Waves::Saif => &[],
        }
    }

    /// The source of Verilator's that writes the file.
    pub(crate) fn runtime(self) -> &'static str {
        match self {
            Waves::Fst => "verilated_fst_c.cpp",
            Waves::Saif => "verilated_saif_c.cpp",
        }
    }
}

impl Toolchain {
    /// The design of `manifest`, compiled or taken from `cache`.
    ///
    /// # Errors
    /// [`RtlError::MissingPin`] when the Verilog lacks a promised pin, [`RtlError::Tool`] when a
    /// tool fails, [`RtlError::File`] and [`RtlError::Load`] for the files.
    pub fn build(
        &self,
        manifest: Manifest,
        options: BuildOptions,
        cache: &Cache,
    ) -> Result<Design, RtlError> {
        let sources = Sources::find(self, &manifest, cache)?;
        let name = self.library(&manifest, options, &sources)?;
        let path = cache.find_or_build(&name, |folder| {
            let library = Build {
                tools: self,
                manifest: &manifest,
                options,
                cache,
                folder,
            }
            .run()?;
            sources.check(&manifest.unit)?;
            Ok(library)
        })?;
        Design::load(&path, manifest)
    }

    fn library(
        &self,
        manifest: &Manifest,
        options: BuildOptions,
        sources: &Sources,
    ) -> Result<String, RtlError> {
        let binding = binding::header(manifest);
        let passes = options.state(manifest)?;
        let tools = format!(
            "{:?} {:?} BuildOptions {{ waves: {:?} }}",
            self.version(&manifest.unit)?,
            self.target(&manifest.unit)?,
            options.waves
        );
        let flags = [READER_FLAGS, VERILATOR_FLAGS].concat().join(" ");
        let compiled = compiler_flags().join(" ");
        let pins = pins::text(manifest);
        let chosen = chosen(manifest).join(" ");
        let texts = [
            binding.as_str(),
            &pins,
            &manifest.top,
            &tools,
            &flags,
            &compiled,
            &chosen,
        ];
        let state = passes.iter().flat_map(|passes| [STATE.1, passes.as_str()]);
        let hosts = host(manifest).map(|(_, text)| text).chain(state);
        let sources = sources.hashes();
        Ok(cache::library(
            texts.into_iter().chain(hosts).chain(sources).map(str::as_bytes),
        ))
    }

    pub(crate) fn version(&self, unit: &str) -> Result<String, RtlError> {
        ask(unit, self.verilator_command().arg("--version"))
    }

    /// The target of the compiler: its version, and each instruction set extension of this processor.
    pub(crate) fn target(&self, unit: &str) -> Result<String, RtlError> {
        let mut command = Command::new(&self.compiler);
        ask(
            unit,
            command.args(["-march=native", "-dM", "-E", "-x", "c++", "/dev/null"]),
        )
    }

    /// Compiles `source`, which includes the header `first` first, with the headers of `folder`, into `object`.
    pub(crate) fn compile(&self, folder: &Path, first: &Path, source: &Path, object: &Path) -> Command {
        let mut command = self.compile_with(&[folder]);
        command.arg("-include").arg(first);
        command.arg("-c").arg(source).arg("-o").arg(object);
        command
    }

    /// Compiles a header into `compiled`, which the compiler takes in its place if it has its name and ".gch".
    pub(crate) fn compile_header(&self, header: &Path, compiled: &Path) -> Command {
        let mut command = self.compile_with(&[]);
        // Files that were copied with their contents, such as those of another checkout, have other times.
        if self.is_clang() {
            command.args(["-Xclang", "-fno-pch-timestamp"]);
        }
        command
            .args(["-x", "c++-header"])
            .arg(header)
            .arg("-o")
            .arg(compiled);
        command
    }

    fn compile_with(&self, folders: &[&Path]) -> Command {
        let include = self.root.join("include");
        let mut command = Command::new(&self.compiler);
        command.args(compiler_flags());
        for headers in folders
            .iter()
            .copied()
            .chain([&*include, &include.join("vltstd")])
        {
            command.arg("-I").arg(headers);
        }
        command
    }

    fn is_clang(&self) -> bool {
        let name = self.compiler.file_name().unwrap_or_default();
        name.to_string_lossy().contains("clang")
    }

    /// The compiler with the options for a source in C or C++ that the Verilog of `manifest` imports.
    pub(crate) fn imported(&self, manifest: &Manifest, source: &Path) -> Command {
        let include = self.root.join("include");
        let mut command = Command::new(&self.compiler);
        let is_c = source.extension().is_some_and(|extension| extension == "c");
        command.args(if is_c {
            ["-x", "c", "-std=gnu11"]
        } else {
            ["-x", "c++", "-std=c++17"]
        });
        command.arg(source);
        for headers in manifest
            .include_folders()
            .iter()
            .chain([&include, &include.join("vltstd")])
        {
            command.arg("-I").arg(headers);
        }
        command
    }

    fn verilator_command(&self) -> Command {
        let mut command = Command::new(&self.verilator);
        command.env("VERILATOR_ROOT", &self.root);
        command
    }

    /// Verilator with the options for the Verilog of `manifest`, with output to `folder`.
    pub(crate) fn verilate(&self, manifest: &Manifest, folder: &Path) -> Command {
        let mut command = self.verilator_command();
        command
            .current_dir(manifest.data_folder())
            .args(READER_FLAGS)
            .arg("--Mdir")
            .arg(folder)
            .arg("--top-module")
            .arg(&manifest.top);
        for include in manifest.include_folders() {
            command.arg(prefixed("-I", &include));
        }
        command.args(chosen(manifest));
        for file in manifest.verilog_paths() {
            if is_list(&file) {
                command.arg("-F");
            }
            command.arg(file);
        }
        command
    }
}

/// Whether a file lists others, as options of a simulator.
pub(crate) fn is_list(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "f")
}

/// The manifest's settings for the Verilog: its macros, and parameters of the top module.
fn chosen(manifest: &Manifest) -> Vec<String> {
    let defined = manifest.define.iter().map(|(name, value)| match value {
        Value::String(text) => format!("-D{name}={text}"),
        other => format!("-D{name}={}", number(other)),
    });
    let parameters = (!manifest.is_elaborated()).then_some(&manifest.parameters);
    let parameters = parameters.into_iter().flatten().map(|(name, value)| match value {
        Value::String(text) if !is_literal(text) => format!("-G{name}=\"{text}\""),
        Value::String(text) => format!("-G{name}={text}"),
        other => format!("-G{name}={}", number(other)),
    });
    defined.chain(parameters).collect()
}

fn number(value: &Value) -> String {
    match value {
        Value::Bool(bit) => u8::from(*bit).to_string(),
        other => other.to_string(),
    }
}

/// Whether a word is a number as Verilog writes it: `8'hff`, `'b1`.
fn is_literal(word: &str) -> bool {
    word.split_once('\'').is_some_and(|(size, digits)| {
        let based = digits.starts_with(['b', 'o', 'd', 'h', 'B', 'O', 'D', 'H']) || digits.starts_with("sh");
        based && size.chars().all(|digit| digit.is_ascii_digit())
    })
}

/// The line that includes a source of Verilator's. A "slow" one has what runs before the first cycle and after the
/// last one: clang does not optimise it, which saves a tenth of the time. g++ does not know these words.
fn include(name: &str) -> String {
    let include = format!("#include \"{name}\"\n");
    if name.contains("Slow") {
        format!("#pragma clang optimize off\n{include}#pragma clang optimize on\n")
    } else {
        include
    }
}

fn prefixed(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

/// Options for reading Verilog. `--x-initial 0` and `--x-assign 0`: values that the RTL leaves undefined are the same
/// in every run.
const READER_FLAGS: &[&str] = &[
    "--prefix",
    "Vunit",
    "--relative-includes",
    "--x-assign",
    "0",
    "--x-initial",
    "0",
    "--assert",
    "--no-timing",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
];

/// Options for generating C++.
///
/// `--output-split-cfuncs`: the longest function, in statements. Compile time increases faster than the length of a
/// function: with several functions, the ZStd decompressor takes a third of the time for a single one, and is equally
/// fast.
const VERILATOR_FLAGS: &[&str] = &[
    "--cc",
    "-O3",
    "--output-split",
    "0",
    "--output-split-cfuncs",
    "500",
];

const COMPILER_FLAGS: &[&str] = &[
    "-std=c++17",
    "-march=native",
    "-fPIC",
    "-fno-plt",
    "-DVL_TIME_CONTEXT",
    "-w",
];

/// The environment variable with another optimisation of designs, such as "-O1". Tests simulate few cycles of each
/// design: they save more when it is compiled than its cycles lose. Results do not depend on it.
const OPTIMISATION: &str = "RACKWRIGHT_RTL_OPTIMISATION";

/// The optimisation of a design that runs for long, unless the environment has another one.
pub(crate) fn optimisation() -> String {
    std::env::var(OPTIMISATION).unwrap_or_else(|_| "-O3".to_owned())
}

/// The options of the compiler for all sources of a design.
pub(crate) fn compiler_flags() -> Vec<String> {
    let fixed = COMPILER_FLAGS.iter().map(|&flag| flag.to_owned());
    [optimisation()].into_iter().chain(fixed).collect()
}

/// The name of the compiler in errors.
const CPP: &str = "C++ compiler";

struct Build<'a> {
    tools: &'a Toolchain,
    manifest: &'a Manifest,
    options: BuildOptions,
    cache: &'a Cache,
    folder: &'a Path,
}

impl Build<'_> {
    fn run(&self) -> Result<PathBuf, RtlError> {
        self.verilate()?;
        self.write_host()?;
        let headers = runtime::headers(self.tools, &self.manifest.unit, self.cache)?;
        let compiling = self.start_compiler(&headers)?;
        let runtime = runtime::objects(self.tools, self.manifest, self.options, self.cache);
        self.finish(CPP, compiling)
            .or_else(|error| self.compile_again(&headers, error))?;
        let mut objects = runtime?;
        objects.extend(self.imported()?);
        self.link(&objects)
    }

    /// The objects of the functions in C and C++ that the Verilog imports.
    fn imported(&self) -> Result<Vec<PathBuf>, RtlError> {
        let sources = self.manifest.dpi_paths();
        let object = |(number, source): (usize, &PathBuf)| {
            let object = self.folder.join(format!("imported-{number}.o"));
            let mut command = self.tools.imported(self.manifest, source);
            command.arg("-I").arg(self.folder);
            run(
                &self.manifest.unit,
                command.args(["-O2", "-fPIC", "-c", "-o"]).arg(&object),
            )?;
            Ok(object)
        };
        sources.iter().enumerate().map(object).collect()
    }

    fn verilate(&self) -> Result<(), RtlError> {
        let mut command = self.tools.verilate(self.manifest, self.folder);
        command.args(VERILATOR_FLAGS);
        if let Some(waves) = self.options.waves {
            command.args(waves.verilator_flags());
        }
        if self.options.with_state {
            command.arg("--savable");
        }
        run(&self.manifest.unit, &mut command)?;
        let header = self.read("Vunit.h")?;
        pins::check(self.manifest, &header)
    }

    /// Writes the host and one source that includes all of the design, so that the compiler can inline the evaluation
    /// into the surrounding loop.
    fn write_host(&self) -> Result<(), RtlError> {
        for (name, text) in host(self.manifest) {
            self.write(name, text)?;
        }
        let binding = pins::with_names(
            binding::header(self.manifest),
            self.manifest,
            &self.read("Vunit.h")?,
        );
        self.write("binding.h", &binding)?;
        let mut unit = String::new();
        for name in self.generated_sources()? {
            unit.push_str(&include(&name));
        }
        unit.push_str("#include \"host.cpp\"\n");
        if let Some(passes) = self.options.state(self.manifest)? {
            self.write(STATE.0, STATE.1)?;
            unit.push_str(&passes);
        }
        self.write("unit.cpp", &unit)
    }

    fn generated_sources(&self) -> Result<Vec<String>, RtlError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.folder).map_err(RtlError::file(self.folder))? {
            let name = entry.map_err(RtlError::file(self.folder))?.file_name();
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("Vunit") && name.ends_with(".cpp") {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    fn object(&self) -> PathBuf {
        self.folder.join("unit.o")
    }

    fn start_compiler(&self, headers: &Path) -> Result<std::process::Child, RtlError> {
        let source = self.folder.join("unit.cpp");
        let mut command = self.tools.compile(self.folder, headers, &source, &self.object());
        if let Some(waves) = self.options.waves {
            command.args(waves.compiler_flags());
        }
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .stdin(Stdio::null());
        command.spawn().map_err(RtlError::file(&self.tools.compiler))
    }

    /// Compiles without what the compiler has read of `headers` if one of them has changed since, such as the system's.
    fn compile_again(&self, headers: &Path, error: RtlError) -> Result<(), RtlError> {
        let is_outdated = |said: &str| said.contains("precompiled") || said.contains("PCH");
        match &error {
            RtlError::Tool { output, .. } if is_outdated(output) => {
                let _ = fs::remove_file(headers.with_extension(runtime::READ));
                self.finish(CPP, self.start_compiler(headers)?)
            }
            _ => Err(error),
        }
    }

    fn finish(&self, tool: &str, child: std::process::Child) -> Result<(), RtlError> {
        let output = child
            .wait_with_output()
            .map_err(RtlError::file(&self.tools.compiler))?;
        check(&self.manifest.unit, tool, &output).map(|_| ())
    }

    fn link(&self, runtime: &[PathBuf]) -> Result<PathBuf, RtlError> {
        let library = self.folder.join("unit.so");
        let mut command = Command::new(&self.tools.compiler);
        command
            .arg("-shared")
            .arg(self.object())
            .args(runtime)
            .arg("-o")
            .arg(&library)
            .arg("-pthread");
        if let Some(waves) = self.options.waves {
            command.args(waves.libraries());
        }
        run(&self.manifest.unit, &mut command)?;
        Ok(library)
    }

    fn read(&self, name: &str) -> Result<String, RtlError> {
        let path = self.folder.join(name);
        fs::read_to_string(&path).map_err(RtlError::file(path))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), RtlError> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(RtlError::file(path))
    }
}

/// What a tool says of itself, once in a process: starting the tools takes longer than finding a compiled design.
fn ask(unit: &str, command: &mut Command) -> Result<String, RtlError> {
    static ANSWERS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let question = format!("{command:?}");
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = answers.get(&question) {
        return Ok(known.clone());
    }
    let answer = run(unit, command)?;
    answers.insert(question, answer.clone());
    Ok(answer)
}

pub(crate) fn run(unit: &str, command: &mut Command) -> Result<String, RtlError> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(RtlError::file(&tool))?;
    check(unit, &tool, &output)
}

fn check(unit: &str, tool: &str, output: &std::process::Output) -> Result<String, RtlError> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let all = text(&output.stderr) + &text(&output.stdout);
    let kept: Vec<&str> = all.lines().take(ERROR_LINES).collect();
    Err(RtlError::Tool {
        tool: tool.to_string(),
        unit: unit.to_string(),
        output: kept.join("\n"),
    })
}
