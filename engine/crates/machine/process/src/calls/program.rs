//! The programs executed by `execve`.

use super::path::CURRENT_FOLDER;
use super::{number, refuse, Call};
use crate::files::check_readable;
use crate::gather;
use crate::process::{Arguments, Process, Program};
use rackwright_memory::GuestMemory;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest argument, and the most bytes of all of them, as in Linux by default.
const LONGEST: usize = 128 << 10;
const MOST_BYTES: usize = 2 << 20;
/// The first bytes of a script, whose first line names its interpreter, and the maximum length of that line.
const SCRIPT: &[u8] = b"#!";
const LONGEST_LINE: usize = 256;
/// Scripts that are read by scripts, at most.
const MOST_SCRIPTS: usize = 4;

impl Process {
    /// The program that `execve(path, arguments, environment)` names, or `execveat(folder, path, …)`.
    pub(crate) fn program_at(&self, number: u64, call: &Call<'_>) -> io::Result<Program> {
        let [first, second, third, fourth, fifth, _] = call.arguments;
        let (folder, name, arguments, environment) = if number == number::EXECVEAT {
            if fifth != 0 {
                return refuse(libc::ENOSYS);
            }
            (first, second, third, fourth)
        } else {
            (CURRENT_FOLDER, first, second, third)
        };
        let name = gather::path(call.memory, name)?;
        let given = Arguments {
            arguments: strings(call.memory, arguments)?,
            environment: strings(call.memory, environment)?,
        };
        self.program(folder, name, given, 0)
    }

    fn program(&self, folder: u64, name: PathBuf, given: Arguments, scripts: usize) -> io::Result<Program> {
        let path = self.resolve(folder, name.clone())?;
        if self.is_own_file(&path) || self.is_own_name(&name) && !path.exists() {
            let (file, path) = (self.own.bytes.clone(), self.own.path.clone());
            return Ok(Program { file, path, given });
        }
        let file = read(&path)?;
        let Some((interpreter, option)) = interpreter(&file) else {
            let path = fs::canonicalize(&path)?;
            return Ok(Program { file, path, given });
        };
        if scripts == MOST_SCRIPTS {
            return refuse(libc::ELOOP);
        }
        let mut arguments = vec![interpreter.as_os_str().as_bytes().to_vec()];
        arguments.extend(option);
        arguments.push(name.into_os_string().into_encoded_bytes());
        arguments.extend(given.arguments.into_iter().skip(1));
        let given = Arguments { arguments, ..given };
        self.program(CURRENT_FOLDER, interpreter, given, scripts + 1)
    }

    /// Whether a program is called by the name that this one was started by.
    fn is_own_name(&self, name: &Path) -> bool {
        let own = self.own.arguments.split(|byte| *byte == 0).next();
        own.is_some_and(|own| !own.is_empty() && name.as_os_str() == OsStr::from_bytes(own))
    }
}

fn read(path: &Path) -> io::Result<Arc<[u8]>> {
    check_readable(path)?;
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return refuse(libc::EACCES);
    }
    Ok(fs::read(path)?.into())
}

/// The interpreter in the first line of a script, and its optional argument.
fn interpreter(file: &[u8]) -> Option<(PathBuf, Option<Vec<u8>>)> {
    let line = file.strip_prefix(SCRIPT)?;
    let line = line[..line.len().min(LONGEST_LINE)]
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = line.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace);
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = rest.trim_ascii();
    let name = PathBuf::from(OsStr::from_bytes(name));
    Some((name, (!rest.is_empty()).then(|| rest.to_vec())))
}

/// The strings at the addresses in the list at `address`, which ends with zero.
fn strings(memory: &GuestMemory, address: u64) -> io::Result<Vec<Vec<u8>>> {
    let (mut strings, mut bytes) = (Vec::new(), 0);
    if address == 0 {
        return Ok(strings);
    }
    loop {
        let place = address.wrapping_add(strings.len() as u64 * 8);
        let string = match gather::word(memory, place)? {
            0 => return Ok(strings),
            place => gather::name(memory, place, LONGEST)?,
        };
        bytes += string.len() + 1 + size_of::<u64>();
        if string.len() == LONGEST || bytes > MOST_BYTES {
            return refuse(libc::E2BIG);
        }
        strings.push(string);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_what_reads_them() {
        let named = |text: &str| interpreter(text.as_bytes());
        let path = |name: &str| PathBuf::from(name);
        assert_eq!(named("#!/bin/sh\necho"), Some((path("/bin/sh"), None)));
        let option = Some(b"-u -v".to_vec());
        assert_eq!(
            named("#! /usr/bin/env  -u -v \n"),
            Some((path("/usr/bin/env"), option))
        );
        assert_eq!(named("\x7fELF"), None);
    }
}
