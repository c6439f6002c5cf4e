"""Experiments of Karandikar 2024, chapter 7: compression units."""
