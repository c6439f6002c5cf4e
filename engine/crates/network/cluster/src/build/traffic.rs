use super::Builder;
use crate::{ClusterError, HostPortSpec, TrafficSpec, WireSpec};
use rackwright_gateway::{HostPort, Pace, Socket, Tap, Wire};
use rackwright_time::network::Cycle;
use rackwright_traffic::{Client, Host, Identity, ParameterError, Random, Service};
use std::io;

/// Hosts that are only traffic models, and ports to the host's own network.
impl Builder<'_> {
    pub(super) fn host(&self, index: usize, spec: &TrafficSpec) -> Result<Host, ParameterError> {
        let peer = self.peers[&index];
        let identity = Identity {
            mac: peer.mac,
            endpoint: peer.endpoint,
            stack: self.cycles(spec.stack_us)?,
            ecn: spec.ecn,
        };
        let port = self.ports(index)[0];
        Ok(Host::new(
            identity,
            port,
            self.client(index, spec)?,
            self.service(index, spec)?,
        )
        .with_outages(self.outages(&spec.outages_us)?))
    }

    pub(super) fn host_port(&self, index: usize, spec: &HostPortSpec) -> Result<HostPort, ClusterError> {
        let wire: io::Result<Box<dyn Wire>> = match &spec.wire {
            WireSpec::Socket(path) => Socket::new(path).map(|socket| Box::new(socket) as _),
            WireSpec::Tap(name) => Tap::new(name).map(|tap| Box::new(tap) as _),
        };
        let wrong = |reason: String| ClusterError::HostPort {
            name: self.topology.name(index).to_string(),
            reason,
        };
        let wire = wire.map_err(|error| match &spec.wire {
            WireSpec::Socket(path) => wrong(format!("the socket {}: {error}", path.display())),
            WireSpec::Tap(name) => wrong(format!("the TAP device {name}: {error}")),
        })?;
        if !(spec.speed.is_finite() && spec.speed > 0.0) {
            return Err(wrong(format!("a speed of {} is impossible", spec.speed)));
        }
        let pace = Pace::new(self.topology.clock, spec.speed);
        Ok(HostPort::new(self.ports(index)[0], wire, pace))
    }

    pub(super) fn client(&self, index: usize, spec: &TrafficSpec) -> Result<Option<Client>, ParameterError> {
        let Some(client) = &spec.client else {
            return Ok(None);
        };
        let known = |name: &String| {
            self.topology
                .find(name, String::new)
                .expect("targets were checked")
        };
        let peers = client.to.iter().map(|name| self.peers[&known(name)]).collect();
        let random = self.random(index, "client");
        Client::new(
            &client.parameters,
            peers,
            self.topology.clock,
            random,
            self.warm()?,
        )
        .map(Some)
    }

    pub(super) fn service(
        &self,
        index: usize,
        spec: &TrafficSpec,
    ) -> Result<Option<Service>, ParameterError> {
        let Some(service) = &spec.service else {
            return Ok(None);
        };
        let random = self.random(index, "service");
        Service::new(service, self.topology.clock, random, self.warm()?).map(Some)
    }

    pub(super) fn random(&self, index: usize, purpose: &str) -> Random {
        Random::new(self.topology.description.seed, index as u64, purpose)
    }

    pub(super) fn warm(&self) -> Result<Cycle, ParameterError> {
        self.cycles(self.topology.description.warmup_us)
            .map(|span| Cycle::ZERO + span)
    }
}
