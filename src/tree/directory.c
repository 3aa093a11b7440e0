#include "directory_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/counters.h"

static size_t weight_of(const struct directory *directory)
{
	return 1 + HASH_COUNT(directory->probes) +
	       (directory->listing == NULL ? 0 : directory->listing->count);
}

static void free_probes(struct directory *directory)
{
	struct probe *probe = NULL;
	struct probe *next = NULL;
	HASH_ITER (hh, directory->probes, probe, next) {
		HASH_DEL(directory->probes, probe);
		free(probe);
	}
}

static void free_directory(
		struct directory_table *table, struct directory *directory)
{
	HASH_DEL(table->by_prefix, directory);
	if (directory->listing != NULL) {
		counters_sub(&table->counters->listings, 1);
	}
	listing_unref(directory->listing);
	free_probes(directory);
	free(directory->changed);
	free(directory->prefix);
	free(directory);
}

void directory_table_finish(struct directory_table *table)
{
	struct directory *directory = NULL;
	struct directory *next = NULL;
	HASH_ITER (hh, table->by_prefix, directory, next) {
		free_directory(table, directory);
	}
	table->idle = NULL;
}

struct directory *directory_find(
		struct directory_table *table, const char *prefix)
{
	struct directory *directory = NULL;
	HASH_FIND_STR(table->by_prefix, prefix, directory);
	return directory;
}

struct directory *directory_get(
		struct directory_table *table, const char *prefix)
{
	struct directory *directory = directory_find(table, prefix);
	if (directory != NULL) {
		if (directory->references == 0) {
			DL_DELETE(table->idle, directory);
			table->idle_weight -= weight_of(directory);
		}
		return directory_ref(directory);
	}
	directory = calloc(1, sizeof(*directory));
	if (directory == NULL) {
		return NULL;
	}
	directory->references = 1;
	directory->prefix = strdup(prefix);
	if (directory->prefix == NULL) {
		free(directory);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, table->by_prefix, directory->prefix,
			strlen(directory->prefix), directory);
	if (directory->hh.tbl == NULL) {
		free(directory->prefix);
		free(directory);
		return NULL;
	}
	return directory;
}

struct directory *directory_ref(struct directory *directory)
{
	directory->references++;
	return directory;
}

void directory_unref(struct directory_table *table, struct directory *directory)
{
	if (directory == NULL || --directory->references > 0) {
		return;
	}
	if (directory->listing == NULL && directory->probes == NULL) {
		free_directory(table, directory);
		return;
	}
	DL_APPEND(table->idle, directory);
	table->idle_weight += weight_of(directory);
	while (table->idle_weight > table->idle_limit) {
		struct directory *oldest = table->idle;
		DL_DELETE(table->idle, oldest);
		table->idle_weight -= weight_of(oldest);
		free_directory(table, oldest);
	}
}

void directory_set_listing(struct directory_table *table,
		struct directory *directory, struct listing *listing,
		uint64_t until_ms)
{
	if (directory->listing == NULL) {
		counters_add(&table->counters->listings, 1);
	}
	listing_unref(directory->listing);
	directory->listing = listing;
	directory->until_ms = until_ms;
	directory->denied_until_ms = 0;
	free_probes(directory);
	free(directory->changed);
	directory->changed = NULL;
	directory->changed_count = 0;
}

void directory_forget(struct directory *directory)
{
	directory->epoch++;
	directory->until_ms = 0;
	directory->denied_until_ms = 0;
	directory->bypass_index = true;
	for (struct probe *probe = directory->probes; probe != NULL;
			probe = probe->hh.next) {
		probe->until_ms = 0;
	}
}

int directory_note_changed(struct directory *directory, uint64_t inode)
{
	uint64_t *changed = realloc(directory->changed,
			(directory->changed_count + 1) * sizeof(*changed));
	if (changed == NULL) {
		return -ENOMEM;
	}
	changed[directory->changed_count++] = inode;
	directory->changed = changed;
	return 0;
}

struct probe *directory_find_probe(
		const struct directory *directory, const char *name)
{
	struct probe *probe = NULL;
	HASH_FIND_STR(directory->probes, name, probe);
	return probe;
}

/* Looks at a few of the oldest only: known ones move to the end, so that many
 * known ones do not make each new answer slow. */
static void trim_probes(struct directory *directory,
		bool (*known)(void *context, uint64_t inode), void *context)
{
	for (int looks = 0;
			looks < 4 && HASH_COUNT(directory->probes) > PROBES_MAX;
			looks++) {
		struct probe *oldest = directory->probes;
		HASH_DEL(directory->probes, oldest);
		if (!oldest->absent && known(context, oldest->inode)) {
			HASH_ADD_KEYPTR(hh, directory->probes, oldest->text,
					strlen(oldest->text), oldest);
		} else {
			free(oldest);
		}
	}
}

int directory_set_probe(struct directory *directory, const char *name,
		const struct entry_info *info, uint64_t inode,
		uint64_t until_ms, bool (*known)(void *context, uint64_t inode),
		void *context)
{
	const char *etag = info == NULL ? "" : info->etag;
	const size_t name_size = strlen(name) + 1;
	const size_t etag_size = strlen(etag) + 1;
	struct probe *probe = calloc(1, sizeof(*probe) + name_size + etag_size);
	if (probe == NULL) {
		return -ENOMEM;
	}
	memcpy(probe->text, name, name_size);
	memcpy(probe->text + name_size, etag, etag_size);
	probe->absent = info == NULL;
	probe->inode = inode;
	probe->until_ms = until_ms;
	if (info != NULL) {
		probe->info = *info;
	}
	probe->info.etag = probe->text + name_size;
	struct probe *old = directory_find_probe(directory, name);
	if (old != NULL) {
		HASH_DEL(directory->probes, old);
		free(old);
	}
	HASH_ADD_KEYPTR(hh, directory->probes, probe->text, name_size - 1,
			probe);
	if (probe->hh.tbl == NULL) {
		free(probe);
		return -ENOMEM;
	}
	trim_probes(directory, known, context);
	return 0;
}
