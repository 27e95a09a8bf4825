"""The page Neighbourhood: one concept or class and what it occurs with."""
