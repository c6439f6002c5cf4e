use rackwright_state::state;
use std::io::{self, IsTerminal, Read};

/// The standard input of a program.
#[derive(Clone, Debug)]
pub enum Input {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The standard input of this process. It is read when the program first reads: up to its end, so that nothing
    /// depends on the times of its arrival, or line by line from a terminal.
    Passed,
}

impl Default for Input {
    fn default() -> Input {
        Input::Bytes(Vec::new())
    }
}

/// The state of reading standard input.
#[derive(Debug)]
pub(crate) struct Reader {
    bytes: Vec<u8>,
    position: usize,
    complete: bool,
}

state!(Reader {
    bytes,
    position,
    complete
});

impl Reader {
    pub(crate) fn new(input: Input) -> Reader {
        let (bytes, complete) = match input {
            Input::Bytes(bytes) => (bytes, true),
            Input::Passed => (Vec::new(), false),
        };
        Reader {
            bytes,
            position: 0,
            complete,
        }
    }

    /// The bytes that the program has read so far.
    pub(crate) fn consumed(&self) -> &[u8] {
        &self.bytes[..self.position]
    }

    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.position == self.bytes.len() && !self.complete && !into.is_empty() {
            self.await_more()?;
        }
        let count = into.len().min(self.bytes.len() - self.position);
        into[..count].copy_from_slice(&self.bytes[self.position..self.position + count]);
        self.position += count;
        Ok(count)
    }

    fn await_more(&mut self) -> io::Result<()> {
        let mut from = io::stdin().lock();
        if from.is_terminal() {
            let mut line = [0; 4096];
            let count = from.read(&mut line)?;
            self.bytes.extend_from_slice(&line[..count]);
        } else {
            from.read_to_end(&mut self.bytes)?;
            self.complete = true;
        }
        Ok(())
    }
}
