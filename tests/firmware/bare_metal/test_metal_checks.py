"""The program's own checks can fail: a reader that errs, each time in another way, is caught."""

from __future__ import annotations

from metal_board import LINE_FAILED, Board

ERRING = """
#include "q25_nl_tokenizer.h"

q25_nl_status __real_q25_nl_tokenizer_bundle_encode_bpe_bounded(
    const q25_nl_bundle_view *, const q25_nl_encode_view *, const uint8_t *, size_t, uint32_t, void *, size_t,
    uint32_t *, size_t, q25_nl_encode_statistics *);
q25_nl_status __wrap_q25_nl_tokenizer_bundle_encode_bpe_bounded(
    const q25_nl_bundle_view *, const q25_nl_encode_view *, const uint8_t *, size_t, uint32_t, void *, size_t,
    uint32_t *, size_t, q25_nl_encode_statistics *);
q25_nl_status __real_q25_nl_tokenizer_bundle_detokenize(
    const q25_nl_bundle_view *, const uint32_t *, size_t, uint32_t, uint8_t *, size_t,
    q25_nl_detokenize_statistics *);
q25_nl_status __wrap_q25_nl_tokenizer_bundle_detokenize(
    const q25_nl_bundle_view *, const uint32_t *, size_t, uint32_t, uint8_t *, size_t,
    q25_nl_detokenize_statistics *);

/* A digit that begins a line says what goes wrong with it. Its token is 15 and the digit. */
q25_nl_status __wrap_q25_nl_tokenizer_bundle_encode_bpe_bounded(
    const q25_nl_bundle_view *bundle, const q25_nl_encode_view *encode, const uint8_t *text, size_t text_bytes,
    uint32_t flags, void *scratch, size_t scratch_bytes, uint32_t *ids, size_t id_capacity,
    q25_nl_encode_statistics *statistics)
{
    const q25_nl_status status = __real_q25_nl_tokenizer_bundle_encode_bpe_bounded(
        bundle, encode, text, text_bytes, flags, scratch, scratch_bytes, ids, id_capacity, statistics);
    switch (text_bytes > 0 ? text[0] : 0) {
    case '1':
        ids[0] = 17;
        break;
    case '2':
        ids[0] = 16;
        break;
    case '3':
        statistics->n_ids--;
        break;
    case '5':
        ids[0] = 0xFFFFFFFFu;
        break;
    }
    return status;
}

q25_nl_status __wrap_q25_nl_tokenizer_bundle_detokenize(
    const q25_nl_bundle_view *bundle, const uint32_t *ids, size_t n_ids, uint32_t flags, uint8_t *text,
    size_t text_capacity, q25_nl_detokenize_statistics *statistics)
{
    const q25_nl_status status = __real_q25_nl_tokenizer_bundle_detokenize(
        bundle, ids, n_ids, flags, text, text_capacity, statistics);
    if (n_ids > 0 && ids[0] == 19) {
        text[0] ^= 1;
    }
    return status;
}
"""
WRAPPED = ("q25_nl_tokenizer_bundle_encode_bpe_bounded", "q25_nl_tokenizer_bundle_detokenize")
CASES = {
    "0 is right": None,
    "1 other id": "the ids stand for other bytes",
    "2 other id \u00e9\u0301": "what the ids stand for has other ids",
    "3 an id is missing": "the ids stand for more or fewer bytes than were encoded",
    "4 other text": "shown one by one, the ids give other bytes",
    "5 no such id": "UNKNOWN_ID",
}


def test_each_error_is_caught(tmp_path, real_image):
    board = Board(tmp_path / "examples")
    lines = board.folder / "lines.c"
    lines.write_text(lines.read_text(encoding="ascii") + ERRING, encoding="ascii")
    text = "".join(line + "\n" for line in CASES).encode()
    run = board.run(real_image, text, OPT=" ".join(["-O2", *(f"-Wl,--wrap={name}" for name in WRAPPED)]))
    assert [line.failure for line in run.lines] == list(CASES.values())
    assert run.code == LINE_FAILED
    assert run.printed[-1].endswith(", 5 failed")
