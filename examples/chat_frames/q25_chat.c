/* q25_chat: see q25_chat.h. */
#include "q25_chat.h"

static const uint8_t thought_end[] = {'<', '/', 't', 'h', 'i', 'n', 'k', '>'};

static q25_nl_status hold(q25_chat *chat, const uint8_t *text, size_t text_bytes)
{
    size_t at;

    if (text_bytes > chat->stretch_capacity - chat->stretch_bytes) {
        return Q25_NL_TEXT_TOO_LONG;
    }
    for (at = 0; at < text_bytes; at++) {
        chat->stretch[chat->stretch_bytes + at] = text[at];
    }
    chat->stretch_bytes += text_bytes;
    return Q25_NL_OK;
}

q25_nl_status q25_chat_end(q25_chat *chat)
{
    q25_nl_encode_statistics done;
    q25_nl_status status;

    if (chat->stretch_bytes == 0) {
        return Q25_NL_OK;
    }
    status = q25_nl_tokenizer_bundle_encode_bpe_bounded(
        chat->bundle, chat->encode, chat->stretch, chat->stretch_bytes, Q25_NL_SPECIALS_NONE, chat->scratch,
        chat->scratch_bytes, chat->ids + chat->n_ids, chat->id_capacity - chat->n_ids, &done);
    if (status == Q25_NL_OK) {
        chat->n_ids += done.n_ids;
        chat->stretch_bytes = 0;
    }
    return status;
}

q25_nl_status q25_chat_frame(q25_chat *chat, enum chat_frame_name name)
{
    const struct chat_frame *frame = &chat_frames[name];
    q25_nl_status status = hold(chat, frame->head, frame->head_bytes);
    uint32_t at;

    if (status != Q25_NL_OK || frame->n_ids == 0) {
        return status;
    }
    status = q25_chat_end(chat);
    if (status != Q25_NL_OK) {
        return status;
    }
    if (frame->n_ids > chat->id_capacity - chat->n_ids) {
        return Q25_NL_OUTPUT_TOO_SMALL;
    }
    for (at = 0; at < frame->n_ids; at++) {
        chat->ids[chat->n_ids++] = frame->ids[at];
    }
    return hold(chat, frame->tail, frame->tail_bytes);
}

/* Where an answer begins of which the template drops the thought. */
static size_t answer_start(const uint8_t *text, size_t text_bytes)
{
    size_t start = 0, at, same;

    for (at = 0; at + sizeof thought_end <= text_bytes; at++) {
        for (same = 0; same < sizeof thought_end && text[at + same] == thought_end[same]; same++) {
        }
        if (same == sizeof thought_end) {
            start = at + sizeof thought_end;
        }
    }
    if (CHAT_THOUGHTS == CHAT_THOUGHTS_DROPPED_WITH_LINE_FEEDS && start > 0) {
        while (start < text_bytes && text[start] == '\n') {
            start++;
        }
    }
    return start;
}

q25_nl_status q25_chat_message(q25_chat *chat, q25_chat_role role, const uint8_t *text, size_t text_bytes)
{
    static const enum chat_frame_name before[] = {CHAT_BEFORE_SYSTEM, CHAT_BEFORE_USER, CHAT_BEFORE_ASSISTANT};
    static const enum chat_frame_name after[] = {CHAT_AFTER_SYSTEM, CHAT_AFTER_USER, CHAT_AFTER_ASSISTANT};
    q25_nl_status status = q25_chat_frame(chat, before[role]);

    if (status == Q25_NL_OK) {
        size_t start = 0;

        if (role == Q25_CHAT_ASSISTANT && CHAT_THOUGHTS != CHAT_THOUGHTS_KEPT) {
            start = answer_start(text, text_bytes);
        }
        status = hold(chat, text + start, text_bytes - start);
    }
    return status == Q25_NL_OK ? q25_chat_frame(chat, after[role]) : status;
}

int q25_chat_ends(uint32_t id)
{
    uint32_t at;

    for (at = 0; at < CHAT_END_IDS; at++) {
        if (chat_end_ids[at] == id) {
            return 1;
        }
    }
    return 0;
}
