"""From the name of a unit to its compiled design, and what its manifest says."""
