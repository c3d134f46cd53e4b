"""Starting processes: one file a launcher, and the one place that starts, watches and ends what was started."""
