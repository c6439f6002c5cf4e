/// System calls that the program made and that are not emulated, each number once, in the order of
/// first use. A report shows them when a program does not behave.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnknownCalls {
    numbers: Vec<u64>,
}

impl UnknownCalls {
    pub(crate) fn record(&mut self, number: u64) {
        if !self.numbers.contains(&number) {
            self.numbers.push(number);
        }
    }

    pub(crate) fn numbers(&self) -> &[u64] {
        &self.numbers
    }
}
