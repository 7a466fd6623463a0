/* Null pointers and useless arguments: each function refuses them, and takes those that it may be given. */
#include <stdio.h>
#include <stdlib.h>

#include "q25_nl_tokenizer.h"

static int failures;

#define EXPECT(status, call) expect(status, call, #call)

static void expect(q25_nl_status wanted, q25_nl_status found, const char *call)
{
    if (found != wanted) {
        printf("%s: %s\n", call, q25_nl_status_name(found));
        failures++;
    }
}

int main(int argc, char **argv)
{
    static uint64_t image[1 << 13];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    q25_nl_bundle_view bundle;
    q25_nl_encode_view encode;
    q25_nl_image_info info;
    q25_nl_text_stream stream = {{0, 0, 0, 0}, 0}, spoilt = {{0, 0, 0, 0}, 4};
    static const uint32_t letters[4] = {97, 98, 97, 98};
    uint32_t ids[4] = {97, 98, 97, 98};
    uint8_t text[8] = {97, 98};
    char string[8];
    size_t size, n = 0;
    if (file == NULL) {
        return 2;
    }
    size = fread(image, 1, sizeof image, file);
    fclose(file);

    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_runtime_image_open(NULL, size, &bundle, &encode, &info));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_runtime_image_verify(NULL, size, NULL));
    EXPECT(Q25_NL_OK, q25_nl_tokenizer_runtime_image_open(image, size, NULL, NULL, NULL));
    EXPECT(Q25_NL_OK, q25_nl_tokenizer_runtime_image_verify(image, size, NULL));
    EXPECT(Q25_NL_OK, q25_nl_tokenizer_runtime_image_open(image, size, &bundle, &encode, &info));

#define ENCODE q25_nl_tokenizer_bundle_encode_bpe_bounded
    EXPECT(Q25_NL_BAD_ARGUMENT, ENCODE(NULL, &encode, text, 2, 0, NULL, 0, ids, 4, NULL));
    EXPECT(Q25_NL_BAD_ARGUMENT, ENCODE(&bundle, NULL, text, 2, 0, NULL, 0, ids, 4, NULL));
    EXPECT(Q25_NL_BAD_ARGUMENT, ENCODE(&bundle, &encode, NULL, 2, 0, NULL, 0, ids, 4, NULL));
    EXPECT(Q25_NL_BAD_ARGUMENT, ENCODE(&bundle, &encode, text, 2, 0, NULL, 1, ids, 4, NULL));
    EXPECT(Q25_NL_BAD_ARGUMENT, ENCODE(&bundle, &encode, text, 2, 0, NULL, 0, NULL, 4, NULL));
    EXPECT(Q25_NL_TEXT_TOO_LONG,
           ENCODE(&bundle, &encode, text, Q25_NL_MAX_TEXT_BYTES + (size_t)1, 0, NULL, 0, ids, 4, NULL));
    EXPECT(Q25_NL_OK, ENCODE(&bundle, &encode, NULL, 0, 0, NULL, 0, NULL, 0, NULL));
    EXPECT(Q25_NL_OUTPUT_TOO_SMALL, ENCODE(&bundle, &encode, text, 2, 0, NULL, 0, NULL, 0, NULL));
    EXPECT(Q25_NL_OK, ENCODE(&bundle, &encode, text, 2, 0, NULL, 0, ids, 4, NULL));

#define DECODE q25_nl_tokenizer_bundle_detokenize
    EXPECT(Q25_NL_BAD_ARGUMENT, DECODE(NULL, ids, 4, 0, text, 8, NULL));
    EXPECT(Q25_NL_BAD_ARGUMENT, DECODE(&bundle, NULL, 4, 0, text, 8, NULL));
    EXPECT(Q25_NL_BAD_ARGUMENT, DECODE(&bundle, ids, 4, 0, NULL, 8, NULL));
    EXPECT(Q25_NL_OUTPUT_TOO_SMALL, DECODE(&bundle, ids, 4, 0, NULL, 0, NULL));
    EXPECT(Q25_NL_OK, DECODE(&bundle, NULL, 0, 0, NULL, 0, NULL));
    EXPECT(Q25_NL_OK, DECODE(&bundle, ids, 4, 3, text, 8, NULL));

    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_stream_id(NULL, &stream, 97, 0, text, 8, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_stream_id(&bundle, NULL, 97, 0, text, 8, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_stream_id(&bundle, &stream, 97, 0, NULL, 8, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_stream_id(&bundle, &stream, 97, 0, text, 8, NULL));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_stream_id(&bundle, &spoilt, 97, 0, text, 8, &n));
    EXPECT(Q25_NL_OUTPUT_TOO_SMALL, q25_nl_tokenizer_stream_id(&bundle, &stream, 97, 0, NULL, 0, &n));
    EXPECT(Q25_NL_OK, q25_nl_tokenizer_stream_id(&bundle, &stream, 97, 1, text, 8, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_stream_finish(NULL, text, 8, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_stream_finish(&stream, NULL, 8, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_stream_finish(&stream, text, 8, NULL));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_nl_tokenizer_stream_finish(&spoilt, text, 8, &n));
    EXPECT(Q25_NL_OK, q25_nl_tokenizer_stream_finish(&stream, NULL, 0, &n));

    EXPECT(Q25_NL_BAD_ARGUMENT, q25_tokenize_utf8_bytes(NULL, ids, 4, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_tokenize_utf8_bytes("a", NULL, 4, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_tokenize_utf8_bytes("a", ids, 4, NULL));
    EXPECT(Q25_NL_OUTPUT_TOO_SMALL, q25_tokenize_utf8_bytes("a", NULL, 0, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_detokenize_utf8_bytes(NULL, 4, string, 8, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_detokenize_utf8_bytes(letters, 4, NULL, 8, &n));
    EXPECT(Q25_NL_BAD_ARGUMENT, q25_detokenize_utf8_bytes(letters, 4, string, 8, NULL));
    EXPECT(Q25_NL_OUTPUT_TOO_SMALL, q25_detokenize_utf8_bytes(letters, 4, NULL, 0, &n));

    /* End ids: 98 and the control token. None of those not used, and not NONE. */
    failures += q25_nl_tokenizer_is_end_id(&bundle, 98) != 1;
    failures += q25_nl_tokenizer_is_end_id(&bundle, 257) != 1;
    failures += q25_nl_tokenizer_is_end_id(&bundle, 97) != 0;
    failures += q25_nl_tokenizer_is_end_id(&bundle, Q25_NL_NONE) != 0;
    failures += q25_nl_tokenizer_scratch_bytes(0) != 512;
    failures += info.header->n_tokens != 258 || info.sections[Q25_NL_MERGE_TABLE]->count != 1;
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
