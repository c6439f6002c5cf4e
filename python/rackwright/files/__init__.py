"""Files that people write, and files and folders that are written as a whole."""
