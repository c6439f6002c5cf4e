use crate::{ClusterError, Description, NodeKind};
use rackwright_ethernet::Rate;
use rackwright_time::network::Cycles;
use rackwright_time::Clock;
use std::collections::BTreeMap;

/// The node and port at the other end of a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) node: usize,
    /// Its port.
    pub(crate) port: usize,
    pub(crate) latency: Cycles,
    pub(crate) rate: Rate,
}

/// A description with resolved names: for every node, the nodes that its ports lead to.
pub(crate) struct Topology<'a> {
    pub(crate) description: &'a Description,
    pub(crate) clock: Clock,
    pub(crate) ports: Vec<Vec<Neighbour>>,
    names: BTreeMap<&'a str, usize>,
}

impl<'a> Topology<'a> {
    pub(crate) fn new(description: &'a Description) -> Result<Topology<'a>, ClusterError> {
        let mut topology = Topology {
            clock: Clock::new(description.clock_hz)?,
            ports: vec![Vec::new(); description.nodes.len()],
            names: BTreeMap::new(),
            description,
        };
        for (index, node) in description.nodes.iter().enumerate() {
            if topology.names.insert(&node.name, index).is_some() {
                return Err(ClusterError::DuplicateName(node.name.clone()));
            }
        }
        description
            .links
            .iter()
            .try_for_each(|link| topology.join(link))?;
        Ok(topology)
    }

    pub(crate) fn name(&self, node: usize) -> &'a str {
        &self.description.nodes[node].name
    }

    /// The node with that name.
    pub(crate) fn find(&self, name: &str, by: impl FnOnce() -> String) -> Result<usize, ClusterError> {
        let unknown = || ClusterError::UnknownName {
            by: by(),
            name: name.to_string(),
        };
        self.names.get(name).copied().ok_or_else(unknown)
    }

    pub(crate) fn is_switch(&self, node: usize) -> bool {
        matches!(self.description.nodes[node].kind, NodeKind::Switch(_))
    }

    pub(crate) fn servers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.description.nodes.len()).filter(|node| !self.is_switch(*node))
    }

    pub(crate) fn switches(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.description.nodes.len()).filter(|node| self.is_switch(*node))
    }

    fn join(&mut self, link: &crate::Link) -> Result<(), ClusterError> {
        let by = || format!("the link of `{}` and `{}`", link.ends[0], link.ends[1]);
        let [one, other] = [self.find(&link.ends[0], by)?, self.find(&link.ends[1], by)?];
        if one == other {
            return Err(ClusterError::link(&link.ends, "a node is not linked to itself"));
        }
        let latency = self.latency(link)?;
        let rate = match link.bits_per_second {
            Some(rate) => {
                Rate::new(rate, self.clock).map_err(|reason| ClusterError::rate(&link.ends, reason))?
            }
            None => Rate::FULL,
        };
        let (here, there) = (self.ports[one].len(), self.ports[other].len());
        if here.max(there) >= usize::from(u16::MAX) {
            return Err(ClusterError::link(&link.ends, "a switch has at most 65535 ports"));
        }
        self.ports[one].push(Neighbour {
            node: other,
            port: there,
            latency,
            rate,
        });
        self.ports[other].push(Neighbour {
            node: one,
            port: here,
            latency,
            rate,
        });
        Ok(())
    }

    fn latency(&self, link: &crate::Link) -> Result<Cycles, ClusterError> {
        let cycles = link.latency_us * self.clock.hertz() as f64 / 1e6;
        if !(cycles.is_finite() && (0.5..1e15).contains(&cycles)) {
            let reason = format!(
                "a latency of {} us is not at least one cycle, or too long",
                link.latency_us
            );
            return Err(ClusterError::link(&link.ends, reason));
        }
        Ok(Cycles::new((cycles + 0.5) as u64))
    }
}
