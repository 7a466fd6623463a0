"""A declared layout in the words of others: tables, JSON, C, Kaitai Struct, ImHex.

Each module writes one form, from the declarations of `formats` alone.
"""
