"""The page Annotate: attributes and labels that models propose, and what people decide of them."""
