//! The simulator's data about the program and its machine: the files of `/proc` that programs read.

use crate::family::ProcessId;
use crate::follow::follow;
use crate::maps;
use crate::process::Process;
use rackwright_memory::GuestMemory;
use rackwright_time::Cycle;
use std::path::Path;

/// Folders of a process's own files, which also exist under its number.
const FOLDERS: [&str; 2] = ["/proc/self", "/proc/thread-self"];
const PROCESSES: &str = "/proc";
/// Names of the standard descriptors, and the folders of all of them.
const STANDARD: [&str; 3] = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
const DESCRIPTORS: &str = "/dev/fd";
/// The folder of descriptors among a process's own files.
const OWN_DESCRIPTORS: &str = "fd/";
/// The program's own file.
const PROGRAM: &str = "exe";

/// The name of a file about process `id`, which reads it.
fn own(path: &Path, id: ProcessId) -> Option<&str> {
    let by_number = Path::new(PROCESSES).join(id.to_string());
    let folders = FOLDERS.iter().map(Path::new).chain([by_number.as_path()]);
    let name = folders
        .filter_map(|folder| path.strip_prefix(folder).ok())
        .next()?;
    name.to_str()
}

/// The number of a process's own descriptor, from the link to what is behind it.
pub(crate) fn descriptor(path: &Path, id: ProcessId) -> Option<u64> {
    if let Some(number) = STANDARD.iter().position(|name| path == Path::new(name)) {
        return Some(number as u64);
    }
    let name = match path.strip_prefix(DESCRIPTORS) {
        Ok(name) => name.to_str(),
        Err(_) => own(path, id).and_then(|name| name.strip_prefix(OWN_DESCRIPTORS)),
    };
    name?.parse().ok()
}

impl Process {
    /// Whether `path` is the link to the program's own file.
    pub(crate) fn is_link(&self, path: &Path) -> bool {
        own(path, self.id) == Some(PROGRAM)
    }

    /// Whether `path` is that of the program's own file, or the link to it.
    pub(crate) fn is_own_file(&self, path: &Path) -> bool {
        self.is_link(path) || path == self.own.path
    }

    /// The contents of the file at `path`, if it is one of these.
    pub(crate) fn told(&self, path: &Path, memory: &GuestMemory, now: Cycle) -> Option<Vec<u8>> {
        let text = self.told_of(path, memory, now);
        text.or_else(|| self.told_of(&follow(path, true), memory, now))
    }

    fn told_of(&self, path: &Path, memory: &GuestMemory, now: Cycle) -> Option<Vec<u8>> {
        if self.is_own_file(path) {
            return Some(self.own.bytes.to_vec());
        }
        if let Some(name) = own(path, self.id) {
            return match name {
                "maps" => Some(maps::text(&self.layout, memory).into_bytes()),
                "cmdline" => Some(self.own.arguments.clone()),
                "environ" => Some(self.own.environment.clone()),
                "comm" => Some([&self.own.name[..], b"\n"].concat()),
                "stat" => Some(self.numbers(memory).into_bytes()),
                "status" => Some(self.status(memory).into_bytes()),
                _ => None,
            };
        }
        match path.to_str()? {
            "/proc/cpuinfo" => Some(self.harts_text().into_bytes()),
            "/proc/meminfo" => Some(memory_text(self.layout.memory_bytes()).into_bytes()),
            "/proc/uptime" => {
                let (seconds, nanoseconds) = self.uptime(now);
                let hundredths = nanoseconds / 10_000_000;
                Some(format!("{seconds}.{hundredths:02} 0.00\n").into_bytes())
            }
            _ => None,
        }
    }

    fn harts_text(&self) -> String {
        let hart = |number| {
            format!("processor\t: {number}\nhart\t\t: {number}\nisa\t\t: rv64imafdcv\nmmu\t\t: sv39\n\n")
        };
        (0..self.own.harts).map(hart).collect()
    }

    /// `/proc/self/status`: the lines with a value here, in the order of Linux.
    fn status(&self, memory: &GuestMemory) -> String {
        let (id, size) = (self.id, memory.end() / 1024);
        let root = "0\t0\t0\t0";
        [
            format!("Name:\t{}", String::from_utf8_lossy(&self.own.name)),
            format!("Umask:\t{:04o}", self.files.mask),
            "State:\tR (running)".to_string(),
            format!("Tgid:\t{id}\nPid:\t{id}\nPPid:\t{}", self.family.parent(id)),
            format!("TracerPid:\t0\nUid:\t{root}\nGid:\t{root}\nGroups:\t0 "),
            format!("VmPeak:\t{size:>8} kB\nVmSize:\t{size:>8} kB"),
        ]
        .join("\n")
            + "\n"
    }

    /// `/proc/self/stat`: 52 fields, with zero for those without a value here.
    fn numbers(&self, memory: &GuestMemory) -> String {
        const FIELDS: usize = 52;
        const VIRTUAL_BYTES: usize = 22;
        let mut fields = vec!["0".to_string(); FIELDS];
        fields[0] = self.id.to_string();
        fields[1] = format!("({})", String::from_utf8_lossy(&self.own.name));
        fields[2] = "R".to_string();
        fields[3] = self.family.parent(self.id).to_string();
        // Its group, its session, and its number of threads.
        let group = self.family.group(self.id).unwrap_or(self.id);
        let session = self.family.session(self.id).unwrap_or(self.id);
        for (field, number) in [(4, group), (5, session), (19, 1)] {
            fields[field] = number.to_string();
        }
        fields[VIRTUAL_BYTES] = memory.end().to_string();
        fields.join(" ") + "\n"
    }
}

fn memory_text(bytes: u64) -> String {
    let kibibytes = bytes / 1024;
    let lines = ["MemTotal", "MemFree", "MemAvailable"];
    lines
        .map(|name| format!("{:<15} {kibibytes:>8} kB\n", format!("{name}:")))
        .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_files_have_several_names() {
        for path in ["/proc/self/exe", "/proc/2/exe"] {
            assert_eq!(own(Path::new(path), 2), Some(PROGRAM));
        }
        assert_eq!(own(Path::new("/proc/1/exe"), 2), None);
        assert_eq!(own(Path::new("exe"), 2), None);
    }

    #[test]
    fn descriptors_have_several_names() {
        for path in ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2", "/proc/7/fd/2"] {
            assert_eq!(descriptor(Path::new(path), 7), Some(2));
        }
        for path in ["/dev/fd/x", "/dev/fd", "/proc/8/fd/2", "/proc/self/fd"] {
            assert_eq!(descriptor(Path::new(path), 7), None);
        }
    }
}
