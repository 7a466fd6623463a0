/* text_program: see text_program.h. */
#include "text_program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text_bytes {
    uint8_t *bytes; /* from malloc; NULL where reading failed */
    size_t length;
} text_bytes;

typedef struct text_call {
    const char *table;
    const char *input; /* NULL: standard input */
    int decode;
    int lines;
    int help;
} text_call;

static int refuse(char *why, int code, const char *what, const char *reason)
{
    snprintf(why, WHY_BYTES, "%.300s: %.200s", what, reason);
    return code;
}

static int no_memory(char *why)
{
    snprintf(why, WHY_BYTES, "out of memory");
    return EXIT_MACHINE;
}

/* ---- Input ------------------------------------------------------------------------------------- */

static int read_stream(FILE *stream, const char *name, text_bytes *read, char *why)
{
    size_t capacity = 1 << 16;
    read->length = 0;
    read->bytes = (uint8_t *)malloc(capacity);
    while (read->bytes != NULL) {
        size_t got = fread(read->bytes + read->length, 1, capacity - read->length, stream);
        uint8_t *more;
        read->length += got;
        if (ferror(stream)) {
            return refuse(why, EXIT_MACHINE, name, strerror(errno));
        }
        if (got == 0 || feof(stream)) {
            return EXIT_DONE;
        }
        if (read->length < capacity) {
            continue;
        }
        more = capacity > SIZE_MAX / 2 ? NULL : (uint8_t *)realloc(read->bytes, capacity * 2);
        if (more == NULL) {
            break;
        }
        read->bytes = more;
        capacity *= 2;
    }
    return no_memory(why);
}

/* Reads a file to its end, or standard input where the path is NULL or "-". */
static int read_file(const char *path, text_bytes *read, char *why)
{
    const int is_standard = path == NULL || strcmp(path, "-") == 0;
    FILE *stream = is_standard ? stdin : fopen(path, "rb");
    int code;
    read->bytes = NULL;
    read->length = 0;
    if (stream == NULL) {
        return refuse(why, EXIT_MACHINE, path, strerror(errno));
    }
    code = read_stream(stream, is_standard ? "standard input" : path, read, why);
    if (!is_standard) {
        fclose(stream);
    }
    if (code != EXIT_DONE) {
        free(read->bytes);
        read->bytes = NULL;
    }
    return code;
}

int text_program_id(const char *word, size_t length, uint32_t *id)
{
    uint64_t value = 0;
    size_t at;
    if (length == 0 || length > 10) {
        return 0;
    }
    for (at = 0; at < length; at++) {
        if (word[at] < '0' || word[at] > '9') {
            return 0;
        }
        value = value * 10 + (uint64_t)(word[at] - '0');
    }
    *id = (uint32_t)value;
    return value <= UINT32_MAX;
}

static int is_blank(uint8_t byte)
{
    return byte == ' ' || byte == ',' || (byte >= '\t' && byte <= '\r');
}

/* Reads the ids of a line, parted by blanks or commas, into `ids`, which has room for one in two bytes. */
static int read_ids(const uint8_t *line, size_t length, uint32_t *ids, size_t *n_ids, char *why)
{
    size_t at = 0;
    *n_ids = 0;
    while (at < length) {
        size_t start = at;
        if (is_blank(line[at])) {
            at++;
            continue;
        }
        while (at < length && !is_blank(line[at])) {
            at++;
        }
        if (!text_program_id((const char *)line + start, at - start, ids + *n_ids)) {
            char word[21];
            size_t shown = 0;
            for (; shown < sizeof word - 1 && start < at; shown++, start++) {
                word[shown] = (char)(line[start] > 0x20 && line[start] < 0x7F ? line[start] : '?');
            }
            word[shown] = '\0';
            snprintf(why, WHY_BYTES, "id at index %zu: expected a number, found '%s'%s", *n_ids, word,
                     start < at ? "..." : "");
            return EXIT_USAGE;
        }
        ++*n_ids;
    }
    return EXIT_DONE;
}

/* ---- Output ------------------------------------------------------------------------------------ */

static void print_ids(const uint32_t *ids, size_t n_ids)
{
    size_t at;
    for (at = 0; at < n_ids; at++) {
        printf("%s%" PRIu32, at == 0 ? "" : " ", ids[at]);
    }
    putchar('\n');
}

static int encode_text(const text_program *program, const uint8_t *text, size_t length, char *why)
{
    const size_t capacity = length + 1;
    size_t n_ids = 0;
    uint32_t *ids = length < SIZE_MAX / sizeof *ids ? (uint32_t *)malloc(capacity * sizeof *ids) : NULL;
    int code;
    if (ids == NULL) {
        return no_memory(why);
    }
    code = program->encode(program->state, text, length, ids, capacity, &n_ids, why);
    if (code == EXIT_DONE) {
        print_ids(ids, n_ids);
    }
    free(ids);
    return code;
}

static int decode_ids(const text_program *program, const uint32_t *ids, size_t n_ids, char *why)
{
    size_t n_bytes = 0;
    uint8_t *text = NULL;
    int code = program->decode(program->state, ids, n_ids, NULL, 0, &n_bytes, why);
    if (code == EXIT_DONE && n_bytes != 0) {
        text = (uint8_t *)malloc(n_bytes);
        if (text == NULL) {
            return no_memory(why);
        }
        code = program->decode(program->state, ids, n_ids, text, n_bytes, &n_bytes, why);
    }
    if (code == EXIT_DONE && n_bytes != 0) {
        fwrite(text, 1, n_bytes, stdout);
    }
    free(text);
    return code;
}

static int decode_text(const text_program *program, const uint8_t *text, size_t length, char *why)
{
    const size_t capacity = length / 2 + 1; /* an id and what parts it from the next take two bytes */
    size_t n_ids = 0;
    uint32_t *ids = capacity <= SIZE_MAX / sizeof *ids ? (uint32_t *)malloc(capacity * sizeof *ids) : NULL;
    int code;
    if (ids == NULL) {
        return no_memory(why);
    }
    code = read_ids(text, length, ids, &n_ids, why);
    if (code == EXIT_DONE) {
        code = decode_ids(program, ids, n_ids, why);
    }
    free(ids);
    return code;
}

static int run_lines(const text_program *program, const text_bytes *input, int decode, char *why)
{
    size_t at = 0, number = 1;
    for (; at < input->length; number++) {
        const uint8_t *line = input->bytes + at;
        const uint8_t *end = (const uint8_t *)memchr(line, '\n', input->length - at);
        const size_t length = end != NULL ? (size_t)(end - line) : input->length - at;
        char reason[WHY_BYTES];
        int code = (decode ? decode_text : encode_text)(program, line, length, reason);
        if (code != EXIT_DONE) {
            snprintf(why, WHY_BYTES, "line %zu: %.450s", number, reason);
            return code;
        }
        if (decode) {
            putchar('\n');
        }
        at += length + (end != NULL);
    }
    return EXIT_DONE;
}

static int run_input(const text_program *program, const text_call *call, char *why)
{
    text_bytes input;
    int code = read_file(call->input, &input, why);
    if (code != EXIT_DONE) {
        return code;
    }
    if (call->lines) {
        code = run_lines(program, &input, call->decode, why);
    } else {
        code = (call->decode ? decode_text : encode_text)(program, input.bytes, input.length, why);
    }
    free(input.bytes);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_DONE) {
        return refuse(why, EXIT_MACHINE, "standard output", strerror(errno));
    }
    return code;
}

/* ---- The call ---------------------------------------------------------------------------------- */

static int read_call(int argc, char **argv, const text_program *program, text_call *call, char *why)
{
    int at = 1, options_ended = 0;
    while (at < argc) {
        const char *word = argv[at];
        int n_words = 1, code = EXIT_DONE;
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            if (call->table == NULL) {
                call->table = word;
            } else if (call->input == NULL) {
                call->input = word;
            } else {
                return refuse(why, EXIT_USAGE, "expected VOCAB and one FILE, found also", word);
            }
        } else if (strcmp(word, "--") == 0) {
            options_ended = 1;
        } else if (strcmp(word, "--decode") == 0) {
            call->decode = 1;
        } else if (strcmp(word, "--lines") == 0) {
            call->lines = 1;
        } else if (strcmp(word, "--help") == 0) {
            call->help = 1;
            return EXIT_DONE;
        } else {
            n_words = 0;
            code = program->option(program->state, word, at + 1 < argc ? argv[at + 1] : NULL, &n_words, why);
            if (code == EXIT_DONE && n_words == 0) {
                return refuse(why, EXIT_USAGE, "expected an option that --help names, found", word);
            }
        }
        if (code != EXIT_DONE) {
            return code;
        }
        at += n_words;
    }
    return call->table != NULL ? EXIT_DONE
                               : refuse(why, EXIT_USAGE, "expected VOCAB, found nothing", "see --help");
}

static int run(int argc, char **argv, const text_program *program, char *why)
{
    text_call call = {NULL, NULL, 0, 0, 0};
    text_bytes table;
    int code = read_call(argc, argv, program, &call, why);
    if (code != EXIT_DONE) {
        return code;
    }
    if (call.help) {
        return fputs(program->usage, stdout) < 0 || fflush(stdout) != 0
                   ? refuse(why, EXIT_MACHINE, "standard output", strerror(errno))
                   : EXIT_DONE;
    }
    code = read_file(call.table, &table, why);
    if (code == EXIT_DONE) {
        char reason[WHY_BYTES];
        code = program->open(program->state, table.bytes, table.length, reason);
        if (code == EXIT_DONE) {
            code = run_input(program, &call, why);
            program->close(program->state);
        } else {
            snprintf(why, WHY_BYTES, "%.200s: %.300s", call.table, reason);
        }
        free(table.bytes);
    }
    return code;
}

/* Puts '?' for what drives a terminal, U+0000..U+001F and U+007F..U+009F: words of the call may hold it. */
static void tame(char *line)
{
    for (; *line != '\0'; line++) {
        const uint8_t byte = (uint8_t)line[0], next = (uint8_t)line[1];
        if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
            *line++ = '?';
            *line = '?';
        } else if (byte < 0x20 || byte == 0x7F) {
            *line = '?';
        }
    }
}

int text_program_main(int argc, char **argv, const text_program *program)
{
    char why[WHY_BYTES];
    const int code = run(argc, argv, program, why);
    if (code != EXIT_DONE) {
        tame(why);
        fprintf(stderr, "%s: %s\n", program->name, why);
    }
    return code;
}
