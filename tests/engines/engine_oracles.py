"""The engines once more: as plainly as their descriptions, or by the reference library; slow, with no data shared."""

from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from formats.byte_level import encode


def longest(entries, data):
    """Give the first of the longest entries that some data begin with, or None."""
    fitting = [token for token, stored in enumerate(entries) if stored and data.startswith(stored)]
    return max(fitting, key=lambda token: len(entries[token]), default=None)


def newlines(entries, rest, run):
    """Give the entry for the newlines that the rest begins with, and how many it takes."""
    count = len(rest[:run]) - len(rest[:run].lstrip(b"\n"))
    while count and b"\xc4\x8a" * count not in entries:
        count -= 1
    return (entries.index(b"\xc4\x8a" * count), count) if count else (0, 1)


def after_blank(entries, rest, ids, *, gate, lone):
    """Append what the engine makes of a blank and what follows; give the bytes that it takes of that."""
    if gate and not ids:
        return 0
    token = longest(entries, (b"\xc4\xa0" + rest)[:511])
    if token is not None and len(entries[token]) > 2:
        ids.append(token)
        return len(entries[token]) - 2
    if lone and b"\xc4\xa0" in entries:
        ids.append(entries.index(b"\xc4\xa0"))
    return 0


def greedy(entries, text, *, gate=True, lone=False, specials=(), run=1):
    """Walk over the text as the engine's description does, trying every entry at every place."""
    known = sorted((name for name in specials if name in entries), key=len, reverse=True)
    ids, at, blank = [], 0, False
    while at < len(text):
        special = next((name for name in known if text.startswith(name, at)), None)
        following = [place for name in known if (place := text.find(name, at)) >= 0]
        rest = text[at : min(following, default=len(text))]
        if special is not None:
            token, taken = entries.index(special), len(special)
        elif rest[:1] == b" ":
            blank, at = True, at + 1
            continue
        elif blank and (taken := after_blank(entries, rest, ids, gate=gate, lone=lone)):
            blank, at = False, at + taken
            continue
        elif (token := longest(entries, rest)) is not None:
            taken = len(entries[token])
        else:
            token, taken = newlines(entries, rest, run)
        ids.append(token)
        blank, at = False, at + taken
    return ids


ASCII_PIECES = r"'(?i:s|t|m|d|re|ve|ll)| ?[A-Za-z]+|[0-9]|[!-/:-@\[-`{-~]+|[\x{09}-\x{0D}\x{20}]+|[\s\S]"
"""The approximate pre-tokenizer's rule over characters, for the reference library's regular expressions."""


def library(tokens, merges, pattern=None):
    """Set the reference library up with a vocabulary's bytes and merges, without NFC and special tokens."""
    vocabulary = {encode(data): token for token, data in enumerate(tokens)}
    pairs = [(encode(tokens[left]), encode(tokens[right])) for left, right, _ in merges]
    made = Tokenizer(models.BPE(vocabulary, pairs))
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = [] if pattern is None else [pre_tokenizers.Split(Regex(pattern), behavior="isolated")]
    made.pre_tokenizer = pre_tokenizers.Sequence([*split, as_bytes])
    return lambda text: made.encode(text, add_special_tokens=False).ids
