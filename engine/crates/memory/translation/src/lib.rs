//! Page tables of RISC-V: Sv39, Sv48 and Sv57 (privileged manual 20211203, sections 4.3 to 4.6). Harts walk them, and so
//! does whoever looks into a guest's memory by the guest's addresses.
//!
//! A walk takes no time and changes nothing. Who may use a page, and what becomes of its accessed and dirty bits, is left
//! to whom it is for.

mod entry;
mod tables;

pub use entry::{bit, Entry};
pub use tables::{PageTables, Walk};
