use rackwright_device::{FarMemory, PciFunction, Ram};
use rackwright_memory::{Access, GuestFault};
use rackwright_time::Cycle;
use std::sync::mpsc::{channel, Receiver, Sender};

/// The next output of a device that handles its events.
pub(super) enum Asked {
    /// It waits for these bytes of memory.
    Read { address: u64, bytes: usize },
    /// It writes memory, and goes on.
    Write { address: u64, data: Vec<u8> },
    /// It has handled them.
    Done(Box<PciFunction>),
}

/// When a read is complete, and its data, if it is not refused.
type Data = (Cycle, Option<Vec<u8>>);

/// A thread on which the code of a device runs, so that it can stop at each read. Only one of the two threads runs at a
/// time, so that all runs are equal.
pub(super) struct Worker {
    jobs: Sender<(Box<PciFunction>, Cycle)>,
    asked: Receiver<Asked>,
    data: Sender<Data>,
}

impl Worker {
    pub(super) fn new() -> Worker {
        let (jobs, work) = channel();
        let (asks, asked) = channel();
        let (data, answers) = channel();
        std::thread::spawn(move || run(&work, asks, answers));
        Worker { jobs, asked, data }
    }

    /// Has a device handle its events up to `now`.
    pub(super) fn begin(&self, function: Box<PciFunction>, now: Cycle) {
        self.jobs.send((function, now)).expect(ENDED);
    }

    /// Passes the data of the read that it waits for.
    pub(super) fn go_on(&self, now: Cycle, data: Option<Vec<u8>>) {
        self.data.send((now, data)).expect(ENDED);
    }

    /// Its next output.
    pub(super) fn next(&self) -> Asked {
        self.asked.recv().expect(ENDED)
    }
}

/// The thread ends with its [`Worker`], or when the device panics.
const ENDED: &str = "the device has panicked";

fn run(jobs: &Receiver<(Box<PciFunction>, Cycle)>, asks: Sender<Asked>, answers: Receiver<Data>) {
    let mut memory = Memory {
        asks,
        answers,
        now: Cycle::ZERO,
    };
    while let Ok((mut function, now)) = jobs.recv() {
        memory.now = now;
        let mut ram = Ram::far(&mut memory);
        function.advance(&mut ram, now);
        ram.flush();
        if memory.asks.send(Asked::Done(function)).is_err() {
            return;
        }
    }
}

/// The memory of the host, as the device's thread sees it.
struct Memory {
    asks: Sender<Asked>,
    answers: Receiver<Data>,
    now: Cycle,
}

impl FarMemory for Memory {
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), GuestFault> {
        let fault = GuestFault {
            address,
            access: Access::Read,
        };
        let bytes = into.len();
        // Without another end, the card is dropped in the middle of its work.
        self.asks
            .send(Asked::Read { address, bytes })
            .map_err(|_| fault)?;
        let (now, data) = self.answers.recv().map_err(|_| fault)?;
        self.now = now;
        into.copy_from_slice(&data.ok_or(fault)?);
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        let data = from.to_vec();
        // As above: nobody needs the data any more.
        let _ = self.asks.send(Asked::Write { address, data });
    }

    fn now(&self) -> Cycle {
        self.now
    }
}
