"""One node: its memory, its arithmetic units and its noise."""
