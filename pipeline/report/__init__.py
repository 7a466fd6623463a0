"""A build as one page: what it holds, where its bytes lie, and what each file was made from.

`build` reads the folder, by its record; `maps`, `tensors` and `vocabulary` draw figures from its files with
the readers of the formats; `page` and the views write HTML that needs no other file and no script.
"""
