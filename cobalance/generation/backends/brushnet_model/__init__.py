"""BrushNet: the branch beside a U-Net, its residuals, its pipeline, and loading."""
