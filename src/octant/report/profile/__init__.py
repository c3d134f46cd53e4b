"""The report of an MPI profile: first screen, tables, pictures, page, text and JSON."""
