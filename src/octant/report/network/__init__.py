"""The answers of the network model: text, page, pictures and drawings."""
