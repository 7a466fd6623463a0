/* Checks the assets where they lie, then each line of text. Ends with 0: all good, 1: a line failed or there was
 * none, 2: an asset or the text cannot be used. */
#include "check.h"
#include "finish.h"
#include "image.h"
#include "lines.h"
#include "print.h"
#include "self_check.h"
#include "uart.h"

int main(void)
{
    static image opened; /* both all zero */
    static checked sum;
    text left, line;
    (void)measure_open();
    uart_open();
    if (!self_check() || !image_open(&opened) || !text_find(&left)) {
        return BAD_INPUT;
    }
    while (text_next_line(&left, &line)) {
        check_line(&opened, line, &sum);
    }
    print_number(sum.n_lines);
    print(" lines, ");
    print_number(sum.n_ids);
    print(" ids, ");
    print_number(sum.n_failed);
    print(" failed\n");
    return sum.n_lines == 0 || sum.n_failed != 0 ? LINE_FAILED : GOOD;
}
