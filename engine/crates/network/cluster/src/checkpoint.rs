//! The state of a cluster in a file.

use crate::Cluster;
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::Digest;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why the state of a cluster cannot be saved or restored.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A node cannot be saved.
    #[error("{0}")]
    Unsaved(StateError),
    /// The file cannot be written or read.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The file does not hold the state of such a cluster.
    #[error("{path}: the state of the cluster {error}")]
    State {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: StateError,
    },
}

fn file(path: &Path) -> impl Fn(std::io::Error) -> CheckpointError + '_ {
    |error| CheckpointError::File {
        path: path.to_path_buf(),
        error,
    }
}

/// Adds the state of all nodes and links to the end of a file, and a checksum; returns whether that is possible at this
/// time. It is not while a hart waits for its network interface, which is never for long.
///
/// # Errors
/// [`CheckpointError`] with the node that cannot be saved, or if the file cannot be written.
pub fn save(cluster: &mut Cluster, path: &Path) -> Result<bool, CheckpointError> {
    let mut state = Vec::new();
    match cluster.graph.pass(&mut Pass::Save(&mut state)) {
        Ok(()) => {}
        Err(StateError::Busy) => return Ok(false),
        Err(error) => return Err(CheckpointError::Unsaved(error)),
    }
    let sum = checksum(&state);
    let write = || {
        let mut file = File::options().append(true).create(true).open(path)?;
        file.write_all(&state)?;
        file.write_all(&sum)?;
        file.sync_all()
    };
    write().map_err(file(path))?;
    Ok(true)
}

/// Lets a cluster in its first cycle continue from the state that [`save`] has added to a file of `skipped` bytes: the
/// state of a cluster of the same description. Pages of memory that no server has written stay shared by all of them.
///
/// # Errors
/// [`CheckpointError`] if there is no such state; the cluster cannot be used then.
pub fn restore(cluster: &mut Cluster, path: &Path, skipped: usize) -> Result<(), CheckpointError> {
    let bytes = std::fs::read(path).map_err(file(path))?;
    let saved = bytes.get(skipped..).and_then(|saved| saved.split_last_chunk());
    let state = saved.filter(|(state, sum)| checksum(state) == **sum);
    let read = state.map_or(Err(StateError::Damaged), |(state, _)| {
        let mut from = Pass::Restore(state);
        cluster.graph.pass(&mut from)?;
        match from {
            Pass::Restore([]) => Ok(()),
            _ => Err(StateError::Damaged),
        }
    });
    read.map_err(|error| CheckpointError::State {
        path: path.to_path_buf(),
        error,
    })
}

fn checksum(state: &[u8]) -> [u8; 16] {
    let mut digest = Digest::new();
    digest.bytes(state);
    digest.value().to_le_bytes()
}
