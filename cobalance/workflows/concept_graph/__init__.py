"""The concept graph as a picture: nodes, edges and layouts, as data."""
