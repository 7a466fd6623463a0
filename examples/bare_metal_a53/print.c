#include "print.h"

#include "uart.h"

void print(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            uart_put('\r');
        }
        uart_put(*text);
    }
}

void print_number(uint64_t value)
{
    char digits[21];
    char *at = digits + 20;
    *at = '\0';
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    print(at);
}

void print_hex(uint64_t value, int digits)
{
    while (digits-- > 0) {
        uart_put("0123456789abcdef"[value >> 4 * digits & 15]);
    }
}
