"""Karandikar 2020 (ASPLOS) and 2024, chapter 5: profiles of complete systems without side effects."""
