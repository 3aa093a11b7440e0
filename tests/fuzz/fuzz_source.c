/* SOURCE, and the endpoint that a bucket is reached at. */
#include <string.h>

#include "../../src/store/s3_address_private.h"
#include "../../src/store/source_private.h"
#include "fuzz.h"

static void try_endpoint(const char *endpoint)
{
	const struct s3_place place = {.endpoint = endpoint,
			.bucket = "data",
			.region = "us-east-1",
			.path_style = -1};
	struct s3_address address;
	char message[256] = "";

	if (s3_address_make(&place, &address, message, sizeof(message)) != 0) {
		return;
	}
	FUZZ_CHECK(address.path[0] == '/');
	FUZZ_CHECK(address.path[strlen(address.path) - 1] == '/');
	FUZZ_CHECK(strpbrk(address.host, "/?#@ \r\n") == NULL);
	s3_address_finish(&address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct source source;
	char message[1200] = "";

	FUZZ_CHECK(text != NULL);
	if (source_parse(text, &source, message, sizeof(message)) != 0) {
		FUZZ_CHECK(message[0] != '\0');
	} else {
		if (source.kind == SOURCE_S3) {
			const size_t length = strlen(source.prefix);
			FUZZ_CHECK(length == 0 ||
					source.prefix[length - 1] == '/');
			FUZZ_CHECK(s3_bucket_is_valid(source.bucket));
		} else {
			FUZZ_CHECK(source.directory[0] == '/');
		}
		source_finish(&source);
	}
	try_endpoint(text);
	free(text);
	return 0;
}
