//! Where paths lead. Links in the host's own state lead outside of the visible files, and are not followed.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// Files below these describe the simulator or the host, and differ between runs.
const HOST_STATE: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Maximum number of links in a path, as in Linux.
const MOST_LINKS: usize = 40;

/// Whether a path, without following links, is in the host's state.
pub(crate) fn is_state(path: &Path) -> bool {
    HOST_STATE.iter().any(|folder| path.starts_with(folder))
}

/// The path without links, with the last one followed if requested; or the path of the first link, or of the end, that
/// is in the host's state. Parts that do not exist are unchanged.
pub(crate) fn follow(path: &Path, follows_last: bool) -> PathBuf {
    let mut way = Way::to(path);
    let mut links = 0;
    while let Some(part) = way.left.pop() {
        match part {
            Part::Up => {
                way.at.pop();
            }
            Part::Name(name) => {
                way.at.push(name);
                let is_followed = follows_last || !way.left.is_empty();
                let Some(target) = is_followed.then(|| fs::read_link(&way.at).ok()).flatten() else {
                    continue;
                };
                links += 1;
                if is_state(&way.at) || links > MOST_LINKS {
                    way.at.extend(way.left.iter().rev().map(Part::text));
                    return way.at;
                }
                way.at.pop();
                way.turn(&target);
            }
        }
    }
    way.at
}

/// A step of a path.
enum Part {
    Up,
    Name(std::ffi::OsString),
}

impl Part {
    fn text(&self) -> &std::ffi::OsStr {
        match self {
            Part::Up => "..".as_ref(),
            Part::Name(name) => name,
        }
    }
}

struct Way {
    /// The path so far.
    at: PathBuf,
    /// The steps that are left, the last one first.
    left: Vec<Part>,
}

impl Way {
    fn to(path: &Path) -> Way {
        let mut way = Way {
            at: std::env::current_dir().unwrap_or_default(),
            left: Vec::new(),
        };
        way.turn(path);
        way
    }

    /// Follows `path` first.
    fn turn(&mut self, path: &Path) {
        for component in path.components().rev() {
            match component {
                Component::ParentDir => self.left.push(Part::Up),
                Component::Normal(name) => self.left.push(Part::Name(name.to_os_string())),
                Component::RootDir => self.at = PathBuf::from("/"),
                Component::CurDir | Component::Prefix(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_up_to_the_hosts_state() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let place = |name: &str| base.join(name);
        fs::create_dir(place("sub")).unwrap();
        fs::write(place("sub/file"), "").unwrap();
        symlink("sub/../sub", place("same")).unwrap();
        symlink("/proc/self/fd", place("state")).unwrap();
        symlink("circle", place("circle")).unwrap();
        assert_eq!(follow(&place("same/file"), true), place("sub/file"));
        assert_eq!(follow(&place("same/../same/none"), true), place("sub/none"));
        assert_eq!(follow(&place("same"), false), place("same"));
        for leading in ["state/5", "state/../fd/5"] {
            assert!(is_state(&follow(&place(leading), true)), "{leading}");
        }
        symlink("state/5", place("to")).unwrap();
        assert_eq!(follow(&place("to"), true), Path::new("/proc/self/fd/5"));
        assert_eq!(follow(&place("circle"), true), place("circle"));
    }
}
