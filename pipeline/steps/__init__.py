"""The steps that a manifest may name, one module a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.steps.chat_frames import ChatFrames
from pipeline.steps.firmware import Firmware
from pipeline.steps.inspect import Inspect
from pipeline.steps.layers import Layers
from pipeline.steps.model_table import ModelTable
from pipeline.steps.parity import Parity
from pipeline.steps.ps_bundle import PsBundle
from pipeline.steps.runtime_image import RuntimeImage
from pipeline.steps.slices import Slices
from pipeline.steps.tensors import Tensors
from pipeline.steps.tokenizer import Tokenizer
from pipeline.steps.tokenizer_bin import TokenizerBin
from pipeline.steps.vocab_bin import VocabBin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipeline.steps.step import Step

DECLARATIONS: Mapping[str, Step] = {
    step.name: step
    for step in (
        Inspect(),
        Layers(),
        Tokenizer(),
        Tensors(),
        PsBundle(),
        RuntimeImage(),
        VocabBin(),
        TokenizerBin(),
        ChatFrames(),
        ModelTable(),
        Firmware(),
        Slices(),
        Parity(),
    )
}
"""Every step by its name, in the order of the documentation."""
