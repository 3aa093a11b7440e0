/* The XML listing: whole, in pieces, and as an error document. */
#include <string.h>

#include "../../src/store/s3_list_private.h"
#include "fuzz.h"
#include "store/store.h"

struct result {
	struct s3_list *list;
	struct store_page page;
	int error;
};

static struct result read_in_pieces(
		const uint8_t *data, size_t size, size_t piece)
{
	const struct s3_list_asked asked = {.prefix = "", .reply_time = 1};
	struct result result = {.error = 0};
	size_t unnamed = 0;

	FUZZ_CHECK(s3_list_create(&result.list) == 0);
	for (size_t i = 0; i < size && result.error == 0; i += piece) {
		result.error = s3_list_feed(result.list, data + i,
				size - i < piece ? size - i : piece);
	}
	if (result.error == 0) {
		result.error = s3_list_finish(
				result.list, &asked, &result.page, &unnamed);
	}
	return result;
}

static void check_page(const struct store_page *page)
{
	for (size_t i = 0; i < page->entry_count; i++) {
		const struct store_entry *entry = &page->entries[i];
		FUZZ_CHECK(strlen(entry->key) == entry->key_length);
		FUZZ_CHECK(entry->etag != NULL);
		FUZZ_CHECK(entry->size <= INT64_MAX);
		FUZZ_CHECK(!entry->is_prefix ||
				entry->key[entry->key_length - 1] == '/');
	}
	FUZZ_CHECK(page->next_token == NULL || page->next_token[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result whole = read_in_pieces(data, size, size + 1);
	struct result pieces = read_in_pieces(data, size, 3);

	/* How the bytes arrive changes nothing. */
	FUZZ_CHECK(whole.error == pieces.error);
	if (whole.error == 0) {
		check_page(&whole.page);
		FUZZ_CHECK(whole.page.entry_count == pieces.page.entry_count);
		for (size_t i = 0; i < whole.page.entry_count; i++) {
			FUZZ_CHECK(strcmp(whole.page.entries[i].key,
						   pieces.page.entries[i]
								   .key) == 0);
		}
	} else {
		FUZZ_CHECK(s3_list_problem(whole.list)[0] != '\0');
	}
	s3_list_destroy(whole.list);
	s3_list_destroy(pieces.list);
	return 0;
}
