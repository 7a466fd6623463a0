/* The end of the run. */
#ifndef FINISH_H
#define FINISH_H

enum { GOOD = 0, LINE_FAILED = 1, BAD_INPUT = 2 };

/* Ends the emulator with a code, or parks the core where there is none. Neither returns. */
void finish(int code);
void finish_at_once(int code); /* without waiting for the serial port */

#endif
