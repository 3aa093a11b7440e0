#include "listing_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/object.h"

bool entry_info_same(const struct entry_info *a, const struct entry_info *b)
{
	if (a->is_dir || b->is_dir) {
		return a->is_dir == b->is_dir;
	}
	if (a->size != b->size || a->archived != b->archived ||
			a->unsettled != b->unsettled ||
			!object_etag_equal(a->etag, b->etag)) {
		return false;
	}
	const bool strong =
			a->etag[0] != '\0' && strncmp(a->etag, "W/", 2) != 0;
	const int64_t slack = strong ? 1 : 0;
	return a->mtime - b->mtime <= slack && b->mtime - a->mtime <= slack;
}

struct listing *listing_ref(struct listing *listing)
{
	atomic_fetch_add_explicit(
			&listing->references, 1, memory_order_relaxed);
	return listing;
}

void listing_unref(struct listing *listing)
{
	if (listing == NULL || atomic_fetch_sub_explicit(&listing->references,
					       1, memory_order_acq_rel) != 1) {
		return;
	}
	free(listing->entries);
	free(listing->text);
	free(listing);
}

const char *listing_name(const struct listing *listing, size_t index)
{
	return listing->text + listing->entries[index].name;
}

size_t listing_find(const struct listing *listing, const char *name)
{
	size_t low = 0;
	size_t high = listing->count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = strcmp(listing_name(listing, middle), name);
		if (order == 0) {
			return middle;
		}
		if (order < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return LISTING_NONE;
}

void listing_info(const struct listing *listing, size_t index,
		struct entry_info *out_info)
{
	const struct listing_entry *entry = &listing->entries[index];
	*out_info = (struct entry_info){
			.is_dir = (entry->flags & LISTING_DIR) != 0,
			.archived = (entry->flags & LISTING_ARCHIVED) != 0,
			.unsettled = (entry->flags & LISTING_UNSETTLED) != 0,
			.size = entry->size,
			.mtime = entry->mtime,
			.etag = listing->text + entry->etag,
	};
}

/* Whether new[i] is the same version as old[j] of the same name. */
static bool same_entry(const struct listing *new, size_t i,
		const struct listing *old, size_t j)
{
	struct entry_info a;
	struct entry_info b;
	listing_info(new, i, &a);
	listing_info(old, j, &b);
	return entry_info_same(&a, &b);
}

/* Takes over the inodes of one listing by the other, in the order of both. */
static size_t carry_inodes(struct listing *new, const struct listing *old,
		uint64_t *dropped)
{
	size_t i = 0;
	size_t dropped_count = 0;
	for (size_t j = 0; j < old->count; j++) {
		const char *name = listing_name(old, j);
		int order = 1;
		while (i < new->count) {
			order = strcmp(listing_name(new, i), name);
			if (order >= 0) {
				break;
			}
			i++;
		}
		if (i < new->count && order == 0 &&
				same_entry(new, i, old, j)) {
			new->entries[i].inode = old->entries[j].inode;
			new->entries[i].mtime = old->entries[j].mtime;
		} else {
			dropped[dropped_count++] = old->entries[j].inode;
		}
	}
	return dropped_count;
}

int listing_number(struct listing *listing, const struct listing *old,
		_Atomic uint64_t *next_inode, uint64_t **out_dropped,
		size_t *out_dropped_count)
{
	uint64_t *dropped = NULL;
	size_t dropped_count = 0;
	if (old != NULL && old->count > 0) {
		dropped = malloc(old->count * sizeof(*dropped));
		if (dropped == NULL) {
			return -ENOMEM;
		}
		dropped_count = carry_inodes(listing, old, dropped);
	}
	uint64_t next = atomic_fetch_add(next_inode, listing->count);
	for (size_t i = 0; i < listing->count; i++) {
		if (listing->entries[i].inode == 0) {
			listing->entries[i].inode = next++;
		}
	}
	*out_dropped = dropped;
	*out_dropped_count = dropped_count;
	return 0;
}
