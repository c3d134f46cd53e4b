"""Curves along an axis: metrics by a knob, ladders of memory, messages, spread, time and the roofline."""
