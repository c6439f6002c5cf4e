use std::ops::Range;

/// Which models of a graph one of several processes simulates. All processes have the same graph; models of other
/// processes only occupy their ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// Which of the processes this is.
    pub rank: usize,
    /// The first model of each process, and the number of models.
    pub starts: Vec<usize>,
}

impl Share {
    /// Whether it is a share of `models` models: starts are ordered, from 0 to that number.
    pub fn is_of(&self, models: usize) -> bool {
        let starts = &self.starts;
        self.rank + 1 < starts.len()
            && starts.first() == Some(&0)
            && starts.last() == Some(&models)
            && starts.is_sorted()
    }

    /// The models of this process.
    pub fn models(&self) -> Range<usize> {
        self.starts[self.rank]..self.starts[self.rank + 1]
    }
}

/// Starts of `parts` parts of about equal cost, followed by the number of models. Every part has at least one model;
/// there are fewer parts if there are fewer models.
pub fn equal_shares(costs: &[u64], parts: usize) -> Vec<usize> {
    let parts = parts.min(costs.len()).max(1);
    let total: u128 = costs.iter().map(|cost| u128::from(*cost)).sum();
    let mut starts = vec![0];
    let mut passed = 0u128;
    for (index, cost) in costs.iter().enumerate() {
        let (made, left) = (starts.len(), costs.len() - index);
        // The boundary is the one nearest to the equal share that leaves a model for each of the remaining parts.
        let due = (passed + u128::from(cost / 2)) * parts as u128 >= total * made as u128;
        if index > starts[made - 1] && made < parts && (due || left == parts - made) {
            starts.push(index);
        }
        passed += u128::from(*cost);
    }
    starts.push(costs.len());
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cost_the_same_and_none_is_empty() {
        assert_eq!(equal_shares(&[1, 1, 1, 1], 2), [0, 2, 4]);
        assert_eq!(equal_shares(&[9, 1, 1, 1], 2), [0, 1, 4]);
        assert_eq!(equal_shares(&[1, 1, 1, 9], 2), [0, 3, 4]);
        assert_eq!(equal_shares(&[1, 1, 1, 90], 3), [0, 2, 3, 4]);
        assert_eq!(equal_shares(&[90, 1, 1], 3), [0, 1, 2, 3]);
        assert_eq!(equal_shares(&[1, 1], 4), [0, 1, 2]);
        assert_eq!(equal_shares(&[], 4), [0, 0]);
    }
}
