/* The first serial port of a Zynq UltraScale+ (Cadence; UG1085, "UART Controller"). Speed and pins stay
 * as the boot loader set them. */
#include "uart.h"

#include <stdint.h>

#ifndef UART_ADDRESS
#define UART_ADDRESS 0xFF000000u
#endif

/* Registers, by their offset in words. */
enum { CONTROL = 0x00 / 4, STATUS = 0x2C / 4, FIFO = 0x30 / 4 };

#define CONTROL_SEND_ENABLE (1u << 4)
#define CONTROL_SEND_DISABLE (1u << 5)
#define STATUS_SEND_EMPTY (1u << 3)
#define STATUS_SEND_FULL (1u << 4)
#define STATUS_SEND_ACTIVE (1u << 11)

static volatile uint32_t *const registers = (volatile uint32_t *)(uintptr_t)UART_ADDRESS;

void uart_open(void)
{
    registers[CONTROL] = (registers[CONTROL] & ~CONTROL_SEND_DISABLE) | CONTROL_SEND_ENABLE;
}

void uart_put(char byte)
{
    while ((registers[STATUS] & STATUS_SEND_FULL) != 0) {
    }
    registers[FIFO] = (uint8_t)byte;
}

void uart_drain(void)
{
    while ((registers[STATUS] & (STATUS_SEND_EMPTY | STATUS_SEND_ACTIVE)) != STATUS_SEND_EMPTY) {
    }
}
