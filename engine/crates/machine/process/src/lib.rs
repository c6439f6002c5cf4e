//! Programs on simulated harts without a kernel: static Linux programs, whose system calls are emulated.
//!
//! A [`Process`] has the state that a kernel would have: the layout of memory, the open files, the output. It runs in
//! [`Threads`]; [`Processes`] holds all processes of a program, and its owner calls [`Processes::call`] for every
//! environment call of a hart.

mod activity;
mod alarm;
mod areas;
mod calls;
mod channel;
mod counter;
mod descriptor;
mod epoll;
mod family;
mod files;
mod follow;
mod gather;
mod input;
mod layout;
mod limits;
mod listing;
mod locks;
mod log;
mod maps;
mod names;
mod process;
mod processes;
mod saved;
mod segments;
mod selves;
mod signal_file;
mod sockets;
mod stack;
mod stat;
mod threads;
mod timer;

pub use input::Input;
pub use process::{Arguments, Environment, LoadError, Process};
pub use processes::Processes;
pub use threads::{Next, Taken, Threads};
