//! Programs on a simulated hart without a kernel: static Linux programs with emulated system calls,
//! and the images of bare-metal programs.
//!
//! A [`Process`] holds what a kernel would: the layout of memory, the open files, the output. The
//! hart's owner calls [`Process::call`] for every environment call of the program.

mod calls;
mod descriptor;
mod elf;
mod files;
mod gather;
mod input;
mod layout;
mod log;
mod process;
mod stack;
mod stat;

pub use elf::{program_base, BareMetal, ElfError};
pub use input::Input;
pub use process::{Arguments, CallOutcome, Environment, LoadError, Process};
