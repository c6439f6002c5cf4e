"""A server: what it consists of, and what runs on it."""
