#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* What libFuzzer calls, and corpus.c for each file of a corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Like assert(), but never compiled out. */
#define FUZZ_CHECK(condition)                                                  \
	do {                                                                   \
		if (!(condition)) {                                            \
			abort();                                               \
		}                                                              \
	} while (0)

#endif
