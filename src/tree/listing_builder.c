#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "listing_private.h"
#include "store/store.h"

struct listing_builder {
	char *prefix;
	size_t prefix_length;
	struct listing *listing; /* Not shared yet. */
	size_t entry_capacity;
	size_t text_capacity;
	bool sorted; /* Up to now every name was after the one before. */
	bool any;
};

struct listing_builder *listing_builder_create(const char *prefix)
{
	struct listing_builder *builder = calloc(1, sizeof(*builder));
	if (builder == NULL) {
		return NULL;
	}
	builder->sorted = true;
	builder->prefix = strdup(prefix);
	builder->prefix_length = strlen(prefix);
	builder->listing = calloc(1, sizeof(*builder->listing));
	/* Offset 0 is the empty text, for all without an ETag. */
	builder->text_capacity = 1;
	char *text = calloc(1, 1);
	if (builder->prefix == NULL || builder->listing == NULL ||
			text == NULL) {
		free(text);
		listing_builder_destroy(builder);
		return NULL;
	}
	atomic_init(&builder->listing->references, 1);
	builder->listing->text = text;
	builder->listing->text_length = 1;
	return builder;
}

void listing_builder_destroy(struct listing_builder *builder)
{
	if (builder != NULL) {
		free(builder->prefix);
		listing_unref(builder->listing);
		free(builder);
	}
}

bool listing_builder_any(const struct listing_builder *builder)
{
	return builder->any;
}

void listing_builder_mark(struct listing_builder *builder)
{
	builder->any = true;
	builder->listing->has_marker = true;
}

static bool name_can_be_shown(const char *name, size_t length)
{
	return length > 0 && length <= TREE_NAME_MAX &&
	       memchr(name, '\0', length) == NULL &&
	       memchr(name, '/', length) == NULL &&
	       !(length == 1 && name[0] == '.') &&
	       !(length == 2 && name[0] == '.' && name[1] == '.');
}

/* Grows by half, so that what is left over in the end is small. */
static int reserve(struct listing_builder *builder, size_t text_length)
{
	struct listing *listing = builder->listing;
	const size_t text_needed = listing->text_length + text_length;
	if (text_needed > UINT32_MAX || listing->count >= UINT32_MAX) {
		return -EFBIG;
	}
	if (text_needed > builder->text_capacity) {
		const size_t capacity = text_needed + text_needed / 2 + 1024;
		char *text = realloc(listing->text, capacity);
		if (text == NULL) {
			return -ENOMEM;
		}
		listing->text = text;
		builder->text_capacity = capacity;
	}
	if (listing->count == builder->entry_capacity) {
		const size_t capacity =
				listing->count + listing->count / 2 + 16;
		struct listing_entry *entries = realloc(
				listing->entries, capacity * sizeof(*entries));
		if (entries == NULL) {
			return -ENOMEM;
		}
		listing->entries = entries;
		builder->entry_capacity = capacity;
	}
	return 0;
}

static uint32_t add_text(
		struct listing *listing, const char *text, size_t length)
{
	const size_t offset = listing->text_length;
	memcpy(listing->text + offset, text, length);
	listing->text[offset + length] = '\0';
	listing->text_length += length + 1;
	return (uint32_t)offset;
}

int listing_builder_add(struct listing_builder *builder, const char *name,
		size_t name_length, const struct entry_info *info)
{
	struct listing *listing = builder->listing;
	builder->any = true;
	if (!name_can_be_shown(name, name_length)) {
		listing->hidden++;
		return 0;
	}
	const size_t etag_length = info->is_dir ? 0 : strlen(info->etag);
	const int error = reserve(builder, name_length + etag_length + 2);
	if (error < 0) {
		return error;
	}
	const struct listing_entry entry = {
			.size = info->is_dir ? 0 : info->size,
			.mtime = info->is_dir ? 0 : info->mtime,
			.name = add_text(listing, name, name_length),
			.name_length = (uint8_t)name_length,
			.etag = etag_length == 0 ? 0
						 : add_text(listing, info->etag,
								   etag_length),
			.flags = (uint8_t)((info->is_dir ? LISTING_DIR : 0U) |
					   (info->archived ? LISTING_ARCHIVED
							   : 0U) |
					   (info->unsettled ? LISTING_UNSETTLED
							    : 0U)),
	};
	listing->entries[listing->count++] = entry;
	if (listing->count > 1 &&
			strcmp(listing_name(listing, listing->count - 2),
					listing_name(listing,
							listing->count - 1)) >=
					0) {
		builder->sorted = false;
	}
	return 0;
}

static int add_store_entry(struct listing_builder *builder,
		const struct store_entry *entry)
{
	if (entry->key_length < builder->prefix_length ||
			memcmp(entry->key, builder->prefix,
					builder->prefix_length) != 0) {
		return -EIO;
	}
	const char *name = entry->key + builder->prefix_length;
	size_t length = entry->key_length - builder->prefix_length;
	if (length == 0 && !entry->is_prefix) {
		listing_builder_mark(builder);
		return 0;
	}
	if (entry->is_prefix && length > 0 && name[length - 1] == '/') {
		length--;
	}
	const struct entry_info info = {
			.is_dir = entry->is_prefix,
			.archived = entry->archived,
			.unsettled = entry->unsettled,
			.size = entry->size,
			.mtime = entry->mtime,
			.etag = entry->etag,
	};
	return listing_builder_add(builder, name, length, &info);
}

int listing_builder_add_page(
		struct listing_builder *builder, const struct store_page *page)
{
	for (size_t i = 0; i < page->entry_count; i++) {
		const int error = add_store_entry(builder, &page->entries[i]);
		if (error < 0) {
			return error;
		}
	}
	return 0;
}

/* By name; the directory before the object, the later before the earlier. */
static int compare_entries(const void *a, const void *b, void *context)
{
	const struct listing *listing = context;
	const struct listing_entry *first = a;
	const struct listing_entry *second = b;
	const int order = strcmp(listing->text + first->name,
			listing->text + second->name);
	if (order != 0) {
		return order;
	}
	const unsigned first_dir = first->flags & LISTING_DIR;
	const unsigned second_dir = second->flags & LISTING_DIR;
	if (first_dir != second_dir) {
		return first_dir != 0 ? -1 : 1;
	}
	return first->name > second->name ? -1 : 1;
}

/* Keeps the first of each name. */
static void drop_repeats(struct listing *listing)
{
	size_t kept = 0;
	for (size_t i = 0; i < listing->count; i++) {
		const bool repeat =
				kept > 0 &&
				strcmp(listing_name(listing, kept - 1),
						listing_name(listing, i)) == 0;
		if (!repeat) {
			listing->entries[kept++] = listing->entries[i];
		} else if ((listing->entries[kept - 1].flags & LISTING_DIR) !=
				(listing->entries[i].flags & LISTING_DIR)) {
			listing->shadowed++;
		}
	}
	listing->count = kept;
}

/* Gives back what was reserved and not used. */
static void shrink(struct listing *listing)
{
	char *text = realloc(listing->text, listing->text_length);
	if (text != NULL) {
		listing->text = text;
	}
	if (listing->count == 0) {
		free(listing->entries);
		listing->entries = NULL;
		return;
	}
	struct listing_entry *entries = realloc(
			listing->entries, listing->count * sizeof(*entries));
	if (entries != NULL) {
		listing->entries = entries;
	}
}

int listing_builder_finish(
		struct listing_builder *builder, struct listing **out_listing)
{
	struct listing *listing = builder->listing;
	if (!builder->sorted) {
		qsort_r(listing->entries, listing->count,
				sizeof(struct listing_entry), compare_entries,
				listing);
		drop_repeats(listing);
	}
	shrink(listing);
	builder->listing = NULL;
	*out_listing = listing;
	return 0;
}
