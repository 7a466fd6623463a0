/* What a process under callgrind calls around what is to be counted. */
#include <valgrind/callgrind.h>

void marks_begin(void);
void marks_end(void);

void marks_begin(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

/* The counts go to a file of their own. */
void marks_end(void)
{
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
}
