use crate::NocError;

/// Sides of a router: its own tile, west, east, north, south.
pub(crate) const SIDES: usize = 5;
pub(crate) const OWN: usize = 0;
const WEST: usize = 1;
const EAST: usize = 2;
const NORTH: usize = 3;
const SOUTH: usize = 4;

/// The neighbour's side of the same link.
const OPPOSITE: [usize; SIDES] = [OWN, EAST, WEST, SOUTH, NORTH];

/// Most tiles in a row, most rows.
const LARGEST: usize = 8;

/// Fewest and most flits in a queue, as the RTL has them.
const DEPTHS: std::ops::RangeInclusive<usize> = 3..=16;

/// The shape of a mesh; the names are those of the parameters of the unit `mesh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Tiles in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Packets travel along the row first, not along the column.
    pub rows_first: bool,
    /// Flits in each queue of a router.
    pub depth: usize,
    /// Further registers in front of each input of a router.
    pub stages: usize,
}

impl Shape {
    /// The shape, checked.
    ///
    /// # Errors
    /// [`NocError::Shape`] when no such mesh can be built.
    pub fn checked(self) -> Result<Shape, NocError> {
        let sizes = 1..=LARGEST;
        let possible = sizes.contains(&self.width) && sizes.contains(&self.height) && self.tiles() > 1;
        match possible && DEPTHS.contains(&self.depth) {
            true => Ok(self),
            false => Err(NocError::Shape(self)),
        }
    }

    /// Number of tiles.
    pub fn tiles(&self) -> usize {
        self.width * self.height
    }

    /// The neighbour of a tile on that side.
    pub(crate) fn neighbour(&self, tile: usize, side: usize) -> Option<usize> {
        let (x, y) = (tile % self.width, tile / self.width);
        match side {
            WEST => (x > 0).then(|| tile - 1),
            EAST => (x + 1 < self.width).then(|| tile + 1),
            NORTH => (y > 0).then(|| tile - self.width),
            SOUTH => (y + 1 < self.height).then(|| tile + self.width),
            _ => None,
        }
    }

    /// The side through which flits that leave a router by `side` enter the next one.
    pub(crate) fn entrance(side: usize) -> usize {
        OPPOSITE[side]
    }

    /// The side through which a packet leaves the router of `tile` on its path to `destination`.
    pub(crate) fn leave(&self, tile: usize, destination: usize) -> usize {
        let (x, y) = (tile % self.width, tile / self.width);
        let (to_x, to_y) = (destination % self.width, destination / self.width);
        let row = match to_x.cmp(&x) {
            std::cmp::Ordering::Less => Some(WEST),
            std::cmp::Ordering::Greater => Some(EAST),
            std::cmp::Ordering::Equal => None,
        };
        let column = match to_y.cmp(&y) {
            std::cmp::Ordering::Less => Some(NORTH),
            std::cmp::Ordering::Greater => Some(SOUTH),
            std::cmp::Ordering::Equal => None,
        };
        let (first, second) = if self.rows_first {
            (row, column)
        } else {
            (column, row)
        };
        first.or(second).unwrap_or(OWN)
    }
}
