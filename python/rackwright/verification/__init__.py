"""The verification kit: what tests of units are made of, for our units and for yours."""
