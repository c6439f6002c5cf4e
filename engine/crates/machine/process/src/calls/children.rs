//! Processes among each other: children that have ended, groups, sessions.

use super::{number, refuse, Call};
use crate::family::{Outcome, ProcessId, Which};
use crate::gather;
use crate::process::Process;
use crate::threads::Information;
use std::io;

/// The options of `wait4` and `waitid` that have an effect here: no process is stopped or continued.
const NO_HANG: i32 = libc::WNOHANG;
const KNOWN_OPTIONS: i32 = libc::WNOHANG
    | libc::WUNTRACED
    | libc::WCONTINUED
    | libc::WEXITED
    | libc::WNOWAIT
    | libc::__WALL
    | libc::__WCLONE
    | libc::__WNOTHREAD;

/// Words of `struct rusage`, which has no data about children.
const USAGE_WORDS: usize = 18;

/// Kinds of `waitid`.
const ALL: u64 = 0;
const ONE: u64 = 1;
const GROUP: u64 = 2;

impl Process {
    pub(super) fn family_call(&mut self, number: u64, call: &mut Call<'_>) -> io::Result<u64> {
        let [first, second, ..] = call.arguments;
        match number {
            number::WAIT4 => self.wait(call),
            number::WAITID => self.wait_for_id(call),
            number::GETPPID => Ok(self.family.parent(self.id)),
            number::GETPGID => self.family.group(self.one_of_us(first)),
            number::GETSID => self.family.session(self.one_of_us(first)),
            number::SETPGID => {
                let target = self.one_of_us(first);
                let group = if second as i32 == 0 { target } else { second };
                self.family.set_group(self.id, target, group).map(|()| 0)
            }
            number::SETSID => self.family.begin_session(self.id),
            _ => self.unknown(number),
        }
    }

    /// The process with this number; zero stands for the caller.
    pub(super) fn one_of_us(&self, process: u64) -> ProcessId {
        match process as i32 {
            0 => self.id,
            id => id as ProcessId,
        }
    }

    /// The processes that `kill` sends to. `ESRCH` when there are none.
    pub(crate) fn targets(&self, process: i32) -> io::Result<Vec<ProcessId>> {
        let which = self.which(process)?;
        let targets = self.family.members(which);
        if targets.is_empty() {
            return refuse(libc::ESRCH);
        }
        Ok(targets)
    }

    fn which(&self, process: i32) -> io::Result<Which> {
        Ok(match process {
            -1 => Which::Any,
            0 => Which::Group(self.family.group(self.id)?),
            i32::MIN..0 => Which::Group(process.unsigned_abs().into()),
            _ => Which::One(process as ProcessId),
        })
    }

    /// `wait4(process, status, options, usage)`.
    fn wait(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [process, status, options, usage, ..] = call.arguments;
        let Some((child, outcome)) = self.ended_child(self.which(process as i32)?, options as i32)? else {
            return Ok(0);
        };
        if status != 0 {
            let word = outcome.word().to_le_bytes();
            call.memory.write(status, &word).map_err(gather::fault)?;
        }
        if usage != 0 {
            gather::store_words(call.memory, usage, &[0; USAGE_WORDS])?;
        }
        Ok(child)
    }

    /// `waitid(kind, id, information, options, usage)`.
    fn wait_for_id(&mut self, call: &mut Call<'_>) -> io::Result<u64> {
        let [kind, id, place, options, usage, _] = call.arguments;
        let which = match (kind, id) {
            (ALL, _) => Which::Any,
            (ONE, id) => Which::One(id),
            (GROUP, 0) => Which::Group(self.family.group(self.id)?),
            (GROUP, id) => Which::Group(id),
            _ => return refuse(libc::EINVAL),
        };
        if options as i32 & (libc::WEXITED | libc::WUNTRACED | libc::WCONTINUED) == 0 {
            return refuse(libc::EINVAL);
        }
        let words = match self.ended_child(which, options as i32)? {
            Some((child, outcome)) => Information::of_child(child, outcome).words(),
            None => [0; 4],
        };
        if place != 0 {
            gather::store_words(call.memory, place, &words)?;
        }
        if usage != 0 {
            gather::store_words(call.memory, usage, &[0; USAGE_WORDS])?;
        }
        Ok(0)
    }

    /// A child that has ended, which is then removed unless the caller wants to query it again. None if the caller does
    /// not wait for one, and `EAGAIN` if it does.
    fn ended_child(&mut self, which: Which, options: i32) -> io::Result<Option<(ProcessId, Outcome)>> {
        if options & !KNOWN_OPTIONS != 0 {
            return refuse(libc::EINVAL);
        }
        let ended = self.family.ended(self.id, which)?;
        match ended {
            Some((child, _)) if options & libc::WNOWAIT == 0 => self.family.forget(child),
            None if options & NO_HANG == 0 => return refuse(libc::EAGAIN),
            _ => {}
        }
        Ok(ended)
    }
}
