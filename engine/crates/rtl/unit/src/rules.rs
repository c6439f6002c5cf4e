use crate::beat::{masked, store};
use rackwright_memory::GuestMemory;
use rackwright_rtl::{MemoryRequest, BEAT_BYTES};
use rackwright_time::unit::Cycle;
use std::collections::BTreeMap;

/// Tags of a port, at most.
const TAGS: usize = 256;

/// Blocks of memory that are told apart, each as large as the largest beat, so that each beat is in one.
const BLOCKS: usize = 1024;

/// The rules of memory ports, to the letter: a unit that keeps them notices nothing.
///
/// Writes are seen from the cycles of their answers on, as late as a memory may have it, so that a unit that says that it is
/// done before they have been answered is found. Of two writes of a byte that are under way at once, the one that was asked for
/// first is the last to be done, and a read that comes while it is written finds what was never there.
pub(crate) struct MemoryRules {
    /// What has not been answered yet, by the cycle of the answer and the order in which it was asked for.
    waiting: BTreeMap<(Cycle, u64), (MemoryRequest, usize)>,
    asked: u64,
    /// How many writes wait in each block, or in one that has the same number: of most blocks there are none.
    blocks: Box<[u32; BLOCKS]>,
    /// Until when each tag of each port is in use; nothing of a port whose tags are not the unit's.
    tags: Vec<Option<Box<[Cycle; TAGS]>>>,
    names: Vec<String>,
}

impl MemoryRules {
    /// Those of ports with these names, of which each has tags or not, and none has asked for anything.
    pub(crate) fn new(ports: impl Iterator<Item = (String, bool)>) -> MemoryRules {
        let tags = |has_tags: bool| has_tags.then(|| Box::new([Cycle::ZERO; TAGS]));
        let (names, tags) = ports.map(|(name, has_tags)| (name, tags(has_tags))).unzip();
        MemoryRules {
            waiting: BTreeMap::new(),
            asked: 0,
            blocks: Box::new([0; BLOCKS]),
            tags,
            names,
        }
    }

    /// Takes note of a request through a port of so many `bytes` that is answered in the cycle `due`, or, if there is none, when
    /// [`MemoryRules::answer`] says so.
    ///
    /// # Errors
    /// A text when it is against a rule.
    pub(crate) fn ask(
        &mut self,
        request: &MemoryRequest,
        bytes: usize,
        due: Option<Cycle>,
    ) -> Result<(), String> {
        let port = usize::from(request.port);
        let name = &self.names[port];
        if request.address % bytes as u64 != 0 {
            let address = request.address;
            return Err(format!(
                "it asks through `{name}` for {address:#x}, no multiple of {bytes}"
            ));
        }
        let Some(tags) = &mut self.tags[port] else {
            return Ok(());
        };
        let tag = usize::from(request.tag) % TAGS;
        if request.cycle < tags[tag] {
            return Err(format!(
                "it asks through `{name}` with tag {tag}, which has not been answered"
            ));
        }
        tags[tag] = due.unwrap_or(Cycle::NEVER);
        Ok(())
    }

    /// A watch that has waited is answered in the cycle `due`.
    pub(crate) fn answer(&mut self, request: &MemoryRequest, due: Cycle) {
        if let Some(tags) = &mut self.tags[usize::from(request.port)] {
            tags[usize::from(request.tag) % TAGS] = due;
        }
    }

    /// Has a read of `data` find something else in bytes that are being written.
    pub(crate) fn read(&self, request: &MemoryRequest, data: &mut [u8]) {
        let written = self.under_way(request.address);
        for (index, byte) in data.iter_mut().enumerate() {
            if written >> index & 1 != 0 {
                *byte = !*byte;
            }
        }
    }

    /// Takes a write that is allowed.
    pub(crate) fn write(&mut self, request: &MemoryRequest, bytes: usize, due: Cycle) {
        let mask = request.mask & !self.under_way(request.address);
        let request = MemoryRequest { mask, ..*request };
        self.waiting.insert((due, self.asked), (request, bytes));
        self.blocks[block_of(request.address)] += 1;
        self.asked += 1;
    }

    /// Has memory hold what has been answered in the cycle `now` or before.
    pub(crate) fn settle(&mut self, now: Cycle, memory: &mut GuestMemory) {
        while let Some(first) = self.waiting.first_entry() {
            if first.key().0 > now {
                return;
            }
            let (request, bytes) = first.remove();
            self.blocks[block_of(request.address)] -= 1;
            store(&request, bytes, memory);
        }
    }

    /// Which of the bytes from `address` on are being written, as a mask.
    fn under_way(&self, address: u64) -> u32 {
        if self.blocks[block_of(address)] == 0 {
            return 0;
        }
        let masks = self.waiting.values().map(|(earlier, bytes)| {
            let mask = masked(earlier, *bytes);
            match earlier.address.wrapping_sub(address) as i64 {
                ahead @ 0..=31 => mask << ahead,
                behind @ -31..=-1 => mask >> -behind,
                _ => 0,
            }
        });
        masks.fold(0, |all, mask| all | mask)
    }
}

/// The number of the block that a beat is in.
fn block_of(address: u64) -> usize {
    address as usize / BEAT_BYTES % BLOCKS
}
