"""History of a figure over the runs of a machine, as a table and a page."""
