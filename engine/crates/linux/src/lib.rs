//! Programs on a simulated hart without a kernel: static Linux programs with emulated system calls,
//! and the images of bare-metal programs.
//!
//! A [`Process`] holds what a kernel would: the layout of memory, the open files, the output. The
//! program runs in [`Threads`], whose owner calls [`Threads::call`] for every environment call of a hart.

mod calls;
mod descriptor;
mod elf;
mod files;
mod gather;
mod input;
mod layout;
mod log;
mod maps;
mod process;
mod stack;
mod stat;
mod threads;

pub use elf::{program_base, BareMetal, ElfError};
pub use input::Input;
pub use process::{Arguments, Environment, LoadError, Process};
pub use threads::{Next, Taken, Threads};
