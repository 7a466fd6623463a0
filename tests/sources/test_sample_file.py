"""The sample's GGUF: keys and tensors of a real model, read by the `gguf` package."""

import gguf
import numpy as np
import pytest

from pipeline.sources import sample
from pipeline.sources.sample.body import tensors
from pipeline.sources.sample.families import family_of
from pipeline.sources.sample.texts import CHAT_TEMPLATES


def expected_shapes(family):
    wide, narrow, length, feed = 256, 128, 256, 896
    shapes = {
        "attn_norm.weight": (length,),
        "attn_q.weight": (length, wide),
        "attn_k.weight": (length, narrow),
        "attn_v.weight": (length, narrow),
        "attn_output.weight": (wide, length),
        "ffn_norm.weight": (length,),
        "ffn_gate.weight": (length, feed),
        "ffn_up.weight": (length, feed),
        "ffn_down.weight": (feed, length),
    }
    if family == "qwen3":
        shapes |= {"attn_q_norm.weight": (64,), "attn_k_norm.weight": (64,)}
    else:
        shapes |= {"attn_q.bias": (wide,), "attn_k.bias": (narrow,), "attn_v.bias": (narrow,)}
    blocks = {f"blk.{i}.{name}": ne for i in range(2) for name, ne in shapes.items()}
    return {"token_embd.weight": (length, 151_936), "output_norm.weight": (length,), **blocks}


@pytest.mark.long  # the package takes seven seconds to open one of these files
@pytest.mark.parametrize("family", ["qwen2.5", "qwen3"])
def test_the_gguf_package_reads_it(sample_cache, family):
    reader = gguf.GGUFReader(sample.ensure(family, sample_cache).model_blob)
    arch = family_of(family).architecture
    values = {key: reader.fields[key].contents() for key in reader.fields if "tokenizer.ggml" not in key}
    assert values["general.architecture"] == arch
    assert {key.removeprefix(f"{arch}."): value for key, value in values.items() if key.startswith(arch)} == {
        "block_count": 2,
        "context_length": 32_768,
        "embedding_length": 256,
        "feed_forward_length": 896,
        "attention.head_count": 4,
        "attention.head_count_kv": 2,
        "rope.freq_base": 1_000_000.0,
        "attention.layer_norm_rms_epsilon": pytest.approx(1e-6),
        **({"attention.key_length": 64, "attention.value_length": 64} if family == "qwen3" else {}),
    }
    assert values["general.file_type"] == gguf.LlamaFileType.MOSTLY_Q4_K_M
    assert values["general.quantization_version"] == gguf.GGML_QUANT_VERSION
    assert values["tokenizer.chat_template"] == CHAT_TEMPLATES[family]
    tokenizer = {
        key: reader.fields[f"tokenizer.ggml.{key}"].contents()
        for key in ("model", "pre", "bos_token_id", "eos_token_id", "padding_token_id", "add_bos_token")
    }
    assert tokenizer == {
        "model": "gpt2",
        "pre": "qwen2",
        "bos_token_id": 151_643,
        "eos_token_id": 151_645,
        "padding_token_id": 151_643,
        "add_bos_token": False,
    }
    assert len(reader.fields["tokenizer.ggml.tokens"].data) == 151_936
    assert len(reader.fields["tokenizer.ggml.merges"].data) == 151_387
    found = {tensor.name: tensor for tensor in reader.tensors}
    made = tensors(family_of(family))
    assert list(found) == [tensor.name for tensor in made]
    for tensor in made:
        same = found[tensor.name]
        assert (same.tensor_type, tuple(same.shape)) == (tensor.type, tensor.ne)
        assert same.data.tobytes() == memoryview(tensor.data()).tobytes()


@pytest.mark.parametrize("family", ["qwen2.5", "qwen3"])
def test_tensors_are_those_of_a_real_model_with_sane_weights(family):
    made = tensors(family_of(family))
    assert {tensor.name: tensor.ne for tensor in made} == expected_shapes(family)
    assert {tensor.type.name for tensor in made} == {"F32", "F16", "Q4_0", "Q4_K", "Q5_0", "Q6_K", "Q8_0"}
    assert sorted(tensor.type.name for tensor in made if tensor.ne[0] == 896) == ["Q5_0", "Q8_0"]
    starts = set()
    for tensor in made:
        data = tensor.data().reshape(-1, tensor.type.block_bytes)[:8192]
        starts.add(data[:16].tobytes())
        values = gguf.quants.dequantize(data, gguf.GGMLQuantizationType(tensor.type))
        assert np.isfinite(values).all(), tensor.name
        largest = np.abs(values).max()
        if tensor.name.endswith("norm.weight"):
            assert values.min() >= 0.5, tensor.name
            assert largest < 1, tensor.name
        else:
            assert 0.01 < largest < 1.5, (tensor.name, largest)
            assert 0.01 < values.std() < 0.5, (tensor.name, values.std())
            assert abs(values.mean()) < values.std(), tensor.name
    assert len(starts) == len(made)
