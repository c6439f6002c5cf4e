"""The documentation: block diagrams drawn from descriptions, and the site."""
