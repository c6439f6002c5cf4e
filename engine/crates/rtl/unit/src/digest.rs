use rackwright_contract::{Command, CommandContext};
use rackwright_rtl::{
    CommandResponse, InterruptChange, MemoryRequest, RegisterAccess, StreamFlit, BEAT_BYTES,
};
use rackwright_state::state;
use rackwright_stats::Digest;
use rackwright_time::{unit, Cycle};

/// The digest of all transfers at the pins of a unit.
///
/// Streams and interrupts have separate digests: the order in which kinds are observed depends on the lengths of steps,
/// which must not affect the digest.
#[derive(Default)]
pub(crate) struct PinDigest {
    /// Over commands, answers, accesses to registers and memory traffic.
    calls: Digest,
    arrived: Digest,
    left: Digest,
    interrupts: Digest,
}

state!(PinDigest {
    calls,
    arrived,
    left,
    interrupts
});

impl PinDigest {
    /// A command that leaves the hart at `at`.
    pub(crate) fn command(&mut self, at: Cycle, command: &Command) {
        let Command {
            opcode,
            funct,
            rd,
            xd,
            rs1,
            rs2,
        } = *command;
        self.calls.cycle(at);
        self.calls.bytes(&[opcode, funct, rd, u8::from(xd)]);
        self.calls.number(rs1);
        self.calls.number(rs2);
    }

    /// The context of later commands.
    pub(crate) fn context(&mut self, context: &CommandContext) {
        self.calls.number(context.satp);
        self.calls.bytes(&[
            context.privilege,
            u8::from(context.user_memory),
            u8::from(context.executable_readable),
        ]);
    }

    /// A fence of translations that leaves the hart at `at`.
    pub(crate) fn fence(&mut self, at: Cycle) {
        self.calls.cycle(at);
    }

    /// A register value for the hart.
    pub(crate) fn response(&mut self, response: &CommandResponse) {
        self.calls.cycle(response.cycle);
        self.calls.number(response.data);
    }

    /// An access to the unit's registers.
    pub(crate) fn register_access(&mut self, access: &RegisterAccess) {
        self.calls.number(access.due);
        self.calls.number(access.data);
        self.calls
            .number(u64::from(access.address) << 1 | u64::from(access.write));
    }

    /// A request of memory and its answer, as one piece: digesting many small ones would cost more than they do.
    pub(crate) fn request(&mut self, request: &MemoryRequest, read: &[u8; BEAT_BYTES], due: unit::Cycle) {
        let route = u64::from(request.mask) << 32 | u64::from(request.tag) << 16 | u64::from(request.port);
        let mut record = [0; 4 * 8 + BEAT_BYTES];
        for (slot, number) in [request.cycle.0, request.address, route, due.0]
            .into_iter()
            .enumerate()
        {
            record[slot * 8..][..8].copy_from_slice(&number.to_le_bytes());
        }
        record[32..].copy_from_slice(if request.is_write() { &request.data } else { read });
        self.calls.record(&record);
    }

    /// A flit that reaches the unit.
    pub(crate) fn arrives(&mut self, flit: &StreamFlit) {
        add_flit(&mut self.arrived, flit);
    }

    /// A flit that leaves it.
    pub(crate) fn leaves(&mut self, flit: &StreamFlit) {
        add_flit(&mut self.left, flit);
    }

    /// A change of its interrupt line.
    pub(crate) fn interrupt(&mut self, change: &InterruptChange) {
        self.interrupts
            .number(change.cycle << 1 | u64::from(change.level));
    }

    /// The digest of all transfers so far. Streams without transfers change nothing.
    pub(crate) fn all(&self) -> Digest {
        let mut digest = self.calls.clone();
        for (number, stream) in (0..).zip([&self.arrived, &self.left, &self.interrupts]) {
            if stream.value() != Digest::new().value() {
                digest.number(number);
                digest.digest(stream);
            }
        }
        digest
    }
}

fn add_flit(digest: &mut Digest, flit: &StreamFlit) {
    let marks = u64::from(flit.port) << 16 | u64::from(flit.keep) << 8 | u64::from(flit.last);
    for number in [flit.cycle, flit.data, marks] {
        digest.number(number);
    }
}
