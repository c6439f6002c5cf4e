//! Loadable modules of a kernel, and their functions, as the kernel keeps them in memory (kernel/module/kallsyms.c of Linux 6.12).

use crate::btf::Types;
use crate::guest::Mapped;
use crate::kernel::{offsets, KernelError};
use crate::symbols::Symbols;

/// Bytes of a symbol: name, kind, section, value, size.
const SYMBOL: u64 = 24;
/// Modules that are followed.
const MOST: usize = 1024;
/// Symbols of one module that are read.
const MOST_SYMBOLS: u64 = 1 << 16;
const NAME_BYTES: u64 = 56;

/// A module with code from `start` to `end`.
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) symbols: Symbols,
}

offsets! {
    list: "module" "list";
    name: "module" "name";
    memory: "module" "mem";
    table: "module" "kallsyms";
    base: "module_memory" "base";
    size: "module_memory" "size";
    symbols: "mod_kallsyms" "symtab";
    count: "mod_kallsyms" "num_symtab";
    strings: "mod_kallsyms" "strtab";
    kinds: "mod_kallsyms" "typetab";
}

/// The addresses of a kernel's modules.
pub(crate) struct Modules {
    /// Address of the head of their list.
    head: u64,
    offsets: Offsets,
    known: Vec<Module>,
}

impl Modules {
    /// The modules in the list at `head`.
    pub(crate) fn new(types: &Types<'_>, head: u64) -> Result<Modules, KernelError> {
        Ok(Modules {
            head,
            offsets: Offsets::of(types)?,
            known: Vec::new(),
        })
    }

    /// The module that contains the code at `address`. The list is read again if no known module contains it.
    pub(crate) fn at(&mut self, guest: Mapped<'_>, address: u64) -> Option<&Module> {
        let holds = |module: &Module| (module.start..module.end).contains(&address);
        if !self.known.iter().any(holds) {
            let module = self.find(guest, address)?;
            self.known
                .retain(|old| old.end <= module.start || module.end <= old.start);
            self.known.push(module);
        }
        self.known.iter().find(|module| holds(module))
    }

    fn find(&self, guest: Mapped<'_>, address: u64) -> Option<Module> {
        let mut link = guest.word(self.head)?;
        for _ in 0..MOST {
            if link == self.head {
                break;
            }
            let module = link.checked_sub(self.offsets.list)?;
            // The first of its parts is its code.
            let start = guest.word(module + self.offsets.memory + self.offsets.base)?;
            let size = guest.half(module + self.offsets.memory + self.offsets.size)?;
            let end = start.checked_add(u64::from(size))?;
            if (start..end).contains(&address) {
                return Some(Module {
                    name: guest.text(module + self.offsets.name, NAME_BYTES)?,
                    start,
                    end,
                    symbols: self.symbols(guest, module, (start, end))?,
                });
            }
            link = guest.word(link)?;
        }
        None
    }

    fn symbols(&self, guest: Mapped<'_>, module: u64, (start, end): (u64, u64)) -> Option<Symbols> {
        let table = guest.word(module + self.offsets.table)?;
        let symbols = guest.word(table + self.offsets.symbols)?;
        let count = u64::from(guest.half(table + self.offsets.count)?);
        let strings = guest.word(table + self.offsets.strings)?;
        let kinds = guest.word(table + self.offsets.kinds)?;
        let mut named = Vec::new();
        for index in 1..count.min(MOST_SYMBOLS) {
            let at = symbols + index * SYMBOL;
            let value = guest.word(at + 8)?;
            let kind = guest.text(kinds + index, 1)?;
            if !(start..end).contains(&value) || !matches!(kind.as_str(), "T" | "t" | "W" | "w") {
                continue;
            }
            let name = guest.text(strings + u64::from(guest.half(at)?), 256)?;
            if !name.is_empty() && !name.starts_with(['$', '.']) {
                named.push((value, name));
            }
        }
        Some(Symbols::of_addresses(named, end))
    }
}
