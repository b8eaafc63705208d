"""Text is read from pictures here, on this machine: words with their boxes, and what they form."""
