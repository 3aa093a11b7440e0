#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "listing_private.h"

/*
 * Little-endian: magic (4), CRC-32C of all that follows (4), flags (1), hidden
 * (4), count (4), then each entry: flags (1), name length (1), ETag length (2),
 * size (8), mtime (8), name, ETag.
 */
static const char blob_magic[4] = {'S', 'L', '0', '1'};
#define SUM_OFFSET 8
#define HEAD_SIZE 17
#define ENTRY_SIZE 20
#define BLOB_HAS_MARKER 1U
#define KNOWN_FLAGS (LISTING_DIR | LISTING_ARCHIVED | LISTING_UNSETTLED)

static void put_u16(uint8_t *out, uint16_t value)
{
	value = htole16(value);
	memcpy(out, &value, sizeof(value));
}

static void put_u32(uint8_t *out, uint32_t value)
{
	value = htole32(value);
	memcpy(out, &value, sizeof(value));
}

static void put_u64(uint8_t *out, uint64_t value)
{
	value = htole64(value);
	memcpy(out, &value, sizeof(value));
}

static uint16_t get_u16(const uint8_t *bytes)
{
	uint16_t value = 0;
	memcpy(&value, bytes, sizeof(value));
	return le16toh(value);
}

static uint32_t get_u32(const uint8_t *bytes)
{
	uint32_t value = 0;
	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

static uint64_t get_u64(const uint8_t *bytes)
{
	uint64_t value = 0;
	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

/* An ETag has at most 65535 bytes here; a longer one makes the listing one
 * that cannot be kept. */
static int measure(const struct listing *listing, size_t *out_length)
{
	size_t length = HEAD_SIZE;
	for (size_t i = 0; i < listing->count; i++) {
		const struct listing_entry *entry = &listing->entries[i];
		const size_t etag_length = strlen(listing->text + entry->etag);
		if (etag_length > UINT16_MAX) {
			return -EFBIG;
		}
		length += ENTRY_SIZE + entry->name_length + etag_length;
	}
	*out_length = length;
	return 0;
}

static uint8_t *put_entry(uint8_t *out, const struct listing *listing,
		const struct listing_entry *entry)
{
	const char *etag = listing->text + entry->etag;
	const size_t etag_length = strlen(etag);
	out[0] = entry->flags;
	out[1] = entry->name_length;
	put_u16(out + 2, (uint16_t)etag_length);
	put_u64(out + 4, entry->size);
	put_u64(out + 12, (uint64_t)entry->mtime);
	out += ENTRY_SIZE;
	memcpy(out, listing->text + entry->name, entry->name_length);
	out += entry->name_length;
	memcpy(out, etag, etag_length);
	return out + etag_length;
}

int listing_serialise(const struct listing *listing, void **out_blob,
		size_t *out_length)
{
	size_t length = 0;
	const int error = measure(listing, &length);
	if (error < 0) {
		return error;
	}
	uint8_t *blob = malloc(length);
	if (blob == NULL) {
		return -ENOMEM;
	}
	memcpy(blob, blob_magic, sizeof(blob_magic));
	blob[8] = listing->has_marker ? BLOB_HAS_MARKER : 0;
	put_u32(blob + 9, (uint32_t)listing->hidden);
	put_u32(blob + 13, (uint32_t)listing->count);
	uint8_t *end = blob + HEAD_SIZE;
	for (size_t i = 0; i < listing->count; i++) {
		end = put_entry(end, listing, &listing->entries[i]);
	}
	put_u32(blob + 4,
			digest_crc32c(blob + SUM_OFFSET, length - SUM_OFFSET));
	*out_blob = blob;
	*out_length = length;
	return 0;
}

/* Reads one entry; returns how long it is, or -EINVAL. */
static ssize_t parse_entry(struct listing_builder *builder,
		const uint8_t *bytes, size_t left)
{
	if (left < ENTRY_SIZE) {
		return -EINVAL;
	}
	const size_t name_length = bytes[1];
	const size_t etag_length = get_u16(bytes + 2);
	const size_t length = ENTRY_SIZE + name_length + etag_length;
	const bool is_dir = (bytes[0] & LISTING_DIR) != 0;
	if (left < length || (bytes[0] & ~KNOWN_FLAGS) != 0 ||
			(is_dir && etag_length > 0)) {
		return -EINVAL;
	}
	const char *name = (const char *)bytes + ENTRY_SIZE;
	if (memchr(name + name_length, '\0', etag_length) != NULL) {
		return -EINVAL;
	}
	CLEANUP_FREE char *etag = strndup(name + name_length, etag_length);
	if (etag == NULL) {
		return -ENOMEM;
	}
	const struct entry_info info = {
			.is_dir = is_dir,
			.archived = (bytes[0] & LISTING_ARCHIVED) != 0,
			.unsettled = (bytes[0] & LISTING_UNSETTLED) != 0,
			.size = get_u64(bytes + 4),
			.mtime = (int64_t)get_u64(bytes + 12),
			.etag = etag,
	};
	const int error =
			listing_builder_add(builder, name, name_length, &info);
	return error < 0 ? error : (ssize_t)length;
}

static int parse_entries(struct listing_builder *builder, const uint8_t *bytes,
		size_t length, uint32_t count)
{
	size_t offset = HEAD_SIZE;
	for (uint32_t i = 0; i < count; i++) {
		const ssize_t used = parse_entry(
				builder, bytes + offset, length - offset);
		if (used < 0) {
			return (int)used;
		}
		offset += (size_t)used;
	}
	return offset == length ? 0 : -EINVAL;
}

int listing_parse(const void *blob, size_t length, struct listing **out_listing)
{
	const uint8_t *bytes = blob;
	if (length < HEAD_SIZE ||
			memcmp(bytes, blob_magic, sizeof(blob_magic)) != 0 ||
			get_u32(bytes + 4) !=
					digest_crc32c(bytes + SUM_OFFSET,
							length - SUM_OFFSET)) {
		return -EINVAL;
	}
	struct listing_builder *builder = listing_builder_create("");
	if (builder == NULL) {
		return -ENOMEM;
	}
	const uint32_t count = get_u32(bytes + 13);
	struct listing *listing = NULL;
	int error = parse_entries(builder, bytes, length, count);
	if (error == 0) {
		error = listing_builder_finish(builder, &listing);
	}
	listing_builder_destroy(builder);
	if (error < 0) {
		return error;
	}
	/* A written listing has only what can be shown, once, in order. */
	if (listing->count != count || listing->hidden > 0) {
		listing_unref(listing);
		return -EINVAL;
	}
	listing->hidden = get_u32(bytes + 9);
	listing->has_marker = (bytes[8] & BLOB_HAS_MARKER) != 0;
	*out_listing = listing;
	return 0;
}
