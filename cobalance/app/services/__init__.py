"""Load, plan, run jobs and export, on the store and folders that the settings name."""
