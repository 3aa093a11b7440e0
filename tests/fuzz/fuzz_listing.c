/* A listing from the index. Magic and sum are made right, so that what is
 * behind them is reached. */
#include <endian.h>
#include <string.h>

#include "../../src/tree/listing_private.h"
#include "base/digest.h"
#include "fuzz.h"

static void check_entries(const struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		const char *name = listing_name(listing, i);
		const size_t length = strlen(name);
		struct entry_info info;
		listing_info(listing, i, &info);
		FUZZ_CHECK(length > 0 && length <= TREE_NAME_MAX);
		FUZZ_CHECK(strchr(name, '/') == NULL);
		FUZZ_CHECK(strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
		FUZZ_CHECK(i == 0 ||
				strcmp(listing_name(listing, i - 1), name) < 0);
		FUZZ_CHECK(listing_find(listing, name) == i);
		FUZZ_CHECK(!info.is_dir || info.etag[0] == '\0');
	}
}

static void check_round_trip(const struct listing *listing)
{
	void *blob = NULL;
	size_t length = 0;
	struct listing *back = NULL;
	FUZZ_CHECK(listing_serialise(listing, &blob, &length) == 0);
	FUZZ_CHECK(listing_parse(blob, length, &back) == 0);
	FUZZ_CHECK(back->count == listing->count);
	free(blob);
	listing_unref(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 8) {
		return 0;
	}
	uint8_t *blob = malloc(size);
	FUZZ_CHECK(blob != NULL);
	memcpy(blob, data, size);
	memcpy(blob, "SL01", 4);
	const uint32_t sum = htole32(digest_crc32c(blob + 8, size - 8));
	memcpy(blob + 4, &sum, sizeof(sum));
	struct listing *listing = NULL;
	if (listing_parse(blob, size, &listing) == 0) {
		check_entries(listing);
		check_round_trip(listing);
		listing_unref(listing);
	}
	free(blob);
	return 0;
}
