"""The version of the tool; the one place it is written."""

VERSION = "0.1.0"
