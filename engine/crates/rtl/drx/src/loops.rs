/// A loop that is open.
#[derive(Debug, Clone, Copy)]
struct Open {
    left: u32,
    begin: usize,
}

/// The hardware loops that are open.
#[derive(Debug, Clone)]
pub struct Loops {
    open: Vec<Open>,
    most: usize,
}

impl Loops {
    /// No loops, of at most `most`.
    pub fn new(most: usize) -> Loops {
        Loops {
            open: Vec::new(),
            most,
        }
    }

    /// Closes all.
    pub fn clear(&mut self) {
        self.open.clear();
    }

    /// Number of open loops.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Opens a loop with this number of iterations, starting at instruction `begin`; false if it exceeds the maximum.
    pub fn begin(&mut self, iterations: u32, begin: usize) -> bool {
        let room = self.open.len() < self.most;
        if room {
            self.open.push(Open {
                left: iterations,
                begin,
            });
        }
        room
    }

    /// `ends` loops end here: the innermost with an iteration left continues, at the returned instruction and level;
    /// loops inside it are closed.
    pub fn end(&mut self, ends: usize) -> Option<(usize, usize)> {
        for _ in 0..ends {
            let innermost = self.open.last_mut().expect("no more end than are open");
            if innermost.left > 1 {
                innermost.left -= 1;
                let begin = innermost.begin;
                return Some((begin, self.open.len() - 1));
            }
            self.open.pop();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Loops;

    #[test]
    fn an_instruction_that_ends_two_loops() {
        let mut loops = Loops::new(2);
        assert!(loops.begin(2, 1));
        assert!(loops.begin(3, 2));
        assert!(!loops.begin(1, 3));
        let inner = Some((2, 1));
        assert_eq!([loops.end(2), loops.end(2)], [inner, inner]);
        assert_eq!(loops.end(2), Some((1, 0)));
        assert!(loops.begin(1, 2));
        assert_eq!(loops.end(2), None);
        assert_eq!(loops.depth(), 0);
    }
}
