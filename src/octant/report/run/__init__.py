"""A run for people and programs: the table, the page, comparisons, exports, and what can be measured."""
