"""Annotated bytes: what each byte of a file means.

- `paths`: which parts are asked for
- `rows`: the parts as rows, every byte once
- `values`: a value in words
- `tokens`: the tokens of a file, and what is known of each
- `text_form`, `html_form`: the rows for people
"""
