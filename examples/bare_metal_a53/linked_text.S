/* lines.txt as a constant. */
    .section .rodata.linked_text, "a"
    .global linked_text, linked_text_end
linked_text:
    .incbin "lines.txt"
linked_text_end:

    .section .note.GNU-stack, "", %progbits
