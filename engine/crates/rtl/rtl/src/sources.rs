//! The files of a design: those in its manifest, and all files that these include.

use crate::environment::named_in_lists;
use crate::verilator::{is_list, run};
use crate::{cache, Cache, Manifest, RtlError, Toolchain};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All files that the tools read for a design, with hashes of their contents.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Sources {
    files: Vec<SourceFile>,
    /// Existing files at places that the tools search for one of `files`, before or after the place where they find it.
    candidates: BTreeSet<PathBuf>,
    /// The folders that the tools search.
    folders: Vec<PathBuf>,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct SourceFile {
    path: PathBuf,
    hash: String,
}

impl Sources {
    /// The files of `manifest`. Elaborated designs list all of them; files included by others are found by the tools,
    /// and recorded in `cache` until one of them changes, or another file could be found instead.
    ///
    /// # Errors
    /// [`RtlError::File`] if a file does not exist, [`RtlError::Tool`] if a tool refuses them.
    pub(crate) fn find(tools: &Toolchain, manifest: &Manifest, cache: &Cache) -> Result<Sources, RtlError> {
        if manifest.is_elaborated() {
            return Sources::of(manifest.verilog_paths(), Vec::new());
        }
        let command = tools.verilate(manifest, Path::new(""));
        let lists = manifest.verilog_paths();
        let asked = format!(
            "{command:?} {:?} {} {:?}",
            manifest.dpi_paths(),
            tools.version(&manifest.unit)?,
            named_in_lists(lists.iter().map(PathBuf::as_path))
        );
        let name = format!("{}.sources", cache::key([asked.as_bytes()]));
        if let Some(known) = cache.find(&name).and_then(|path| Sources::known(&path)) {
            return Ok(known);
        }
        let found = cache.in_workspace(&name, |folder| {
            let found = Sources::read_by_tools(tools, manifest, folder)?;
            let record = folder.join("sources.json");
            let text = serde_json::to_vec(&found).expect("paths and hashes are text");
            fs::write(&record, text).map_err(RtlError::file(&record))?;
            cache.keep(&name, &record)?;
            Ok(found)
        })?;
        Ok(found)
    }

    /// The contents of each file, in an order that does not depend on their paths.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.hash.as_str())
    }

    /// Checks that the files are unchanged.
    ///
    /// # Errors
    /// [`RtlError::Changed`] for the first one that is not.
    pub(crate) fn check(&self, unit: &str) -> Result<(), RtlError> {
        match self.files.iter().find(|file| !file.is_current()) {
            None => Ok(()),
            Some(file) => Err(RtlError::Changed {
                unit: unit.to_string(),
                path: file.path.clone(),
            }),
        }
    }

    /// The sources in a record, if it is still valid.
    fn known(record: &Path) -> Option<Sources> {
        let known: Sources = serde_json::from_slice(&fs::read(record).ok()?).ok()?;
        let paths = known.files.iter().map(|file| file.path.as_path());
        let current = candidates(paths, &known.folders) == known.candidates
            && known.files.iter().all(SourceFile::is_current);
        current.then_some(known)
    }

    fn read_by_tools(tools: &Toolchain, manifest: &Manifest, folder: &Path) -> Result<Sources, RtlError> {
        let mut paths = manifest.verilog_paths();
        if let Some(missing) = paths.iter().find(|path| !path.is_file()) {
            return Err(RtlError::file(missing)(std::io::ErrorKind::NotFound.into()));
        }
        let mut verilator = tools.verilate(manifest, folder);
        run(&manifest.unit, verilator.args(["--lint-only", "--MMD"]))?;
        let rule = folder.join("Vunit__ver.d");
        let mut read = prerequisites(&fs::read_to_string(&rule).map_err(RtlError::file(&rule))?);
        for source in manifest.dpi_paths() {
            let mut compiler = tools.imported(manifest, &source);
            read.extend(prerequisites(&run(
                &manifest.unit,
                compiler.args(["-MM", "-MG"]),
            )?));
        }
        let read = read.iter().map(|path| manifest.data_folder().join(path));
        let included: BTreeSet<PathBuf> = read
            .filter(|path| !path.starts_with(&tools.root) && path.is_file())
            .collect();
        paths.extend(included);
        let mut folders = manifest.include_folders();
        folders.extend(paths.iter().filter_map(|path| Some(path.parent()?.to_path_buf())));
        Sources::of(paths, folders)
    }

    fn of(paths: Vec<PathBuf>, folders: Vec<PathBuf>) -> Result<Sources, RtlError> {
        let mut files: Vec<SourceFile> = Vec::new();
        for path in paths {
            if files.iter().any(|file| file.path == path) {
                continue;
            }
            let hash = hash(&path).map_err(RtlError::file(&path))?;
            files.push(SourceFile { path, hash });
        }
        let candidates = candidates(files.iter().map(|file| file.path.as_path()), &folders);
        Ok(Sources {
            files,
            candidates,
            folders,
        })
    }
}

impl SourceFile {
    fn is_current(&self) -> bool {
        hash(&self.path).is_ok_and(|hash| hash == self.hash)
    }
}

fn hash(path: &Path) -> std::io::Result<String> {
    let name = path.file_name().unwrap_or_default();
    Ok(cache::key([name.as_encoded_bytes(), &fs::read(path)?]))
}

/// The files in `folders` whose paths end as one of `paths` does: `include "a/b.svh"` may mean each `a/b.svh`.
fn candidates<'a>(paths: impl Iterator<Item = &'a Path>, folders: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for path in paths.filter(|path| !is_list(path)) {
        let mut ending = PathBuf::new();
        for part in path.components().rev() {
            // An empty ending would add a slash.
            ending = match ending.as_os_str().is_empty() {
                true => PathBuf::from(part.as_os_str()),
                false => Path::new(part.as_os_str()).join(&ending),
            };
            let places = folders.iter().map(|folder| folder.join(&ending));
            found.extend(places.filter(|place| place.is_file()));
        }
    }
    found
}

/// The prerequisites of a rule of make.
fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let Some((_, files)) = rule.split_once(": ") else {
        return Vec::new();
    };
    let joined = files.replace("\\\n", " ").replace("\\ ", "\0");
    let words = joined.split_whitespace();
    words.map(|word| PathBuf::from(word.replace('\0', " "))).collect()
}
