//! The initial contents of a machine's memory: a program, or firmware, a kernel, an initial file system, and the device
//! tree that describes the machine to both.

mod device_tree;
mod elf;
mod error;
mod firmware;
mod kernel;
mod software;

pub use device_tree::Hardware;
pub use elf::{load_program, program_base, BareMetal, ElfError, Image};
pub use error::BootError;
pub use kernel::kernel_offset;
pub use software::{Entry, Software};
