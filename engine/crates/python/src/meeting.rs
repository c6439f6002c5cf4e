use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use rackwright_ethernet::Frame;
use rackwright_schedule::{Apart, Envelope, Portable};
use rackwright_time::network::Cycle;

/// Synchronisation of processes, by a Python function that transfers bytes between them.
pub struct Meeting {
    exchange: Py<PyAny>,
    packed: Vec<u8>,
}

impl Meeting {
    pub fn new(exchange: Py<PyAny>) -> Meeting {
        Meeting {
            exchange,
            packed: Vec::new(),
        }
    }

    fn carry(&mut self, wake: Cycle, outgoing: &mut [Vec<Envelope<Frame>>]) -> PyResult<Vec<Py<PyBytes>>> {
        Python::attach(|py| {
            let messages = PyList::empty(py);
            for envelopes in outgoing {
                self.packed.clear();
                wake.0.pack(&mut self.packed);
                envelopes
                    .drain(..)
                    .for_each(|envelope| envelope.pack(&mut self.packed));
                messages.append(PyBytes::new(py, &self.packed))?;
            }
            self.exchange.call1(py, (messages,))?.extract(py)
        })
    }
}

impl rackwright_schedule::Meeting<Frame> for Meeting {
    fn meet(
        &mut self,
        wake: Cycle,
        outgoing: &mut [Vec<Envelope<Frame>>],
        mail: &mut Vec<Envelope<Frame>>,
        _work: impl FnMut() -> bool,
    ) -> Result<Cycle, Apart> {
        let answers = (self.carry(wake, outgoing)).map_err(|error| Apart(Box::new(error)))?;
        let mut earliest = wake.0;
        Python::attach(|py| {
            for (rank, answer) in answers.iter().enumerate() {
                let garbled =
                    || Apart(format!("rank {rank} sent something that cannot be understood").into());
                let bytes = &mut answer.as_bytes(py);
                earliest = earliest.min(u64::unpack(bytes).ok_or_else(garbled)?);
                while !bytes.is_empty() {
                    mail.push(Envelope::unpack(bytes).ok_or_else(garbled)?);
                }
            }
            Ok(Cycle::new(earliest))
        })
    }
}
