"""Fixtures of the C library's tests: builds of the driver, and real images to run it on."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "bpe"), str(TESTS / "q25tokrt")]  # the reference, texts; changed images

from bpe_oracle import Oracle  # noqa: E402
from bpe_vocabulary import base_vocabulary, qwen_tables  # noqa: E402
from c_programs import shared_folder  # noqa: E402
from firmware_build import Workshop, driver_commands  # noqa: E402
from firmware_driver import Driver  # noqa: E402
from small_vocabulary import SmallVocabulary  # noqa: E402

from formats.q25tokrt.layout import Profile  # noqa: E402


@pytest.fixture(scope="session")
def workshop(tmp_path_factory) -> Workshop:
    return Workshop(shared_folder(tmp_path_factory, "firmware"))


@pytest.fixture(scope="session")
def driver(workshop):
    """Make a driver of a kind: `driver("gcc")`."""
    return lambda kind="gcc", image=None: Driver(driver_commands(workshop, kind), image)


@pytest.fixture(scope="session")
def qwen_base():
    return base_vocabulary()


@pytest.fixture(scope="session")
def qwen3(qwen_base):
    return qwen_tables(*qwen_base, "qwen3")


@pytest.fixture(scope="session")
def oracles(qwen3):
    """The reference for Qwen3, by the setting of special tokens."""
    return {specials: Oracle(qwen3, specials) for specials in ("all", "user", "none")}


@pytest.fixture(scope="session")
def qwen3_images(qwen_base, qwen3, tmp_path_factory):
    """Give the image of a profile, made once."""
    vocabulary = SmallVocabulary(qwen3.tokens, qwen_base[1], qwen3.first_pad_id)
    folder = tmp_path_factory.mktemp("images")

    @cache
    def make(profile: Profile) -> Path:
        path = folder / f"{profile.name.lower()}.img"
        path.write_bytes(vocabulary.image(profile=profile, eos_id=151645, end_ids=(151645, 151643)))
        return path

    return make


def profiles(*chosen):
    return {"params": chosen, "ids": [profile.name.lower() for profile in chosen]}


@pytest.fixture(scope="session", **profiles(*Profile))
def each_image(request, qwen3_images) -> Path:
    """An image of each profile: whoever takes this fixture shows that all of them do the same."""
    return qwen3_images(request.param)


@pytest.fixture(scope="session", **profiles(Profile.STANDARD, Profile.FAST))
def qwen3_image(request, qwen3_images) -> Path:
    """An image of each profile that encodes in its own way: compact merges as standard does."""
    return qwen3_images(request.param)


@pytest.fixture(scope="session")
def standard_image(qwen3_images) -> Path:
    return qwen3_images(Profile.STANDARD)


@pytest.fixture(scope="session")
def qwen_fast_image(qwen3_images) -> Path:
    return qwen3_images(Profile.FAST)


@pytest.fixture(scope="session")
def qwen_compact_image(qwen3_images) -> Path:
    return qwen3_images(Profile.COMPACT)


@pytest.fixture(scope="session")
def qwen25_raw_image(qwen_base, tmp_path_factory) -> Path:
    """Qwen2.5 without NFC, as llama.cpp encodes."""
    tables = qwen_tables(*qwen_base, "qwen2.5")
    vocabulary = SmallVocabulary(tables.tokens, qwen_base[1], tables.first_pad_id)
    path = tmp_path_factory.mktemp("image") / "qwen25.img"
    path.write_bytes(vocabulary.image(nfc=False))
    return path
