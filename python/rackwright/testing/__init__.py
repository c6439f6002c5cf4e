"""The parts of the test suite that `rw test` runs: which they are, what a change affects, what they took."""
