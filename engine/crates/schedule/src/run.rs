use crate::graph::Node;
use crate::{Graph, Model};
use rackwright_link::Link;
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// Every model has finished.
    Finished,
    /// The time given is over.
    TimeOver,
}

impl<M: Model> Graph<M> {
    /// The first cycle not yet simulated.
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// Advances until every model has finished or the cycle `until` is reached.
    pub fn run(&mut self, until: Cycle) -> RunOutcome {
        while self.cycle < until {
            if self.nodes.iter().all(|node| node.model.finished()) {
                return RunOutcome::Finished;
            }
            let end = self.window_end(until);
            for node in &mut self.nodes {
                visit(node, &mut self.links, self.cycle, end);
            }
            self.cycle = end;
        }
        if self.nodes.iter().all(|node| node.model.finished()) {
            RunOutcome::Finished
        } else {
            RunOutcome::TimeOver
        }
    }

    /// The digest over all link traffic and over what happened inside the models.
    pub fn digest(&self) -> Digest {
        let mut digest = Digest::new();
        for node in &self.nodes {
            node.traffic
                .iter()
                .for_each(|port| digest.bytes(&port.value().to_le_bytes()));
            node.model.digest(&mut digest);
        }
        digest
    }

    /// Where the next window ends. Nothing can cross a link within `window` cycles of the first
    /// thing that happens, so that time without any event or arrival is passed in one step.
    fn window_end(&self, until: Cycle) -> Cycle {
        let events = self.nodes.iter().map(|node| node.model.next_event());
        let arrivals = self.links.iter().map(Link::next_arrival);
        let first = events
            .chain(arrivals)
            .min()
            .unwrap_or(Cycle::NEVER)
            .max(self.cycle);
        (first + self.window).min(until)
    }
}

/// Gives a model what has arrived, lets it advance, and sends what it put out.
fn visit<M: Model>(node: &mut Node<M>, links: &mut [Link], from: Cycle, until: Cycle) {
    let length: Cycles = until - from;
    for (port, joined) in node.joined.iter().enumerate() {
        node.inputs[port].reset(from, length);
        if let Some(joined) = joined {
            links[joined.incoming].receive(&mut node.inputs[port]);
            node.outputs[port] = links[joined.outgoing].window(from, length);
        } else {
            node.outputs[port].reset(from, length);
        }
    }
    node.model.advance(until, &node.inputs, &mut node.outputs);
    for (port, joined) in node.joined.iter().enumerate() {
        node.outputs[port].digest(&mut node.traffic[port]);
        if let Some(joined) = joined {
            let sent = std::mem::replace(
                &mut node.outputs[port],
                rackwright_link::Window::new(until, Cycles(0)),
            );
            links[joined.outgoing].send(sent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortId;
    use rackwright_link::{Flit, Window};

    /// Sends a flit at a time of its own and returns what comes, one cycle later.
    struct Echo {
        cycle: Cycle,
        first: Cycle,
        seen: Vec<u64>,
    }

    impl Echo {
        fn new(first: Cycle) -> Echo {
            Echo {
                cycle: Cycle::ZERO,
                first,
                seen: Vec::new(),
            }
        }
    }

    impl Model for Echo {
        fn ports(&self) -> usize {
            1
        }

        fn next_event(&self) -> Cycle {
            if self.cycle <= self.first {
                self.first
            } else {
                Cycle::NEVER
            }
        }

        fn advance(&mut self, until: Cycle, inputs: &[Window], outputs: &mut [Window]) {
            if self.first >= self.cycle && self.first < until {
                outputs[0].push(self.first, Flit::new(b"ping", true));
            }
            for (cycle, flit) in inputs[0].flits() {
                self.seen.push(cycle.0);
                if *cycle + Cycles(1) < until {
                    outputs[0].push(*cycle + Cycles(1), *flit);
                }
            }
            self.cycle = until;
        }

        fn finished(&self) -> bool {
            false
        }

        fn digest(&self, digest: &mut Digest) {
            self.seen.iter().for_each(|cycle| digest.number(*cycle));
        }
    }

    fn pair(latency: u64) -> (Graph<Echo>, [crate::ModelId; 2]) {
        let mut graph = Graph::new();
        let ids = [
            graph.add("one", Echo::new(Cycle(1000))),
            graph.add("other", Echo::new(Cycle::NEVER)),
        ];
        let port = |model| PortId { model, port: 0 };
        graph.join(port(ids[0]), port(ids[1]), Cycles(latency)).unwrap();
        (graph, ids)
    }

    #[test]
    fn a_flit_goes_there_and_back_at_the_latency_of_the_link() {
        let (mut graph, [one, other]) = pair(100);
        assert_eq!(graph.run(Cycle(1250)), RunOutcome::TimeOver);
        assert_eq!(graph.model(other).seen, [1100]);
        assert_eq!(graph.model(one).seen, [1201]);
    }

    #[test]
    fn two_runs_have_one_digest() {
        let digests: Vec<String> = (0..2)
            .map(|_| {
                let (mut graph, _) = pair(64);
                graph.run(Cycle(10_000));
                graph.digest().to_string()
            })
            .collect();
        assert_eq!(digests[0], digests[1]);
    }

    #[test]
    fn ports_that_do_not_exist_or_are_taken_are_refused_by_name() {
        let (mut graph, [one, other]) = pair(10);
        let port = |model, port| PortId { model, port };
        let missing = graph.join(port(one, 1), port(other, 0), Cycles(1)).unwrap_err();
        assert_eq!(missing.to_string(), "`one` has 1 ports; there is no port 1");
        let taken = graph.join(port(one, 0), port(other, 0), Cycles(1)).unwrap_err();
        assert_eq!(taken.to_string(), "port 0 of `one` is joined already");
    }
}
