"""What differs between two artifacts, by section, record and field.

- `alignment`: which rows of one table are those of the other
- `tables`: two tables; `compare`: two files as trees; `folders`: two folders
- `changes`: what was found
"""
