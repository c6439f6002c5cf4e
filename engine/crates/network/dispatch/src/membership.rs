use crate::dispatcher::Dispatcher;
use crate::replica::{Health, Replica};
use crate::{Action, ConfigurationError, ReplicaId, ReplicaSpec, ServiceId};

/// Maximum number of replicas over the life of a dispatcher.
const MOST_REPLICAS: usize = 65_000;

impl Dispatcher {
    /// Adds a replica of this rack, or one that was removed before.
    ///
    /// # Errors
    /// [`ConfigurationError`] when there is no such service, the number is taken, or the replica cannot work.
    pub fn add_replica(
        &mut self,
        now: u64,
        service: ServiceId,
        spec: ReplicaSpec,
        actions: &mut Vec<Action>,
    ) -> Result<(), ConfigurationError> {
        let now = self.settle(now, actions);
        spec.check()?;
        let own = self
            .find(service)
            .ok_or(ConfigurationError::NoService(service.0))?;
        if self.position(spec.id).is_some() {
            return Err(ConfigurationError::ReplicaTwice(spec.id.0));
        }
        let replica = Replica::new(spec, own, self.epochs.current);
        let is_forgotten = |replica: &Replica| replica.health == Health::Removed && replica.outstanding == 0;
        match self.replicas.iter().position(is_forgotten) {
            Some(index) => self.replicas[index] = replica,
            None if self.replicas.len() >= MOST_REPLICAS => return Err(ConfigurationError::TooManyReplicas),
            None => self.replicas.push(replica),
        }
        self.members_changed(now, own, actions);
        Ok(())
    }

    /// Removes a replica: it gets no more requests, and responses to outstanding ones are still accepted.
    ///
    /// # Errors
    /// [`ConfigurationError::NoReplica`].
    pub fn remove_replica(
        &mut self,
        now: u64,
        replica: ReplicaId,
        actions: &mut Vec<Action>,
    ) -> Result<(), ConfigurationError> {
        let now = self.settle(now, actions);
        let index = self
            .position(replica)
            .ok_or(ConfigurationError::NoReplica(replica.0))?;
        self.replicas[index].health = Health::Removed;
        self.members_changed(now, self.replicas[index].service, actions);
        Ok(())
    }

    /// The caller knows that a replica is dead: a refused connection, a health check.
    pub fn replica_down(&mut self, now: u64, replica: ReplicaId, actions: &mut Vec<Action>) {
        let now = self.settle(now, actions);
        if let Some(index) = self.position(replica) {
            if self.replicas[index].health == Health::Up {
                self.replicas[index].health = Health::Failed;
                self.counters.answers.failures += 1;
                self.members_changed(now, self.replicas[index].service, actions);
            }
        }
    }

    /// A replica has shown that it is alive, by a response to a probe or otherwise.
    pub fn replica_up(&mut self, now: u64, replica: ReplicaId, actions: &mut Vec<Action>) {
        let now = self.settle(now, actions);
        if let Some(index) = self.position(replica) {
            self.replicas[index].heard(self.epochs.current);
            if self.replicas[index].health == Health::Failed {
                self.revive(now, index as u16, actions);
            }
        }
    }

    pub(crate) fn revive(&mut self, now: u64, index: u16, actions: &mut Vec<Action>) {
        let replica = &mut self.replicas[usize::from(index)];
        replica.health = Health::Up;
        let service = replica.service;
        self.members_changed(now, service, actions);
    }

    /// Counts a service's replicas again and informs the others, for any load.
    fn members_changed(&mut self, now: u64, service: usize, actions: &mut Vec<Action>) {
        self.count_again(service);
        self.broadcast(now, service, actions);
        self.release(now, service, actions);
    }

    pub(crate) fn count_again(&mut self, service: usize) {
        self.services[service].count_again(service, &self.replicas);
    }

    fn position(&self, replica: ReplicaId) -> Option<usize> {
        let is_it = |known: &Replica| known.id == replica && known.health != Health::Removed;
        self.replicas.iter().position(is_it)
    }
}
