/* chat: prints the ids of a chat, as firmware with these frames gives them to the model. */
#include "q25_chat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: chat IMAGE [--think | --no-think] [system TEXT] [user TEXT assistant TEXT]... user TEXT\n"
    "Prints the ids of the chat, up to where the next answer begins.\n";

static const char *const roles[] = {"system", "user", "assistant"};

static int fail(int code, const char *what, const char *why)
{
    fprintf(stderr, "chat: %s: %s\n", what, why);
    return code;
}

/* Reads a file to an aligned address; NULL where it cannot. */
static void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    void *data = NULL;
    long end = -1;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        data = malloc((size_t)end + 1u);
        *size = (size_t)end;
        if (data != NULL && fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return data;
}

static q25_nl_status write_chat(q25_chat *chat, int argc, char **argv, enum chat_frame_name opening)
{
    q25_nl_status status = Q25_NL_OK;
    int at, role;

    if (strcmp(argv[0], roles[Q25_CHAT_SYSTEM]) != 0) {
        status = q25_chat_frame(chat, CHAT_NO_SYSTEM);
    }
    for (at = 0; at < argc && status == Q25_NL_OK; at += 2) {
        for (role = 0; strcmp(argv[at], roles[role]) != 0; role++) {
        }
        status = q25_chat_message(chat, (q25_chat_role)role, (const uint8_t *)argv[at + 1], strlen(argv[at + 1]));
    }
    if (status == Q25_NL_OK) {
        status = q25_chat_frame(chat, opening);
    }
    return status == Q25_NL_OK ? q25_chat_end(chat) : status;
}

/* Tells whether the words are the messages of a chat: a system text or none, then turns, then a question. */
static int is_chat(int argc, char **argv)
{
    int at = argc >= 2 && strcmp(argv[0], roles[Q25_CHAT_SYSTEM]) == 0 ? 2 : 0;
    int turn = 0;

    for (; at + 1 < argc; at += 2, turn++) {
        if (strcmp(argv[at], roles[Q25_CHAT_USER + turn % 2]) != 0) {
            return 0;
        }
    }
    return at == argc && turn % 2 == 1;
}

int main(int argc, char **argv)
{
    enum chat_frame_name opening = CHAT_GENERATION;
    q25_nl_bundle_view bundle;
    q25_nl_encode_view encode;
    q25_nl_status status;
    q25_chat chat = {0};
    size_t image_bytes = 0, bytes = 0, frame, index;
    void *image;
    int first = 2, at;

    if (argc > 2 && strcmp(argv[2], "--think") == 0) {
        opening = CHAT_GENERATION_THINKING;
        first++;
    } else if (argc > 2 && strcmp(argv[2], "--no-think") == 0) {
        opening = CHAT_GENERATION_NO_THINKING;
        first++;
    }
    if (first > argc || !is_chat(argc - first, argv + first)) {
        fputs(usage, stderr);
        return 2;
    }
    image = read_file(argv[1], &image_bytes);
    if (image == NULL) {
        return fail(4, argv[1], "cannot be read");
    }
    status = q25_nl_tokenizer_runtime_image_open(image, image_bytes, &bundle, &encode, NULL);
    if (status != Q25_NL_OK) {
        free(image);
        return fail(3, argv[1], q25_nl_status_name(status));
    }
    for (at = first; at < argc; at++) {
        bytes += strlen(argv[at]);
        for (frame = 0; frame < CHAT_FRAMES; frame++) { /* more than each message can take */
            bytes += chat_frames[frame].head_bytes + chat_frames[frame].n_ids + chat_frames[frame].tail_bytes;
        }
    }
    chat.bundle = &bundle;
    chat.encode = &encode;
    chat.stretch_capacity = bytes;
    chat.stretch = malloc(bytes);
    chat.scratch_bytes = Q25_NL_SCRATCH_BYTES(bytes);
    chat.scratch = malloc(chat.scratch_bytes);
    chat.id_capacity = 3u * bytes; /* NFC may make a text thrice as long, and no id stands for less than a byte */
    chat.ids = malloc(chat.id_capacity * sizeof *chat.ids);
    if (chat.stretch == NULL || chat.scratch == NULL || chat.ids == NULL) {
        return fail(4, "memory", "there is too little");
    }
    status = write_chat(&chat, argc - first, argv + first, opening);
    if (status == Q25_NL_OK) {
        for (index = 0; index < chat.n_ids; index++) {
            printf("%s%lu", index > 0 ? " " : "", (unsigned long)chat.ids[index]);
        }
        putchar('\n');
    }
    free(chat.ids);
    free(chat.scratch);
    free(chat.stretch);
    free(image);
    return status == Q25_NL_OK ? 0 : fail(2, "the chat", q25_nl_status_name(status));
}
