"""The web app's pages, one module each with a function `page`, and what they share."""
