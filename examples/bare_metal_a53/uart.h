/* The serial port. */
#ifndef UART_H
#define UART_H

void uart_open(void);

/* Waits until there is room. */
void uart_put(char byte);

/* Waits until everything is sent. */
void uart_drain(void);

#endif
