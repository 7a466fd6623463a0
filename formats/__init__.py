"""What the bytes are: every binary layout the project reads or writes, declared once."""
