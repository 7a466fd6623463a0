/* The assets, held against their sums where they lie in memory. */
#ifndef SELF_CHECK_H
#define SELF_CHECK_H

/* Checks every asset, every section of the image and every tensor by its CRC-32; prints what was checked, or
 * the first that is wrong, with its address. Returns 0 there. */
int self_check(void);

#endif
