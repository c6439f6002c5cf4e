"""Reproduction of experiments of papers: `rw reproduce`.

    from rackwright.reproduce import reproduce

    (figure,) = reproduce("firesim-2.6")
    for row in figure.outcome.rows:
        print(row.quantity, row.paper, row.ours, row.unit)

To add one: a table in `validation/GROUP/` with the paper's numbers (see `reference.py`), a module in this
package whose `EXPERIMENT` measures the same quantities, and a line in `registry.py`.
"""

from rackwright.reproduce.experiment import Experiment, Outcome, Reproduction, Row, Settings
from rackwright.reproduce.registry import EXPERIMENTS
from rackwright.reproduce.runner import reproduce

__all__ = ["EXPERIMENTS", "Experiment", "Outcome", "Reproduction", "Row", "Settings", "reproduce"]
