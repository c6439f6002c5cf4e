"""The chip of Karandikar 2024, chapters 1 and 4: the areas of its units and the complete die."""
