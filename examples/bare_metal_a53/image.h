/* The image at image_start. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>

#include "measure.h"
#include "q25_nl_tokenizer.h"

typedef struct image {
    size_t bytes;
    q25_nl_bundle_view bundle;
    q25_nl_encode_view encode;
    cost verifying;
    cost opening;
} image;

/* Verifies and opens it. Returns 0 where it cannot be used; what is wrong was printed then. */
int image_open(image *opened);

#endif
