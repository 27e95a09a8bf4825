"""Pictures that are drawn of other pictures: which they are, and what their values mean."""
