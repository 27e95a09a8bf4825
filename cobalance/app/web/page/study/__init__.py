"""The page Study: people judge edited images beside their originals, blind."""
