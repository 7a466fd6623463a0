/* Built with q25_nl_tokenizer.c into a shared library: what a caller that does not read the header has to
 * know of it, which is how much room the views take. What they hold is the library's own affair. */
#include "q25_nl_tokenizer.h"

extern const size_t q25_host_bundle_view_bytes;
extern const size_t q25_host_encode_view_bytes;

const size_t q25_host_bundle_view_bytes = sizeof(q25_nl_bundle_view);
const size_t q25_host_encode_view_bytes = sizeof(q25_nl_encode_view);
