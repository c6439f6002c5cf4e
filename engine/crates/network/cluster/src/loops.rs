use crate::routes::Routes;
use crate::topology::Topology;
use crate::ClusterError;

/// Refuses pinned routes that send frames in a circle. Computed routes always lead closer to the destination.
pub(crate) fn check_loops(topology: &Topology, routes: &Routes) -> Result<(), ClusterError> {
    for server in routes.pinned_servers() {
        let mut search = Search {
            topology,
            routes,
            server,
            done: vec![false; topology.ports.len()],
            path: Vec::new(),
        };
        topology.switches().try_for_each(|switch| search.visit(switch))?;
    }
    Ok(())
}

/// A depth-first search along the routes to one server.
struct Search<'a> {
    topology: &'a Topology<'a>,
    routes: &'a Routes,
    server: usize,
    done: Vec<bool>,
    path: Vec<usize>,
}

impl Search<'_> {
    fn visit(&mut self, node: usize) -> Result<(), ClusterError> {
        if let Some(start) = self.path.iter().position(|before| *before == node) {
            return Err(self.circle(start));
        }
        if self.done[node] || !self.topology.is_switch(node) {
            return Ok(());
        }
        self.path.push(node);
        for port in self.routes.ports(self.topology, node, self.server) {
            self.visit(self.topology.ports[node][usize::from(port)].node)?;
        }
        self.path.pop();
        self.done[node] = true;
        Ok(())
    }

    fn circle(&self, start: usize) -> ClusterError {
        let circle = self.path[start..].iter().chain(self.path.get(start));
        let names: Vec<&str> = circle.map(|node| self.topology.name(*node)).collect();
        ClusterError::Loop {
            from: names[0].to_string(),
            to: self.topology.name(self.server).to_string(),
            circle: names.join(" -> "),
        }
    }
}
