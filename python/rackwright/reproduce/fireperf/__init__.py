"""Karandikar 2020 (ASPLOS) and 2024, chapter 5: profiles of whole systems from outside."""
