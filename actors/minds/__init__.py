"""Language models behind one interface: who is asked, in whose wire format, and what it costs."""
