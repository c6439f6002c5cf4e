//! The processes, and their relations.

use crate::calls::refuse;
use rackwright_state::{state, Pass, State, StateError};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of a process, which is that of its first thread.
pub(crate) type ProcessId = u64;

/// The first process.
pub(crate) const FIRST: ProcessId = 1;

/// The end of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// It has exited with this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

impl Outcome {
    /// As a shell shows it.
    pub(crate) fn shown(self) -> i32 {
        match self {
            Outcome::Exited(status) => status,
            Outcome::Killed(signal) => 128 + signal,
        }
    }

    /// As `wait4` stores it.
    pub(crate) fn word(self) -> u32 {
        match self {
            Outcome::Exited(status) => (status as u32 & 0xff) << 8,
            Outcome::Killed(signal) => signal as u32,
        }
    }
}

/// Data about a process outside of itself.
#[derive(Clone, Copy, Default, Debug)]
struct Relations {
    parent: ProcessId,
    group: ProcessId,
    session: ProcessId,
    /// The order among all ends, and the outcome, until its parent has received it.
    ended: Option<(u64, Outcome)>,
}

#[derive(Debug)]
struct Tree {
    members: BTreeMap<ProcessId, Relations>,
    /// The number of the next process or thread.
    next: ProcessId,
    ended: u64,
}

/// All processes of a run. Numbers of processes and threads are unique in it.
#[derive(Clone, Debug)]
pub(crate) struct Family(Arc<Mutex<Tree>>);

/// Whom a process waits for or sends to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    Any,
    One(ProcessId),
    Group(ProcessId),
}

impl Which {
    fn is(self, id: ProcessId, relations: &Relations) -> bool {
        match self {
            Which::Any => true,
            Which::One(one) => one == id,
            Which::Group(group) => group == relations.group,
        }
    }
}

state!(Relations {
    parent,
    group,
    session,
    ended
});

impl State for Outcome {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let kind = |outcome: &Outcome| u64::from(matches!(outcome, Outcome::Killed(_)));
        by.as_number(self, kind, |kind| match kind {
            0 => Some(Outcome::Exited(0)),
            1 => Some(Outcome::Killed(0)),
            _ => None,
        })?;
        match self {
            Outcome::Exited(number) | Outcome::Killed(number) => number.pass(by),
        }
    }
}

impl State for Family {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let mut tree = self.tree();
        by.map(&mut tree.members, Relations::default)?;
        tree.next.pass(by)?;
        tree.ended.pass(by)
    }
}

impl Default for Outcome {
    fn default() -> Outcome {
        Outcome::Exited(0)
    }
}

impl Default for Family {
    /// The first process, which leads its group and its session.
    fn default() -> Family {
        let first = Relations {
            parent: 0,
            group: FIRST,
            session: FIRST,
            ended: None,
        };
        Family(Arc::new(Mutex::new(Tree {
            members: BTreeMap::from([(FIRST, first)]),
            next: FIRST + 1,
            ended: 0,
        })))
    }
}

impl Family {
    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a new process or thread.
    pub(crate) fn number(&self) -> ProcessId {
        let mut tree = self.tree();
        tree.next += 1;
        tree.next - 1
    }

    /// Another process, a child of `parent`.
    pub(crate) fn add(&self, parent: ProcessId) -> ProcessId {
        let child = self.number();
        let mut tree = self.tree();
        let relations = Relations {
            parent,
            ..tree.members[&parent]
        };
        tree.members.insert(child, relations);
        child
    }

    /// Records the end of a process; `is_awaited` states whether its parent may query it. Its children have no parent
    /// any more, and are not awaited.
    pub(crate) fn end(&self, id: ProcessId, outcome: Outcome, is_awaited: bool) {
        let mut tree = self.tree();
        tree.members
            .retain(|_, other| other.parent != id || other.ended.is_none());
        for other in tree.members.values_mut().filter(|other| other.parent == id) {
            other.parent = 0;
        }
        tree.ended += 1;
        let place = tree.ended;
        match tree.members.get_mut(&id) {
            Some(own) if is_awaited && own.parent != 0 => own.ended = Some((place, outcome)),
            _ => {
                tree.members.remove(&id);
            }
        }
    }

    /// The selected child of `parent` that ended first; none while none of them has ended. `ECHILD` without any.
    pub(crate) fn ended(&self, parent: ProcessId, which: Which) -> io::Result<Option<(ProcessId, Outcome)>> {
        let tree = self.tree();
        let children = tree
            .members
            .iter()
            .filter(|(id, child)| child.parent == parent && which.is(**id, child));
        let mut children = children.peekable();
        if children.peek().is_none() {
            return refuse(libc::ECHILD);
        }
        let ended = children.filter_map(|(id, child)| Some((child.ended?, *id)));
        let first = ended.min_by_key(|((place, _), _)| *place);
        Ok(first.map(|((_, outcome), id)| (id, outcome)))
    }

    /// Removes a process that has ended and has been reported to its parent.
    pub(crate) fn forget(&self, id: ProcessId) {
        self.tree().members.remove(&id);
    }

    /// The selected processes, including those that have ended.
    pub(crate) fn members(&self, which: Which) -> Vec<ProcessId> {
        let tree = self.tree();
        let members = tree.members.iter().filter(|(id, one)| which.is(**id, one));
        members.map(|(id, _)| *id).collect()
    }

    /// Whether there are others than the first one, ended or not.
    pub(crate) fn is_several(&self) -> bool {
        self.tree().members.len() > 1
    }

    fn relations(&self, id: ProcessId) -> io::Result<Relations> {
        let found = self.tree().members.get(&id).copied();
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
    }

    /// The parent of a process; none has zero.
    pub(crate) fn parent(&self, id: ProcessId) -> ProcessId {
        self.relations(id).map_or(0, |relations| relations.parent)
    }

    pub(crate) fn group(&self, id: ProcessId) -> io::Result<ProcessId> {
        self.relations(id).map(|relations| relations.group)
    }

    pub(crate) fn session(&self, id: ProcessId) -> io::Result<ProcessId> {
        self.relations(id).map(|relations| relations.session)
    }

    /// Moves `target`, which is the caller or its child, to a group of the same session.
    pub(crate) fn set_group(&self, caller: ProcessId, target: ProcessId, group: ProcessId) -> io::Result<()> {
        let mut tree = self.tree();
        let is_own = target == caller || tree.members.get(&target).is_some_and(|one| one.parent == caller);
        let Some(one) = tree.members.get(&target).copied().filter(|_| is_own) else {
            return refuse(libc::ESRCH);
        };
        let is_known = |other: &Relations| other.group == group && other.session == one.session;
        if one.group == group {
            return Ok(());
        }
        if one.session == target || group != target && !tree.members.values().any(is_known) {
            return refuse(libc::EPERM);
        }
        tree.members.insert(target, Relations { group, ..one });
        Ok(())
    }

    /// Has a process lead a session and a group of its own.
    pub(crate) fn begin_session(&self, id: ProcessId) -> io::Result<ProcessId> {
        let mut tree = self.tree();
        if tree.members.values().any(|other| other.group == id) {
            return refuse(libc::EPERM);
        }
        if let Some(one) = tree.members.get_mut(&id) {
            (one.group, one.session) = (id, id);
        }
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_learn_how_their_children_ended_in_that_order() {
        let family = Family::default();
        assert_eq!(
            family.ended(FIRST, Which::Any).unwrap_err().raw_os_error(),
            Some(libc::ECHILD)
        );
        let (one, other) = (family.add(FIRST), family.add(FIRST));
        let grandchild = family.add(one);
        assert_eq!(family.ended(FIRST, Which::Any).unwrap(), None);
        family.end(other, Outcome::Exited(3), true);
        family.end(one, Outcome::Killed(9), true);
        assert_eq!(family.parent(grandchild), 0);
        assert_eq!(
            family.ended(FIRST, Which::One(one)).unwrap(),
            Some((one, Outcome::Killed(9)))
        );
        assert_eq!(
            family.ended(FIRST, Which::Group(FIRST)).unwrap(),
            Some((other, Outcome::Exited(3)))
        );
        family.forget(other);
        family.forget(one);
        assert!(family.ended(FIRST, Which::Any).is_err() && family.is_several());
        family.end(grandchild, Outcome::Exited(0), true);
        assert!(!family.is_several());
    }

    #[test]
    fn groups_are_of_one_session() {
        let family = Family::default();
        let (one, other) = (family.add(FIRST), family.add(FIRST));
        family.set_group(FIRST, one, one).unwrap();
        family.set_group(other, other, one).unwrap();
        assert_eq!(family.members(Which::Group(one)), [one, other]);
        assert!(family.begin_session(one).is_err());
        family.begin_session(other).unwrap();
        assert_eq!(family.session(other).unwrap(), other);
        assert!(family.set_group(FIRST, other, one).is_err());
        assert!(family.set_group(one, other, one).is_err());
    }

    #[test]
    fn outcomes_are_what_wait_stores() {
        assert_eq!(
            (Outcome::Exited(7).word(), Outcome::Exited(7).shown()),
            (0x700, 7)
        );
        assert_eq!((Outcome::Killed(9).word(), Outcome::Killed(9).shown()), (9, 137));
    }
}
