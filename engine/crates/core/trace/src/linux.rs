//! A Linux kernel's data about its processes, read from its memory according to its own types (Linux 6.12).

use crate::archive::Archive;
use crate::btf::Types;
use crate::guest::Mapped;
use crate::kallsyms::kernel_symbols;
use crate::kernel::{offsets, KernelError, KERNEL};
use crate::modules::Modules;
use crate::names::{called, Function, Names, Place, UNKNOWN};
use crate::settings_error::SettingsError;
use crate::sight::Sight;
use crate::symbols::Symbols;
use crate::thread::Thread;
use crate::watch::Armed;
use std::collections::HashMap;

/// A kernel whose symbols and types are known.
pub(crate) struct Linux {
    kernel: Symbols,
    modules: Option<Modules>,
    /// Addresses that its image is linked to.
    base: u64,
    end: u64,
    /// The difference between that and its physical address.
    physical: u64,
    offsets: Offsets,
    archive: Archive,
    files: HashMap<String, Symbols>,
}

offsets! {
    task_name: "task_struct" "comm";
    task_number: "task_struct" "pid";
    task_group: "task_struct" "tgid";
    task_leader: "task_struct" "group_leader";
    task_memory: "task_struct" "mm";
    areas: "mm_struct" "mm_mt" "ma_root";
    vdso: "mm_struct" "context" "vdso";
    leaf_limits: "maple_node" "mr64" "pivot";
    leaf_slots: "maple_node" "mr64" "slot";
    inner_limits: "maple_node" "ma64" "pivot";
    inner_slots: "maple_node" "ma64" "slot";
    area_start: "vm_area_struct" "vm_start";
    area_end: "vm_area_struct" "vm_end";
    area_offset: "vm_area_struct" "vm_pgoff";
    area_file: "vm_area_struct" "vm_file";
    file_entry: "file" "f_path" "dentry";
    entry_name: "dentry" "d_name" "name";
    entry_parent: "dentry" "d_parent";
}

const PAGE: u64 = 4096;
/// Bytes of a task's name.
const NAME_BYTES: u64 = 16;
/// Path components that are followed.
const DEPTH: usize = 32;

/// A task of the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Task {
    pub(crate) thread: Thread,
    /// Address of the description of its memory; zero for threads of the kernel.
    pub(crate) memory: u64,
}

impl Linux {
    /// The kernel in `image`, which is loaded at `physical`, and the files that it starts with.
    pub(crate) fn new(image: &[u8], physical: u64, files: &[u8]) -> Result<Linux, KernelError> {
        let found = kernel_symbols(image).ok_or(KernelError::Symbols)?;
        let base = found.base;
        let types = Types::within(image).ok_or(KernelError::Types("anything"))?;
        Ok(Linux {
            end: base + image.len() as u64,
            offsets: Offsets::of(&types)?,
            // Kernels before 6.4 keep their modules otherwise: theirs stay without names.
            modules: found.modules.and_then(|head| Modules::new(&types, head).ok()),
            kernel: found.functions,
            base,
            physical,
            archive: Archive::new(files),
            files: HashMap::new(),
        })
    }

    /// The functions of the kernel.
    pub(crate) fn kernel(&self) -> &Symbols {
        &self.kernel
    }

    /// The address of the function `name` of a file, which is given by its path or the last part of it.
    pub(crate) fn function(&self, file: &str, name: &str) -> Result<Armed, SettingsError> {
        let paths = || self.archive.paths();
        let found = paths().find(|path| {
            let tail = path.strip_suffix(file.trim_start_matches('/'));
            tail.is_some_and(|head| head.is_empty() || head.ends_with('/'))
        });
        let path = found.ok_or_else(|| {
            let known = paths().map(module_of);
            SettingsError::unknown("file", file, known)
        })?;
        let content = self.archive.file(path).unwrap_or_default();
        let symbols = Symbols::of_mapped_elf(content).unwrap_or_default();
        let found = symbols.iter().find(|symbol| called(&symbol.name, name));
        let unknown = || {
            let known = symbols.iter().map(|symbol| symbol.name.as_str());
            SettingsError::unknown(&format!("function of {file}"), name, known)
        };
        let symbol = found.ok_or_else(unknown)?;
        Ok(Armed::InPage {
            offset: symbol.start % PAGE,
            file: file.to_string(),
            name: symbol.name.clone(),
        })
    }

    /// The task at `address`, if there is one.
    pub(crate) fn task(&self, guest: Mapped<'_>, address: u64) -> Option<Task> {
        let offsets = &self.offsets;
        let leader = guest.word(address + offsets.task_leader)?;
        Some(Task {
            thread: Thread {
                process: guest.text(leader + offsets.task_name, NAME_BYTES)?,
                process_number: guest.half(address + offsets.task_group)?.into(),
                name: guest.text(address + offsets.task_name, NAME_BYTES)?,
                number: guest.half(address + offsets.task_number)?.into(),
            },
            memory: guest.word(address + offsets.task_memory)?,
        })
    }

    /// The address of the description of the memory of the task at `address`.
    pub(crate) fn memory_of(&self, guest: Mapped<'_>, address: u64) -> Option<u64> {
        guest.word(address + self.offsets.task_memory)
    }

    /// The place of `pc`, for code of the task with `memory`.
    pub(crate) fn place(&mut self, names: &mut Names, sight: Sight<'_>, pc: u64, called: bool) -> Place {
        let guest = sight.guest;
        if pc >= KERNEL {
            return self.kernel_place(names, guest, pc);
        }
        let early = pc.wrapping_sub(self.physical);
        if guest.page_tables >> 60 == 0 && early < self.end - self.base {
            let place = names.place("kernel", &self.kernel, self.base + early);
            return place.moved(self.physical.wrapping_sub(self.base), (0, u64::MAX));
        }
        self.program_place(names, sight, pc, called)
            .unwrap_or_else(|| nowhere(names.number("program", UNKNOWN), pc))
    }

    /// The place of `pc`, an address of the kernel's own: in its image or in a module.
    fn kernel_place(&mut self, names: &mut Names, guest: Mapped<'_>, pc: u64) -> Place {
        if (self.base..self.end).contains(&pc) {
            return names.place("kernel", &self.kernel, pc);
        }
        let modules = self.modules.as_mut();
        let Some(module) = modules.and_then(|modules| modules.at(guest, pc)) else {
            return nowhere(names.number("kernel", UNKNOWN), pc);
        };
        let place = names.place(&module.name, &module.symbols, pc);
        place.moved(0, (module.start, module.end))
    }

    fn program_place(&mut self, names: &mut Names, sight: Sight<'_>, pc: u64, called: bool) -> Option<Place> {
        let guest = sight.guest;
        let area = self.area(guest, sight.memory, pc)?;
        let start = guest.word(area + self.offsets.area_start)?;
        let end = guest.word(area + self.offsets.area_end)?;
        if !(start..end).contains(&pc) {
            return None;
        }
        let file = guest.word(area + self.offsets.area_file)?;
        if file == 0 {
            let kernels = guest.word(sight.memory + self.offsets.vdso) == Some(start);
            return Some(match kernels {
                true => names.of_kernel(start, end - start),
                false => names.made_at_run_time(pc),
            });
        }
        let offset = guest.word(area + self.offsets.area_offset)? * PAGE;
        let path = self.path(guest, guest.word(file + self.offsets.file_entry)?)?;
        if !self.files.contains_key(&path) {
            let content = self.archive.file(&path);
            let symbols = content.and_then(|content| Symbols::of_mapped_elf(content).ok());
            self.files.insert(path.clone(), symbols.unwrap_or_default());
        }
        let symbols = self.files.get_mut(&path)?;
        // Symbols are by the place in the file.
        let shift = start.wrapping_sub(offset);
        let inside = pc.wrapping_sub(shift);
        if called && symbols.is_inside_nameless(inside) {
            symbols.learn(inside);
        }
        let module = module_of(&path);
        let place = names.place(module, symbols, inside);
        Some(place.moved(shift, (start, end)))
    }

    /// The area of memory that `address` may lie in: a walk down a maple tree (lib/maple_tree.c of the kernel).
    fn area(&self, guest: Mapped<'_>, memory: u64, address: u64) -> Option<u64> {
        const LEAF: u64 = 1;
        const RANGE: u64 = 2;
        const ARRANGED: u64 = 3;
        if memory == 0 {
            return None;
        }
        let mut entry = guest.word(memory + self.offsets.areas)?;
        if entry & 3 != 2 {
            // A single area is the root itself.
            return (entry != 0).then_some(entry);
        }
        for _ in 0..DEPTH {
            let (node, kind) = (entry & !0xff, entry >> 3 & 15);
            let (limits, slots, count) = match kind {
                LEAF | RANGE => (self.offsets.leaf_limits, self.offsets.leaf_slots, 16),
                ARRANGED => (self.offsets.inner_limits, self.offsets.inner_slots, 10),
                _ => return None,
            };
            let mut slot = 0;
            while slot < count - 1 {
                let limit = guest.word(node + limits + 8 * slot)?;
                if limit >= address || (limit == 0 && slot > 0) {
                    break;
                }
                slot += 1;
            }
            entry = guest.word(node + slots + 8 * slot)?;
            if kind == LEAF || entry == 0 {
                return (entry != 0).then_some(entry);
            }
        }
        None
    }

    /// The path of a directory entry in its file system.
    fn path(&self, guest: Mapped<'_>, mut entry: u64) -> Option<String> {
        let mut parts = Vec::new();
        for _ in 0..DEPTH {
            let parent = guest.word(entry + self.offsets.entry_parent)?;
            if parent == entry {
                break;
            }
            let name = guest.word(entry + self.offsets.entry_name)?;
            parts.push(guest.text(name, 256)?);
            entry = parent;
        }
        parts.reverse();
        Some(parts.join("/"))
    }
}

/// The name of a file in functions' names.
pub(crate) fn module_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// A single unknown address; its neighbours are looked up separately.
fn nowhere(function: Function, pc: u64) -> Place {
    Place::plain(function, pc & !(PAGE - 1), PAGE)
}
