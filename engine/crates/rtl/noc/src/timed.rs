use crate::shape::SIDES;
use crate::Shape;
use rackwright_memory::{Calendar, ChipMaker, ChipNetwork, Message, MessageClass, Tiles};
use rackwright_state::{Pass, State, StateError};
use rackwright_time::Cycle;
use std::sync::{Arc, Mutex, PoisonError};

/// Cycles from a tile to the head of a queue of its router, and from router to router, without further registers.
const HOP: u64 = 2;
/// Cycles from the head of a queue of the last router to the tile.
const LEAVE: u64 = 2;
/// Cycles from a flit that is sent to the return of its credit, without further registers.
const CREDIT: u64 = 4;

/// The mesh between the tiles of a server: its shape, and the places of what is attached.
#[derive(Clone, Debug)]
pub struct ChipMesh {
    /// Its tiles and routers.
    pub shape: Shape,
    /// Bytes of a flit.
    pub flit_bytes: u64,
    /// The network of requests, of forwards and of responses.
    pub networks: [usize; 3],
    /// The tile that memory is attached to.
    pub memory: usize,
    /// The tiles of harts.
    pub harts: Vec<usize>,
    /// Those of the units beside each hart.
    pub units: Vec<usize>,
    /// Where messages are recorded, if they are.
    pub recording: Option<Recording>,
}

/// The messages of a run, from the first request of a unit on: what a program does before may take a hundred times as
/// long.
pub type Recording = Arc<Mutex<Vec<Sent>>>;

/// A message and its time in the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// The message.
    pub message: Message,
    /// The network that carries it.
    pub network: usize,
    /// Its length.
    pub flits: usize,
    /// The arrival of its last flit.
    pub arrival: Cycle,
}

impl ChipMaker for ChipMesh {
    fn make(&self) -> Tiles {
        let mesh = TimedMesh::new(self.clone());
        Tiles::new(
            Box::new(mesh),
            self.memory,
            self.harts.clone(),
            self.units.clone(),
        )
    }
}

/// The links of one network. A flit occupies each for a cycle.
struct Links {
    /// From each tile to its router.
    entry: Vec<Calendar>,
    /// From each router, by the side.
    exits: Vec<[Calendar; SIDES]>,
}

/// The times of messages on the mesh, each known when the message is sent: links are booked ahead, and queues of routers
/// have no bounds. Without contention, they are those of [`Model`](crate::Model).
struct TimedMesh {
    mesh: ChipMesh,
    networks: Vec<Links>,
}

impl TimedMesh {
    fn new(mesh: ChipMesh) -> TimedMesh {
        let tiles = mesh.shape.tiles();
        let links = || Links {
            entry: vec![Calendar::new(); tiles],
            exits: (0..tiles).map(|_| Default::default()).collect(),
        };
        let count = mesh.networks.iter().max().map_or(0, |last| last + 1);
        TimedMesh {
            networks: (0..count).map(|_| links()).collect(),
            mesh,
        }
    }

    fn stages(&self) -> u64 {
        self.mesh.shape.stages as u64
    }

    /// Whether a unit has sent it, and not the slice of L2 on its tile.
    fn is_of_unit(&self, message: Message) -> bool {
        message.class == MessageClass::Request && self.mesh.units.contains(&message.from)
    }
}

impl ChipNetwork for TimedMesh {
    fn tiles(&self) -> usize {
        self.mesh.shape.tiles()
    }

    fn send(&mut self, message: Message) -> Cycle {
        let flits = 1 + message.bytes.div_ceil(self.mesh.flit_bytes) as usize;
        let (hop, credit) = (HOP + self.stages(), CREDIT + 2 * self.stages());
        let network = self.mesh.networks[class_index(message.class)];
        let (shape, links) = (self.mesh.shape, &mut self.networks[network]);
        // When each flit can enter the next link.
        let mut ready = vec![message.at.0; flits];
        let mut tile = message.from;
        cross(&mut links.entry[tile], &mut ready, (shape.depth, credit), hop);
        loop {
            let side = shape.leave(tile, message.to);
            let link = &mut links.exits[tile][side];
            match shape.neighbour(tile, side) {
                Some(next) => {
                    cross(link, &mut ready, (shape.depth, credit), hop);
                    tile = next;
                }
                None => {
                    cross(link, &mut ready, (shape.depth, CREDIT), LEAVE);
                    break;
                }
            }
        }
        let arrival = Cycle::new(ready[flits - 1]);
        if let Some(recording) = &self.mesh.recording {
            let mut sent = recording.lock().unwrap_or_else(PoisonError::into_inner);
            if !sent.is_empty() || self.is_of_unit(message) {
                sent.push(Sent {
                    message,
                    network,
                    flits,
                    arrival,
                });
            }
        }
        arrival
    }
}

/// Sends flits over a link, in their order, each when it is ready and the link is free, and the queue behind it of `depth`
/// places has returned a credit; `ready` becomes the times at which they are `hop` further.
fn cross(link: &mut Calendar, ready: &mut [u64], (depth, credit): (usize, u64), hop: u64) {
    for flit in 0..ready.len() {
        let before = flit.checked_sub(1).map_or(0, |before| ready[before] - hop + 1);
        let credited = flit
            .checked_sub(depth)
            .map_or(0, |before| ready[before] - hop + credit);
        let at = ready[flit].max(before).max(credited);
        ready[flit] = link.reserve(Cycle::new(at)).0 + hop;
    }
}

fn class_index(class: MessageClass) -> usize {
    match class {
        MessageClass::Request => 0,
        MessageClass::Forward => 1,
        MessageClass::Response => 2,
    }
}

impl State for Links {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.each(self.entry.iter_mut())?;
        self.exits
            .iter_mut()
            .try_for_each(|sides| by.each(sides.iter_mut()))
    }
}

impl State for TimedMesh {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.each(self.networks.iter_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{replay, Model, Network};

    fn mesh(shape: Shape) -> ChipMesh {
        ChipMesh {
            shape,
            flit_bytes: 16,
            networks: [0, 1, 2],
            memory: 0,
            harts: vec![1],
            units: vec![0],
            recording: Some(Recording::default()),
        }
    }

    /// Three tiles in a row.
    const ROW: Shape = Shape {
        width: 3,
        height: 1,
        rows_first: true,
        depth: 4,
        stages: 0,
    };

    /// A request of the unit and the messages of `send`, compared with the model cycle by cycle.
    fn replayed(shape: Shape, send: impl FnOnce(&mut TimedMesh)) -> crate::Replayed {
        let sent = recorded(shape, |mesh| {
            mesh.send(message(MessageClass::Request, 0, (0, 1), 0));
            send(mesh);
        });
        replay(shape, &sent, || {
            Ok(Box::new(Model::new(shape)?) as Box<dyn Network>)
        })
        .unwrap()
    }

    fn recorded(shape: Shape, send: impl FnOnce(&mut TimedMesh)) -> Vec<Sent> {
        let mesh = mesh(shape);
        let recording = mesh.recording.clone().unwrap();
        send(&mut TimedMesh::new(mesh));
        let sent = recording.lock().unwrap().clone();
        sent
    }

    fn message(class: MessageClass, at: u64, (from, to): (usize, usize), bytes: u64) -> Message {
        let at = Cycle::new(at);
        Message {
            class,
            at,
            from,
            to,
            bytes,
        }
    }

    #[test]
    fn messages_alone_take_as_long_as_in_the_model_whatever_the_buffers() {
        for (depth, stages, rows_first) in [
            (4, 0, true),
            (3, 0, false),
            (3, 1, true),
            (8, 2, true),
            (5, 4, false),
        ] {
            let shape = Shape {
                width: 4,
                height: 3,
                rows_first,
                depth,
                stages,
            };
            let found = replayed(shape, |mesh| {
                for pair in 0..shape.tiles() * shape.tiles() {
                    let path = (pair / shape.tiles(), pair % shape.tiles());
                    let bytes = [0, 8, 16, 64, 128][pair % 5];
                    mesh.send(message(MessageClass::Response, 1000 * pair as u64, path, bytes));
                }
            });
            assert_eq!(found.messages, 145);
            assert_eq!((found.alone, found.alone_equal), (145, 145), "{shape:?}");
            assert_eq!(found.difference, 0.0);
        }
    }

    #[test]
    fn messages_that_meet_wait_for_each_other() {
        let found = replayed(ROW, |mesh| {
            let first = mesh.send(message(MessageClass::Response, 100, (0, 2), 64));
            let second = mesh.send(message(MessageClass::Response, 103, (1, 2), 64));
            assert_eq!(first.0, 100 + 4 + 2 * 2 + 4);
            assert!(second.0 > 103 + 4 + 2 + 4);
            // Another class has a network of its own.
            let other = mesh.send(message(MessageClass::Forward, 103, (1, 2), 64));
            assert_eq!(other.0, 103 + 4 + 2 + 4);
        });
        assert_eq!((found.messages, found.alone, found.alone_equal), (4, 2, 2));
        assert!(found.difference <= 1.0, "{found:?}");
    }

    #[test]
    fn a_recording_begins_with_the_first_request_of_a_unit() {
        let by_unit = message(MessageClass::Request, 20, (0, 2), 8);
        let sent = recorded(ROW, |mesh| {
            mesh.send(message(MessageClass::Request, 0, (1, 0), 0));
            mesh.send(message(MessageClass::Response, 10, (0, 1), 64));
            mesh.send(by_unit);
            mesh.send(message(MessageClass::Request, 15, (1, 2), 0));
        });
        assert_eq!(sent.len(), 2);
        assert_eq!(sent[0].message, by_unit);
    }

    #[test]
    fn another_mesh_is_noticed() {
        let slower = Shape { stages: 1, ..ROW };
        let sent = recorded(ROW, |mesh| {
            mesh.send(message(MessageClass::Request, 5, (0, 2), 0));
        });
        let found = replay(slower, &sent, || {
            Ok(Box::new(Model::new(slower)?) as Box<dyn Network>)
        })
        .unwrap();
        assert_eq!((found.alone, found.alone_equal), (1, 0));
        assert_eq!(found.latency - found.model_latency, 3.0);
    }
}
