"""Karandikar 2024, chapter 2: the network, and a thousand nodes."""
