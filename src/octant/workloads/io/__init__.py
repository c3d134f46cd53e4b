"""Files of one host: what their file system and its cache make of a program's transfers."""
