"""The parts of the test suite that `rw test` runs, their selection after a change, and their times."""
