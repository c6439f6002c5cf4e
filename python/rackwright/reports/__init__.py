"""What results are shown and kept in: pages, charts, tables, and where they come from."""
