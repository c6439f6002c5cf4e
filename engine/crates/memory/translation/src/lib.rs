//! Page tables of RISC-V: Sv39, Sv48 and Sv57 (privileged manual 20211203, sections 4.3 to 4.6). Harts walk them, and
//! so do tools that read a guest's memory at the guest's addresses.
//!
//! A walk takes no time and changes no state. Permissions and accessed and dirty bits are left to the caller.

mod entry;
mod tables;

pub use entry::{bit, Entry};
pub use tables::{PageTables, Walk};
