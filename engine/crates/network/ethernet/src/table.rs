use crate::Mac;
use std::collections::BTreeMap;

/// The route to one address.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Route {
    /// Nowhere.
    #[default]
    Unknown,
    /// Through one port.
    Port(u16),
    /// Through one of several that are equally good.
    OneOf(Box<[u16]>),
}

impl Route {
    /// A route through any of these ports.
    pub fn through(ports: &[u16]) -> Route {
        match ports {
            [] => Route::Unknown,
            [port] => Route::Port(*port),
            ports => Route::OneOf(ports.into()),
        }
    }
}

/// A static table from addresses to ports. Assigned addresses are looked up by their number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    assigned: Vec<Route>,
    others: BTreeMap<Mac, Route>,
}

impl Table {
    /// A table without routes.
    pub fn new() -> Table {
        Table::default()
    }

    /// Sets the route to an address.
    pub fn insert(&mut self, mac: Mac, route: Route) {
        match mac.number() {
            // A pinned address may have any number; a table of all of them would be large.
            Some(number) if (number as usize) < DENSE => {
                let number = number as usize;
                if self.assigned.len() <= number {
                    self.assigned.resize(number + 1, Route::Unknown);
                }
                self.assigned[number] = route;
            }
            _ => {
                self.others.insert(mac, route);
            }
        }
    }

    /// The route to an address.
    #[inline]
    pub fn route(&self, mac: Mac) -> &Route {
        match mac.number().and_then(|number| self.assigned.get(number as usize)) {
            Some(Route::Unknown) | None => self.others.get(&mac).unwrap_or(&Route::Unknown),
            Some(route) => route,
        }
    }
}

/// Numbers below this are looked up directly.
const DENSE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assigned_pinned_and_unknown_addresses() {
        let mut table = Table::new();
        let pinned = Mac([2, 0, 0, 0, 0, 1]);
        table.insert(Mac::assigned(7), Route::Port(3));
        table.insert(Mac::assigned(0xff_ffff), Route::Port(4));
        table.insert(pinned, Route::through(&[1, 2]));
        assert_eq!(*table.route(Mac::assigned(7)), Route::Port(3));
        assert_eq!(*table.route(Mac::assigned(0xff_ffff)), Route::Port(4));
        assert_eq!(*table.route(pinned), Route::OneOf([1, 2].into()));
        assert_eq!(*table.route(Mac::assigned(6)), Route::Unknown);
        assert_eq!(*table.route(Mac::assigned(8)), Route::Unknown);
    }
}
