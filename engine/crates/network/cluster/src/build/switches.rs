use super::Builder;
use crate::dispatch;
use crate::{ClusterError, DispatchSpec, SwitchSpec};
use rackwright_daronpon::UnitDispatching;
use rackwright_ethernet::{
    Dispatching, Faults, Forwarding, MakePolicy, Outage, Policy, Route, Switch, SwitchParameters, Table,
    POLICIES,
};
use rackwright_time::network::{Cycle, Cycles};
use rackwright_traffic::ParameterError;

/// Switches, and their faults.
impl Builder<'_> {
    pub(super) fn switch(&self, index: usize, spec: &SwitchSpec) -> Result<Switch, ClusterError> {
        let mut table = Table::new();
        for (server, peer) in self.peers {
            table.insert(
                peer.mac,
                Route::through(&self.routes.ports(self.topology, index, *server)),
            );
        }
        let forwarding = Forwarding {
            table,
            broadcast: self.tree[index].clone(),
            // Switches choose independently, or all flows of one uplink would share the next one too.
            seed: self.topology.description.seed.wrapping_add(index as u64),
            mark_bytes: spec.mark_bytes,
        };
        let parameters = SwitchParameters {
            ports: self.ports(index),
            latency: Cycles::new(spec.switching_cycles),
            largest_frame: spec.largest_frame,
            faults: self.faults(index, spec)?,
        };
        let policy = match &spec.dispatch {
            None => self.policy(index, &spec.policy)?(forwarding),
            Some(dispatch) => self.dispatching(index, forwarding, dispatch)?,
        };
        Ok(Switch::new(parameters, policy))
    }

    /// The dispatcher of a switch: the model, or RTL.
    pub(super) fn dispatching(
        &self,
        index: usize,
        forwarding: Forwarding,
        spec: &DispatchSpec,
    ) -> Result<Box<dyn Policy>, ClusterError> {
        let name = self.topology.name(index);
        let rack = dispatch::rack(self.topology, self.peers, index, spec)?;
        let clock = self.topology.clock;
        Ok(match &spec.design {
            None => {
                let made = Dispatching::new(forwarding, rack, clock);
                Box::new(made.map_err(dispatch::refused(name))?)
            }
            Some(design) => {
                let made = UnitDispatching::new(forwarding, rack, clock, self.design(name, design)?);
                Box::new(made.map_err(dispatch::refused(name))?)
            }
        })
    }

    pub(super) fn faults(&self, index: usize, spec: &SwitchSpec) -> Result<Faults, ClusterError> {
        let wrong = ClusterError::parameter(self.topology.name(index));
        let is_probability = |probability: &f64| (0.0..=1.0).contains(probability);
        if let Some(other) = [spec.loss, spec.late]
            .into_iter()
            .find(|one| !is_probability(one))
        {
            return Err(wrong(ParameterError::Fraction(other)));
        }
        let outages = self.outages(&spec.outages_us).map_err(&wrong)?;
        let latest = self.cycles(spec.late_us).map_err(wrong)?;
        let seed = self.topology.description.seed.wrapping_add(index as u64);
        Ok(Faults::new(spec.loss, outages, seed).with_late_frames(spec.late, latest))
    }

    pub(super) fn outages(&self, outages_us: &[[f64; 2]]) -> Result<Vec<Outage>, ParameterError> {
        let outage = |[from, to]: &[f64; 2]| {
            let [from, to] = [self.cycles(*from)?, self.cycles(*to)?].map(|span| Cycle::ZERO + span);
            Ok(Outage { from, to })
        };
        outages_us.iter().map(outage).collect()
    }

    pub(super) fn policy(&self, index: usize, name: &str) -> Result<MakePolicy, ClusterError> {
        let found = POLICIES.iter().find(|(known, _)| *known == name);
        found.map(|(_, make)| *make).ok_or_else(|| ClusterError::Policy {
            switch: self.topology.name(index).to_string(),
            policy: name.to_string(),
            known: POLICIES
                .iter()
                .map(|(known, _)| *known)
                .collect::<Vec<_>>()
                .join(", "),
        })
    }
}
