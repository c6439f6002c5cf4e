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
    /// None, of at most so many.
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

    /// How many are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Opens one of so many iterations, which begin at instruction `begin`; false if that is one too many.
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

    /// `ends` loops end here: the innermost with an iteration left goes on, at the instruction and with the level that
    /// are given back; those within it are closed.
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
