"""Human studies: pairs of images that people judge blind, and their answers."""
