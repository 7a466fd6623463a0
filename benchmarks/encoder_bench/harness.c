/* The C reader in a process of its own: `harness TASK IMAGE [CORPUS] [N]`.
 *
 * The image is mapped, opened and not verified, as firmware does it. CORPUS is a file of documents, each
 * behind its length (u32).
 *
 * first   the first id of a short text, then the process's peak of resident memory in KiB
 * time    processor nanoseconds of encoding all documents once, N times
 * ids     for each document: the number of its ids and they (u32)
 * scratch the most scratch that a document needed, and the most bytes of one piece
 * encode  nothing; all documents N times
 * open    nanoseconds of opening the image N times */
#define _POSIX_C_SOURCE 200809L
#include "q25_nl_tokenizer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct text {
    const uint8_t *data;
    size_t size;
} text;

typedef struct session {
    q25_nl_bundle_view bundle;
    q25_nl_encode_view encode;
    q25_nl_encode_statistics done;
    uint32_t *ids;
    size_t id_capacity;
    uint64_t *scratch;
    size_t scratch_bytes;
} session;

static void fail(const char *what)
{
    fprintf(stderr, "harness: %s\n", what);
    exit(1);
}

static text map_file(const char *path)
{
    struct stat status;
    text file;
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        fail(path);
    }
    file.size = (size_t)status.st_size;
    file.data = (const uint8_t *)mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (file.data == MAP_FAILED) {
        fail(path);
    }
    return file;
}

static text next_document(const text *corpus, size_t *at)
{
    text document;
    uint32_t size;
    memcpy(&size, corpus->data + *at, sizeof size);
    document.data = corpus->data + *at + sizeof size;
    document.size = size;
    *at += sizeof size + size;
    return document;
}

static size_t longest_document(const text *corpus)
{
    size_t at = 0, longest = 0;
    while (at < corpus->size) {
        text document = next_document(corpus, &at);
        longest = document.size > longest ? document.size : longest;
    }
    return longest;
}

static void make_room(session *work, size_t text_bytes)
{
    work->id_capacity = text_bytes;
    work->scratch_bytes = Q25_NL_SCRATCH_BYTES(text_bytes) + Q25_NL_CACHE_BYTES;
    work->ids = (uint32_t *)malloc(work->id_capacity * sizeof *work->ids);
    work->scratch = (uint64_t *)malloc(work->scratch_bytes);
    if (work->ids == NULL || work->scratch == NULL) {
        fail("no memory");
    }
}

static void encode_one(session *work, text document)
{
    q25_nl_status status = q25_nl_tokenizer_bundle_encode_bpe_bounded(
        &work->bundle, &work->encode, document.data, document.size, Q25_NL_SPECIALS_ALL, work->scratch,
        work->scratch_bytes, work->ids, work->id_capacity, &work->done);
    if (status != Q25_NL_OK) {
        fail(q25_nl_status_name(status));
    }
}

static void encode_all(session *work, const text *corpus)
{
    size_t at = 0;
    while (at < corpus->size) {
        encode_one(work, next_document(corpus, &at));
    }
}

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void print_first(session *work)
{
    static const char word[] = "Hello";
    text document;
    char line[256];
    FILE *status;
    document.data = (const uint8_t *)word;
    document.size = sizeof word - 1;
    encode_one(work, document);
    printf("%u\n", (unsigned)work->ids[0]);
    fflush(stdout);
    status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            printf("%ld\n", strtol(line + 6, NULL, 10));
        }
    }
}

static void print_times(session *work, const text *corpus, long count)
{
    encode_all(work, corpus);
    while (count-- > 0) {
        long long begin = now();
        encode_all(work, corpus);
        printf("%lld\n", now() - begin);
    }
}

static void print_ids(session *work, const text *corpus)
{
    size_t at = 0;
    while (at < corpus->size) {
        uint32_t count;
        encode_one(work, next_document(corpus, &at));
        count = (uint32_t)work->done.n_ids;
        fwrite(&count, sizeof count, 1, stdout);
        fwrite(work->ids, sizeof *work->ids, count, stdout);
    }
}

static void print_scratch(session *work, const text *corpus)
{
    size_t at = 0, scratch = 0, piece = 0;
    while (at < corpus->size) {
        encode_one(work, next_document(corpus, &at));
        scratch = work->done.scratch_needed > scratch ? work->done.scratch_needed : scratch;
        piece = work->done.longest_piece > piece ? work->done.longest_piece : piece;
    }
    printf("%lu %lu\n", (unsigned long)scratch, (unsigned long)piece);
}

static void open_image(session *work, text image)
{
    if (q25_nl_tokenizer_runtime_image_open(image.data, image.size, &work->bundle, &work->encode, NULL)
        != Q25_NL_OK) {
        fail("the image cannot be opened");
    }
}

int main(int argc, char **argv)
{
    session work;
    text image, corpus = {NULL, 0};
    const char *task = argc > 1 ? argv[1] : "";
    long count = argc > 3 ? strtol(argv[argc - 1], NULL, 10) : 0;
    if (argc < 3) {
        fail("expected TASK IMAGE [CORPUS] [N]");
    }
    image = map_file(argv[2]);
    open_image(&work, image);
    if (strcmp(task, "open") == 0) {
        long long begin = now();
        long turn;
        for (turn = 0; turn < count; turn++) {
            open_image(&work, image);
        }
        printf("%lld\n", now() - begin);
        return 0;
    }
    if (strcmp(task, "first") != 0) {
        if (argc < 4) {
            fail("expected a CORPUS");
        }
        corpus = map_file(argv[3]);
    }
    make_room(&work, longest_document(&corpus) + 64);
    if (strcmp(task, "first") == 0) {
        print_first(&work);
    } else if (strcmp(task, "time") == 0) {
        print_times(&work, &corpus, count);
    } else if (strcmp(task, "ids") == 0) {
        print_ids(&work, &corpus);
    } else if (strcmp(task, "scratch") == 0) {
        print_scratch(&work, &corpus);
    } else if (strcmp(task, "encode") == 0) {
        while (count-- > 0) {
            encode_all(&work, &corpus);
        }
    } else {
        fail("no such task");
    }
    return 0;
}
