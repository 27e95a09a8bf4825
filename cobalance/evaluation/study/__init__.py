"""Human study: people judge edited images beside their originals, blind."""
