"""The view Around of Diagnose: the concepts that a concept or class occurs with."""
