"""Documents show a session, a workflow or a figure as one HTML or SVG file; `pipeline` imports
them."""
