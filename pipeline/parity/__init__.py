"""Which tokenizer cuts which text differently, and why.

The reference is HuggingFace `tokenizers`, set up from the model's own vocabulary. The exact encoder on
the image and the models of other engines are held against it, text by text. What each module does:

- `corpus`: the texts: a file, a folder, or the ones in `texts/`
- `reference`: the reference for a model; the only module that needs the extra `parity`
- `model_tables`: a model's vocabulary as the exact encoder wants it
- `passage`: a text with what the reference makes of it at each stage, and the way back to its bytes
- `parties`, `greedy_party`: who is compared, each of which can be asked what it would do with a stage mended
- `causes`: the classes of differences, and the search for the one that explains a difference
- `alignment`: where two ways to cut a text agree and where they do not
- `comparison`: all of it over a corpus
- `assembly`: the parties that a build's artifacts allow
- `judging`: a whole comparison, and whether the exact encoder passes
- `document`, `table`: the outcome as `parity.json` and as lines for people
"""
