"""The units of compressed formats alone, and the official libraries that they are checked with."""
