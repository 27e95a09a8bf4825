"""The concept graph in the browser: component, elements and layouts."""
