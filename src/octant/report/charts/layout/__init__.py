"""How a picture is laid out for a width: places of marks, lines and texts."""
