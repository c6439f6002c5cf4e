use crate::shape::SIDES;

/// One output of a router: the input that it serves, and the queues of the next router that belong to a packet in
/// progress.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Inputs, the least recently served one first.
    order: [usize; SIDES],
    /// For each queue of the next router: the input whose packet is entering it.
    owners: [Option<usize>; SIDES],
    pub(crate) credits: Credits,
}

impl Output {
    pub(crate) fn new(depth: usize) -> Output {
        Output {
            order: std::array::from_fn(|side| side),
            owners: [None; SIDES],
            credits: Credits::new(depth),
        }
    }

    /// The input to serve; `waiting` returns the queue of the next router for an input's flit.
    pub(crate) fn choose(&self, waiting: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        let may_go = |input: &usize| {
            waiting(*input).is_some_and(|queue| {
                self.credits.available(queue) && self.owners[queue].is_none_or(|owner| owner == *input)
            })
        };
        self.order.iter().copied().find(may_go)
    }

    /// The input sends a flit to a queue of the next router.
    pub(crate) fn send(&mut self, input: usize, queue: usize, last: bool) {
        let place = self.order.iter().position(|other| *other == input);
        self.order[place.expect("every input has a place")..].rotate_left(1);
        self.owners[queue] = (!last).then_some(input);
        self.credits.spend(queue);
    }
}

/// A sender's credits for each queue behind a link.
#[derive(Clone, Debug)]
pub(crate) struct Credits([usize; SIDES]);

impl Credits {
    pub(crate) fn new(depth: usize) -> Credits {
        Credits([depth; SIDES])
    }

    pub(crate) fn available(&self, queue: usize) -> bool {
        self.0[queue] > 0
    }

    pub(crate) fn spend(&mut self, queue: usize) {
        self.0[queue] -= 1;
    }

    /// Queues, one per bit, of which a credit was returned.
    pub(crate) fn give_back(&mut self, queues: u8) {
        for (queue, count) in self.0.iter_mut().enumerate() {
            *count += usize::from((queues >> queue) & 1);
        }
    }
}
