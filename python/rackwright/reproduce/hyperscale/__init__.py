"""The chip of Karandikar 2024, chapters 1 and 4: what its units and the whole die take."""
