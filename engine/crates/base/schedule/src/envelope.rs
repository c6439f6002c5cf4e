use rackwright_link::{Arrival, Cycle, Item, Portable};

/// An item in flight to a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Envelope<T: Item> {
    /// The model, by its number.
    pub node: u32,
    /// Its port.
    pub port: u32,
    /// The item and the time of its arrival.
    pub arrival: Arrival<T>,
}

impl<T: Item + Portable> Portable for Envelope<T> {
    fn pack(&self, bytes: &mut Vec<u8>) {
        self.node.pack(bytes);
        self.port.pack(bytes);
        self.arrival.cycle.0.pack(bytes);
        self.arrival.item.pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let (node, port) = (u32::unpack(bytes)?, u32::unpack(bytes)?);
        let cycle = Cycle::<T>::new(u64::unpack(bytes)?);
        let item = T::unpack(bytes)?;
        let arrival = Arrival { cycle, item };
        Some(Envelope { node, port, arrival })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackwright_time::network::Cycle;

    #[test]
    fn what_is_packed_is_unpacked() {
        let envelope = Envelope {
            node: 1,
            port: 2,
            arrival: Arrival {
                cycle: Cycle::new(3),
                item: 4u64,
            },
        };
        let mut bytes = Vec::new();
        envelope.pack(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Envelope::<u64>::unpack(&mut &bytes[..length]), None);
        }
        bytes.push(9);
        let rest = &mut bytes.as_slice();
        assert_eq!(Envelope::unpack(rest), Some(envelope));
        assert_eq!(*rest, [9]);
    }
}
