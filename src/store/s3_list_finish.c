#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/url.h"
#include "s3_list_private.h"
#include "s3_list_state_private.h"
#include "s3_reply_private.h"
#include "s3_xml_private.h"
#include "store/store.h"

/* A form encoder writes a blank as '+' and a '+' as "%2B"; others write "%20".
 * Both read back here. */
static int decode_key(struct s3_list *list, struct s3_list_item *item)
{
	char *encoded = list->texts.text + item->key;
	const size_t start = list->names.length;

	for (size_t i = 0; i < item->key_length; i++) {
		encoded[i] = encoded[i] == '+' ? ' ' : encoded[i];
	}
	const int error = url_decode(&list->names, encoded, item->key_length);

	if (error == -EINVAL) {
		return s3_list_malformed(list, "a key with a bad escape");
	}
	item->key = start;
	item->key_length = list->names.length - start;
	return error != 0 || strbuf_add_char(&list->names, '\0') != 0 ? -ENOMEM
								      : 0;
}

static int decode_keys(struct s3_list *list)
{
	int error = 0;

	for (size_t i = 0; list->is_encoded && i < list->item_count; i++) {
		error = decode_key(list, &list->items[i]);
		if (error != 0) {
			break;
		}
	}
	return error;
}

static int check_name(struct s3_list *list, const struct store_entry *entry,
		const char *prefix)
{
	if (strncmp(entry->key, prefix, strlen(prefix)) != 0) {
		return s3_list_malformed(
				list, "a key outside the prefix asked for");
	}
	if (entry->is_prefix &&
			(entry->key_length == 0 ||
					entry->key[entry->key_length - 1] !=
							'/')) {
		return s3_list_malformed(
				list, "a common prefix without its slash");
	}
	return 0;
}

static struct store_entry make_entry(const struct s3_list *list,
		const struct s3_list_item *item, int64_t reply_time)
{
	const struct strbuf *keys =
			list->is_encoded ? &list->names : &list->texts;
	const char *etag = list->texts.text + item->etag;

	return (struct store_entry){
			.key = keys->text + item->key,
			.key_length = item->key_length,
			.is_prefix = item->is_prefix,
			.etag = etag,
			.size = item->size,
			.mtime = item->mtime,
			.archived = item->archived,
			.unsettled = !item->is_prefix &&
				     s3_is_unsettled(etag, item->mtime,
						     reply_time),
	};
}

static int make_entries(struct s3_list *list, const struct s3_list_asked *asked,
		struct store_page *page, size_t *out_unnamed)
{
	size_t unnamed = 0;

	list->entries = calloc(list->item_count + 1, sizeof(*list->entries));
	if (list->entries == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < list->item_count; i++) {
		const struct store_entry entry = make_entry(
				list, &list->items[i], asked->reply_time);
		if (memchr(entry.key, '\0', entry.key_length) != NULL) {
			unnamed++;
			continue;
		}
		const int error = check_name(list, &entry, asked->prefix);
		if (error != 0) {
			return error;
		}
		list->entries[i - unnamed] = entry;
	}
	page->entries = list->entries;
	page->entry_count = list->item_count - unnamed;
	*out_unnamed = unnamed;
	return 0;
}

static int check_truncation(struct s3_list *list, const char *token)
{
	if (!list->has_truncated) {
		return s3_list_malformed(list, "IsTruncated is missing");
	}
	if (!list->is_truncated) {
		return 0;
	}
	if (list->next_token == NULL || list->next_token[0] == '\0') {
		return s3_list_malformed(
				list, "truncated without a token to go on");
	}
	if (token != NULL && strcmp(token, list->next_token) == 0) {
		return s3_list_malformed(
				list, "the next token is the one just sent");
	}
	return 0;
}

int s3_list_finish(struct s3_list *list, const struct s3_list_asked *asked,
		struct store_page *out_page, size_t *out_unnamed)
{
	struct store_page page = {0};
	size_t unnamed = 0;
	int error = s3_xml_finish(list->xml);

	if (error != 0) {
		return error == -EBADMSG
				       ? s3_list_malformed(list,
							 "the document is cut")
				       : error;
	}
	error = check_truncation(list, asked->token);
	error = error != 0 ? error : decode_keys(list);
	error = error != 0 ? error : make_entries(list, asked, &page, &unnamed);
	if (error != 0) {
		return error;
	}
	page.next_token = list->is_truncated ? list->next_token : NULL;
	*out_page = page;
	*out_unnamed = unnamed;
	return 0;
}
