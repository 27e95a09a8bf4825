"""The page Neighbourhood: the concepts that a concept or class occurs with."""
