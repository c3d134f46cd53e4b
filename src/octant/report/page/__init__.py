"""Pages: the templates, styles and scripts of all of them, and the page of a run."""
