#include "fault.h"

#include "finish.h"
#include "print.h"

/* By the exception class of a syndrome (Arm ARM, "ESR_ELx"). */
static const char *class_name(uint64_t syndrome)
{
    switch (syndrome >> 26 & 0x3F) {
    case 0x00:
        return "unknown instruction";
    case 0x07:
        return "vector register that traps";
    case 0x18:
        return "system register";
    case 0x20:
    case 0x21:
        return "instruction fetch";
    case 0x22:
        return "misaligned instruction";
    case 0x24:
    case 0x25:
        return (syndrome & 0x3F) == 0x21 ? "unaligned access" : "data access";
    case 0x26:
        return "misaligned stack";
    default:
        return "exception";
    }
}

int report_fault(uint64_t entry, uint64_t syndrome, uint64_t instruction, uint64_t address, uint64_t level)
{
    static const char *const kinds[4] = {"", "IRQ", "FIQ", "SError"};
    print("\nfault: ");
    print((entry & 3) == 0 ? class_name(syndrome) : kinds[entry & 3]);
    print(", instruction 0x");
    print_hex(instruction, 16);
    print(", address 0x");
    print_hex(address, 16);
    print(", syndrome 0x");
    print_hex(syndrome, 8);
    print(", EL");
    print_number(level);
    print("\n");
    return BAD_INPUT;
}
