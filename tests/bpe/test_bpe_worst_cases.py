"""Texts made to be slow: the work for eight times the text is eight times as much, counted in lines run."""

from __future__ import annotations

import pytest
from bpe_steps import count_lines

from pipeline.bpe.decoder import Decoder
from pipeline.bpe.encoder import Encoder

PARTS = [
    "a",
    "ab",
    " ",
    "\n",
    " \n",
    "1",
    "!",
    "<",
    ">",
    "|>",
    "<|im_end|",
    "<think>",
    "'",
    "\u0301",
    "\u0345\u0300\u0316\u0334",
    "e\u0301",
    "\u1112\u1161\u11ab",
    "\U0001f600",
]


@pytest.mark.parametrize("part", PARTS, ids=ascii)
def test_work_grows_with_the_text_only(qwen3, part):
    """Regular expressions run in C and are not counted; `test_bpe_pretokenizer` has their long runs."""
    small, large = (part * (size // len(part)) for size in (1_500, 12_000))
    Encoder(qwen3).encode(large)  # tables are unpacked now
    for work in (lambda text: Encoder(qwen3).encode(text), lambda text: Encoder(qwen3).pieces(text)):
        assert count_lines(lambda: work(large)) < 8.5 * count_lines(lambda: work(small))  # noqa: B023


@pytest.mark.parametrize("byte", [0x41, 0x80, 0xC3, 0xF0, 0xFF])
def test_streaming_grows_with_the_ids_only(qwen3, byte):
    token = qwen3.byte_token(byte)
    small, large = ([token] * size for size in (1_500, 12_000))
    stream = Decoder(qwen3).stream
    assert b"".join(stream(large)) == bytes([byte]) * 12_000
    assert count_lines(lambda: list(stream(large))) < 8.5 * count_lines(lambda: list(stream(small)))
