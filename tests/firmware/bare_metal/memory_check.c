/* memory.c, its functions called own_*, against the C library's: every length and alignment, and overlaps. */
#include <stdio.h>
#include <string.h>

void *own_memcpy(void *to, const void *from, size_t length);
void *own_memmove(void *to, const void *from, size_t length);
void *own_memset(void *to, int byte, size_t length);
int own_memcmp(const void *left, const void *right, size_t length);

enum { SIZE = 96, LONGEST = 40 };

static unsigned char mine[SIZE], theirs[SIZE];
static unsigned long checks;

static void fill(void)
{
    int at;
    for (at = 0; at < SIZE; at++) {
        mine[at] = theirs[at] = (unsigned char)(at * 37 + 200);
    }
}

static int differ(const char *what, int to, int from, int length)
{
    checks++;
    if (memcmp(mine, theirs, SIZE) == 0) {
        return 0;
    }
    printf("%s: to %d, from %d, length %d\n", what, to, from, length);
    return 1;
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

int main(void)
{
    int to, from, length;
    for (length = 0; length <= LONGEST; length++) {
        for (to = 0; to <= LONGEST; to++) {
            fill();
            if (own_memset(mine + to, 0x1AB, (size_t)length) != mine + to) {
                return 1;
            }
            memset(theirs + to, 0x1AB, (size_t)length);
            if (differ("memset", to, 0, length)) {
                return 1;
            }
            for (from = 0; from <= LONGEST; from++) {
                fill();
                if (own_memmove(mine + to, mine + from, (size_t)length) != mine + to) {
                    return 1;
                }
                memmove(theirs + to, theirs + from, (size_t)length);
                if (differ("memmove", to, from, length)) {
                    return 1;
                }
                if (to + length <= from || from + length <= to) {
                    fill();
                    if (own_memcpy(mine + to, mine + from, (size_t)length) != mine + to) {
                        return 1;
                    }
                    memcpy(theirs + to, theirs + from, (size_t)length);
                    if (differ("memcpy", to, from, length)) {
                        return 1;
                    }
                }
                fill();
                mine[to] = mine[from]; /* so that more than the first byte is looked at */
                if (sign(own_memcmp(mine + to, mine + from, (size_t)length))
                    != sign(memcmp(mine + to, mine + from, (size_t)length))) {
                    printf("memcmp: %d, %d, length %d\n", to, from, length);
                    return 1;
                }
                checks++;
            }
        }
    }
    printf("%lu\n", checks);
    return 0;
}
