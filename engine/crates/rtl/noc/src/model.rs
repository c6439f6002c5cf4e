use crate::arbiter::{Credits, Output};
use crate::queue::HeadQueue;
use crate::shape::{OWN, SIDES};
use crate::{Arrival, Network, NocError, Packet, Shape};
use std::collections::VecDeque;

/// Cycles from the arrival of a flit to the last change by its credits, beside the further registers of a link.
const CREDIT_PATH: u64 = 8;

/// A flit in flight, with the side-band signals of the link.
#[derive(Clone, Copy, Debug)]
struct Flit {
    number: u32,
    destination: usize,
    last: bool,
    /// The queue of the flit at the end of its link: the side through which it leaves there.
    queue: usize,
}

/// Registers in series: an input at the end of a cycle is visible this number of cycles later.
#[derive(Clone, Debug)]
struct Delay<T>(VecDeque<T>);

impl<T: Copy + Default> Delay<T> {
    fn new(cycles: usize) -> Delay<T> {
        Delay(std::iter::repeat_n(T::default(), cycles).collect())
    }

    fn seen(&self) -> T {
        self.0[0]
    }

    fn clock(&mut self, entering: T) {
        self.0.pop_front();
        self.0.push_back(entering);
    }
}

/// A link from its sender's registers to the receiver's queues, and the return path of credits.
#[derive(Clone, Debug)]
struct Link {
    flits: Delay<Option<Flit>>,
    credits: Delay<u8>,
}

impl Link {
    fn new(stages: usize) -> Link {
        Link {
            flits: Delay::new(stages + 1),
            credits: Delay::new(stages + 1),
        }
    }
}

/// The queues of a router: by input, then by output.
type Queues = [[HeadQueue<Flit>; SIDES]; SIDES];

/// A mesh as the RTL is, cycle by cycle.
pub struct Model {
    shape: Shape,
    cycle: u64,
    /// Flits that have left their tiles and have not arrived.
    under_way: usize,
    /// From this cycle on, all credits of the flits that have arrived are back.
    settled: u64,
    /// The packets that each tile has to send, and the number of sent flits of the first one.
    waiting: Vec<VecDeque<Packet>>,
    gone: Vec<usize>,
    injection: Vec<Credits>,
    queues: Vec<Queues>,
    outputs: Vec<[Output; SIDES]>,
    /// Links out of each router by side; the one to its own tile is without further registers.
    links: Vec<[Link; SIDES]>,
    /// Links from each tile into its router.
    from_tiles: Vec<Link>,
    arrived: Vec<HeadQueue<Flit>>,
}

impl Model {
    /// An empty mesh.
    ///
    /// # Errors
    /// [`NocError::Shape`] when there is no such one.
    pub fn new(shape: Shape) -> Result<Model, NocError> {
        let shape = shape.checked()?;
        let tiles = shape.tiles();
        let stages = |side: usize| if side == OWN { 0 } else { shape.stages };
        let queues = || std::array::from_fn(|_| std::array::from_fn(|_| HeadQueue::new()));
        Ok(Model {
            shape,
            cycle: 0,
            under_way: 0,
            settled: 0,
            waiting: vec![VecDeque::new(); tiles],
            gone: vec![0; tiles],
            injection: vec![Credits::new(shape.depth); tiles],
            queues: (0..tiles).map(|_| queues()).collect(),
            outputs: (0..tiles)
                .map(|_| std::array::from_fn(|_| Output::new(shape.depth)))
                .collect(),
            links: (0..tiles)
                .map(|_| std::array::from_fn(|side| Link::new(stages(side))))
                .collect(),
            from_tiles: vec![Link::new(shape.stages); tiles],
            arrived: (0..tiles).map(|_| HeadQueue::new()).collect(),
        })
    }

    /// One cycle: all decisions depend on the contents of the registers, which are then updated.
    fn step(&mut self, arrivals: &mut Vec<Arrival>) {
        let sent: Vec<[Option<usize>; SIDES]> =
            (0..self.shape.tiles()).map(|tile| self.choose(tile)).collect();
        let entering: Vec<[Option<Flit>; SIDES]> =
            (0..self.shape.tiles()).map(|tile| self.entering(tile)).collect();
        let injected: Vec<Option<Flit>> = (0..self.shape.tiles()).map(|tile| self.inject(tile)).collect();
        for tile in 0..self.shape.tiles() {
            self.eject(tile, arrivals);
        }
        for tile in 0..self.shape.tiles() {
            self.route(tile, &sent[tile], &entering[tile]);
            self.injection[tile].give_back(self.from_tiles[tile].credits.seen());
            self.from_tiles[tile].flits.clock(injected[tile]);
        }
        self.return_credits(&sent);
        self.cycle += 1;
    }

    /// The cycle until which no register changes: nothing is under way, neither flits nor credits, and no tile sends.
    fn rests_until(&self) -> u64 {
        if self.under_way > 0 || self.cycle < self.settled {
            return self.cycle;
        }
        let packets = self.waiting.iter().filter_map(VecDeque::front);
        packets.map(|packet| packet.created).min().unwrap_or(u64::MAX)
    }

    /// Which input each output of a router serves.
    fn choose(&self, tile: usize) -> [Option<usize>; SIDES] {
        std::array::from_fn(|side| {
            self.outputs[tile][side].choose(|input| {
                let head = self.queues[tile][input][side].head()?;
                Some(self.next_queue(tile, side, head.destination))
            })
        })
    }

    /// The queue at the far end of the link on that side.
    fn next_queue(&self, tile: usize, side: usize, destination: usize) -> usize {
        match self.shape.neighbour(tile, side) {
            Some(next) => self.shape.leave(next, destination),
            None => OWN,
        }
    }

    /// The inputs of a router in this cycle.
    fn entering(&self, tile: usize) -> [Option<Flit>; SIDES] {
        std::array::from_fn(|side| match self.shape.neighbour(tile, side) {
            Some(sender) => self.links[sender][Shape::entrance(side)].flits.seen(),
            None if side == OWN => self.from_tiles[tile].flits.seen(),
            None => None,
        })
    }

    /// The flit from a tile to its interface in this cycle.
    fn inject(&mut self, tile: usize) -> Option<Flit> {
        let packet = *self.waiting[tile].front()?;
        let queue = self.shape.leave(tile, packet.destination);
        if packet.created > self.cycle || !self.injection[tile].available(queue) {
            return None;
        }
        self.injection[tile].spend(queue);
        self.under_way += 1;
        self.gone[tile] += 1;
        let last = self.gone[tile] == packet.flits;
        if last {
            self.waiting[tile].pop_front();
            self.gone[tile] = 0;
        }
        Some(Flit {
            number: packet.number,
            destination: packet.destination,
            last,
            queue,
        })
    }

    /// The flit from the interface to a tile, which always accepts it.
    fn eject(&mut self, tile: usize, arrivals: &mut Vec<Arrival>) {
        let link = &mut self.links[tile][OWN];
        let taken = self.arrived[tile].clock(true, link.flits.seen());
        // Credits that arrived before are counted before new ones enter the path.
        self.outputs[tile][OWN].credits.give_back(link.credits.seen());
        link.credits.clock(u8::from(taken.is_some()));
        if taken.is_some() {
            self.under_way -= 1;
            self.settled = self.cycle + self.shape.stages as u64 + CREDIT_PATH;
        }
        if let Some(Flit {
            number, last: true, ..
        }) = taken
        {
            arrivals.push(Arrival {
                cycle: self.cycle,
                endpoint: tile,
                number,
            });
        }
    }

    /// The end of the cycle for the queues and outputs of a router.
    fn route(&mut self, tile: usize, sent: &[Option<usize>; SIDES], entering: &[Option<Flit>; SIDES]) {
        let mut left = [None; SIDES];
        for (input, queues) in self.queues[tile].iter_mut().enumerate() {
            for (side, queue) in queues.iter_mut().enumerate() {
                let taken = sent[side] == Some(input);
                let coming = entering[input].filter(|flit| flit.queue == side);
                let flit = queue.clock(taken, coming);
                left[side] = left[side].or(flit);
            }
        }
        for side in 0..SIDES {
            let flit: Option<Flit> = left[side].map(|flit: Flit| Flit {
                queue: self.next_queue(tile, side, flit.destination),
                ..flit
            });
            if let (Some(input), Some(flit)) = (sent[side], flit) {
                self.outputs[tile][side].send(input, flit.queue, flit.last);
            }
            self.links[tile][side].flits.clock(flit);
        }
    }

    /// Credits for flits that left a queue are returned, and are counted when they arrive.
    fn return_credits(&mut self, sent: &[[Option<usize>; SIDES]]) {
        for (tile, sent) in sent.iter().enumerate() {
            for input in 0..SIDES {
                let freed = (0..SIDES).filter(|side| sent[*side] == Some(input));
                let queues = freed.fold(0, |queues, side| queues | 1 << side);
                match self.shape.neighbour(tile, input) {
                    Some(sender) => {
                        let side = Shape::entrance(input);
                        let back = &mut self.links[sender][side].credits;
                        self.outputs[sender][side].credits.give_back(back.seen());
                        back.clock(queues);
                    }
                    None if input == OWN => self.from_tiles[tile].credits.clock(queues),
                    None => {}
                }
            }
        }
    }
}

impl Network for Model {
    fn endpoints(&self) -> usize {
        self.shape.tiles()
    }

    fn offer(&mut self, packet: Packet) {
        self.waiting[packet.source].push_back(packet);
    }

    fn advance(&mut self, until: u64, arrivals: &mut Vec<Arrival>) -> Result<(), NocError> {
        while self.cycle < until {
            self.cycle = self.rests_until().clamp(self.cycle, until);
            if self.cycle < until {
                self.step(arrivals);
            }
        }
        Ok(())
    }
}
