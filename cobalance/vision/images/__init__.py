"""Image files: finding and decoding them within limits, their masks and regions."""
