"""Studies: a question becomes a plan of launches, and the plan is carried out."""
