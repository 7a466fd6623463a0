/* q25_chat: a chat to token ids, with the frames of chat_frames.h and the tokenizer of q25_nl_tokenizer.
 *
 * Freestanding C99 (and C++11), no allocation. The ids are those of the whole chat as the model's template
 * writes it, encoded at once, for every text; special tokens in a text are ordinary text, so that nobody ends a
 * turn by writing its end.
 */
#ifndef Q25_CHAT_H
#define Q25_CHAT_H

#include "chat_frames.h"
#include "q25_nl_tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum q25_chat_role { Q25_CHAT_SYSTEM = 0, Q25_CHAT_USER = 1, Q25_CHAT_ASSISTANT = 2 } q25_chat_role;

/* A chat being written. Set every field but the last two, and those to 0. */
typedef struct q25_chat {
    const q25_nl_bundle_view *bundle;
    const q25_nl_encode_view *encode;
    uint8_t *stretch; /* room for the longest text, CHAT_MAX_TAIL_BYTES and CHAT_MAX_HEAD_BYTES; where a frame
                       * has no ids, for all texts and frames from the last one on that has */
    size_t stretch_capacity;
    void *scratch; /* Q25_NL_SCRATCH_BYTES(stretch_capacity) are enough */
    size_t scratch_bytes;
    uint32_t *ids;
    size_t id_capacity;
    size_t n_ids;         /* ids so far */
    size_t stretch_bytes; /* bytes held for what comes behind them */
} q25_chat;

/* Each answers Q25_NL_OK; Q25_NL_TEXT_TOO_LONG where the stretch has no room, Q25_NL_OUTPUT_TOO_SMALL where the ids
 * have none, or what the tokenizer answers. After any of these the chat has to be begun again. */

/* Adds a frame of its own: CHAT_NO_SYSTEM at the start of a chat without a system text, one of the
 * CHAT_GENERATION frames at the end. */
q25_nl_status q25_chat_frame(q25_chat *chat, enum chat_frame_name name);

/* Adds a message between its frames. An answer of an earlier turn loses its thought where the template drops it. */
q25_nl_status q25_chat_message(q25_chat *chat, q25_chat_role role, const uint8_t *text, size_t text_bytes);

/* Encodes what is still held: n_ids is that of the chat then. */
q25_nl_status q25_chat_end(q25_chat *chat);

/* 1 where an answer ends with this id. */
int q25_chat_ends(uint32_t id);

#ifdef __cplusplus
}
#endif

#endif
