/* Verifies the image, checks each line of text, and says what it cost. Ends with 0: all good, 1: a line
 * failed or there was none, 2: image or text cannot be used. */
#include "check.h"
#include "finish.h"
#include "image.h"
#include "lines.h"
#include "measure.h"
#include "print.h"
#include "uart.h"

/* How many, and how many for each byte, to a tenth. */
static void print_count(const char *before, uint64_t count, const char *what, size_t bytes)
{
    print(before);
    print_number(count);
    print(what);
    if (bytes != 0) {
        print(" (");
        print_number(count / bytes);
        print(".");
        print_number(count % bytes * 10 / bytes);
        print(" a byte)");
    }
}

static void print_cost(const char *what, const cost *spent, size_t bytes)
{
    print_count(what, spent->instructions, " instructions", bytes);
    if (spent->cycles != spent->instructions) { /* QEMU knows no cycles and gives instructions */
        print_count(", ", spent->cycles, " cycles", bytes);
    }
    print("\n");
}

static void print_costs(const image *opened, const checked *sum)
{
    print_cost("verify: ", &opened->verifying, opened->bytes);
    print_cost("open: ", &opened->opening, 0);
    print_cost("encode: ", &sum->encoding, sum->n_bytes);
    print_cost("decode: ", &sum->decoding, sum->n_bytes);
    print("stack: ");
    print_number(measure_stack());
    print(" of ");
    print_number(measure_stack_room());
    print(" bytes; scratch: ");
    print_number(sum->most_scratch);
    print(" bytes needed\n");
}

int main(void)
{
    static image opened; /* both all zero */
    static checked sum;
    const int counted = measure_open();
    text left, line;
    uart_open();
    if (!image_open(&opened) || !text_find(&left)) {
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
    if (counted) {
        print_costs(&opened, &sum);
    }
    return sum.n_lines == 0 || sum.n_failed != 0 ? LINE_FAILED : GOOD;
}
