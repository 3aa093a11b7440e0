#include "s3_list_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "s3_list_state_private.h"
#include "s3_reply_private.h"
#include "s3_xml_private.h"

/* Which fields of one <Contents> were there. */
enum field { FIELD_KEY = 1, FIELD_SIZE = 2, FIELD_TIME = 4 };
#define FIELDS_NEEDED (FIELD_KEY | FIELD_SIZE | FIELD_TIME)

int s3_list_malformed(struct s3_list *list, const char *problem)
{
	if (list->problem == NULL) {
		list->problem = problem;
	}
	return -EBADMSG;
}

static int keep_text(struct s3_list *list, const char *text, size_t length,
		size_t *out_place)
{
	const size_t place = list->texts.length;
	int error = strbuf_add(&list->texts, text, length);

	error = error != 0 ? error : strbuf_add_char(&list->texts, '\0');
	if (error != 0) {
		return -ENOMEM;
	}
	*out_place = place;
	return 0;
}

static int add_item(struct s3_list *list, const struct s3_list_item *item)
{
	if (list->item_count == S3_LIST_MAX_ENTRIES) {
		return s3_list_malformed(list, "too many entries in one page");
	}
	if (list->item_count == list->item_capacity) {
		const size_t capacity =
				list->item_capacity == 0
						? 1024
						: list->item_capacity * 2;
		struct s3_list_item *items =
				realloc(list->items, capacity * sizeof(*items));
		if (items == NULL) {
			return -ENOMEM;
		}
		list->items = items;
		list->item_capacity = capacity;
	}
	list->items[list->item_count++] = *item;
	return 0;
}

static int on_start(void *context, unsigned depth, const char *name)
{
	struct s3_list *list = context;

	if (depth == 1 && strcmp(name, "Error") == 0) {
		list->is_error = true;
		return s3_list_malformed(list, "an error document");
	}
	if (depth == 1 && strcmp(name, "ListBucketResult") != 0) {
		return s3_list_malformed(list, "not a ListBucketResult");
	}
	if (depth == 2) {
		list->in_contents = strcmp(name, "Contents") == 0;
		list->in_prefixes = strcmp(name, "CommonPrefixes") == 0;
		list->item = (struct s3_list_item){0};
		list->fields = 0;
	}
	return 0;
}

static int on_flag(struct s3_list *list, const char *text)
{
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
		return s3_list_malformed(
				list, "IsTruncated is neither true nor false");
	}
	list->has_truncated = true;
	list->is_truncated = strcmp(text, "true") == 0;
	return 0;
}

static int on_top_field(
		struct s3_list *list, const char *name, const char *text)
{
	if (strcmp(name, "IsTruncated") == 0) {
		return on_flag(list, text);
	}
	if (strcmp(name, "EncodingType") == 0) {
		list->is_encoded = strcmp(text, "url") == 0;
		return list->is_encoded || text[0] == '\0'
				       ? 0
				       : s3_list_malformed(list,
							 "unknown "
							 "EncodingType");
	}
	if (strcmp(name, "NextContinuationToken") == 0) {
		free(list->next_token);
		list->next_token = strdup(text);
		return list->next_token != NULL ? 0 : -ENOMEM;
	}
	return 0;
}

static bool is_archived(const char *storage_class)
{
	return strcmp(storage_class, "GLACIER") == 0 ||
	       strcmp(storage_class, "DEEP_ARCHIVE") == 0;
}

/* As it is: quotes that were left out may be left out in headers too. */
static int on_etag(struct s3_list *list, const char *text, size_t length)
{
	if (length == 0) {
		return 0;
	}
	if (!s3_etag_fits_a_header(text, length)) {
		return s3_list_malformed(
				list, "an ETag that no header can have");
	}
	return keep_text(list, text, length, &list->item.etag);
}

static int on_object_field(struct s3_list *list, const char *name,
		const char *text, size_t length)
{
	struct s3_list_item *item = &list->item;

	if (strcmp(name, "Key") == 0) {
		if ((list->fields & FIELD_KEY) != 0) {
			return s3_list_malformed(
					list, "an entry with two keys");
		}
		list->fields |= FIELD_KEY;
		item->key_length = length;
		return keep_text(list, text, length, &item->key);
	}
	if (strcmp(name, "Size") == 0) {
		list->fields |= FIELD_SIZE;
		return s3_parse_u64(text, &item->size) == 0
				       ? 0
				       : s3_list_malformed(list,
							 "a size that is no "
							 "number");
	}
	if (strcmp(name, "LastModified") == 0) {
		list->fields |= FIELD_TIME;
		return clock_parse_iso8601(text, &item->mtime) == 0
				       ? 0
				       : s3_list_malformed(list,
							 "a time that is no "
							 "time");
	}
	if (strcmp(name, "ETag") == 0) {
		return on_etag(list, text, length);
	}
	if (strcmp(name, "StorageClass") == 0) {
		item->archived = is_archived(text);
	}
	return 0;
}

static int on_prefix(struct s3_list *list, const char *text, size_t length)
{
	struct s3_list_item item = {.key_length = length, .is_prefix = true};
	const int error = keep_text(list, text, length, &item.key);

	return error != 0 ? error : add_item(list, &item);
}

static int on_entry_end(struct s3_list *list)
{
	if (!list->in_contents) {
		return 0;
	}
	list->in_contents = false;
	if ((list->fields & FIELDS_NEEDED) != FIELDS_NEEDED) {
		return s3_list_malformed(
				list, "an entry without key, size or time");
	}
	return add_item(list, &list->item);
}

static int on_end(void *context, unsigned depth, const char *name,
		const char *text, size_t length)
{
	struct s3_list *list = context;

	if (depth == 2 && (list->in_contents || list->in_prefixes)) {
		return on_entry_end(list);
	}
	if (text == NULL) {
		return 0;
	}
	if (depth == 2) {
		return on_top_field(list, name, text);
	}
	if (depth == 3 && list->in_contents) {
		return on_object_field(list, name, text, length);
	}
	if (depth == 3 && list->in_prefixes && strcmp(name, "Prefix") == 0) {
		return on_prefix(list, text, length);
	}
	return 0;
}

int s3_list_create(struct s3_list **out_list)
{
	static const struct s3_xml_handler handler = {
			.on_start = on_start, .on_end = on_end};
	struct s3_list *list = calloc(1, sizeof(*list));

	if (list == NULL) {
		return -ENOMEM;
	}
	/* No text is longer than what it was read from, but for a NUL. */
	strbuf_init(&list->texts, 2 * S3_LIST_MAX_BODY);
	strbuf_init(&list->names, 2 * S3_LIST_MAX_BODY);
	int error = strbuf_add_char(&list->texts, '\0');
	error = error != 0 ? error
			   : s3_xml_create(&handler, list, S3_LIST_MAX_BODY,
					     &list->xml);
	if (error != 0) {
		s3_list_destroy(list);
		return error;
	}
	*out_list = list;
	return 0;
}

void s3_list_destroy(struct s3_list *list)
{
	if (list == NULL) {
		return;
	}
	s3_xml_destroy(list->xml);
	strbuf_finish(&list->texts);
	strbuf_finish(&list->names);
	free(list->items);
	free(list->next_token);
	free(list->entries);
	free(list);
}

int s3_list_feed(struct s3_list *list, const void *data, size_t length)
{
	const int error = s3_xml_feed(list->xml, data, length);

	return error == -EBADMSG
			       ? s3_list_malformed(list, "not well-formed XML")
			       : error;
}

bool s3_list_is_error_document(const struct s3_list *list)
{
	return list->is_error;
}

const char *s3_list_problem(const struct s3_list *list)
{
	return list->problem != NULL ? list->problem : "";
}
