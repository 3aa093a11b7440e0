/* The XML error document. */
#include <string.h>

#include "../../src/store/s3_error_private.h"
#include "fuzz.h"

static void check_text(const char *text, size_t size)
{
	const size_t length = strnlen(text, size);

	FUZZ_CHECK(length < size);
	for (size_t i = 0; i < length; i++) {
		FUZZ_CHECK((unsigned char)text[i] >= ' ');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct s3_error error;

	s3_error_parse(data, size, &error);
	check_text(error.code, sizeof(error.code));
	check_text(error.message, sizeof(error.message));
	check_text(error.region, sizeof(error.region));
	return 0;
}
