"""The page Plan: the missing images, their effect, and the job that makes them."""
