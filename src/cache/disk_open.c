#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cache/disk_place_private.h"
#include "cache/disk_private.h"

#define LOG_MODULE "cache"

/* How long the index thread waits for another process's transaction, and how
 * long a reader does, for which that is rare. */
#define WRITER_BUSY_MS 2000
#define READER_BUSY_MS 100

static int explain(int error, const char *path, const char *what, char *message,
		size_t message_size)
{
	char text[128];
	(void)snprintf(message, message_size, "%s: %s: %s", path, what,
			strerror_r(-error, text, sizeof(text)));
	return error;
}

static int open_place(struct disk_tier *tier, const char *path,
		bool trust_network_fs, char *message, size_t message_size)
{
	int fd = -1;
	int error = disk_place_open(
			path, trust_network_fs, &fd, message, message_size);
	if (error != 0) {
		return error;
	}
	error = disk_dir_open(&tier->dir, fd);
	if (error != 0) {
		return explain(error, path, "cannot lock the cache directory",
				message, message_size);
	}
	return 0;
}

/* A default directory may be on a disk that does not suit, or not be ours. */
static int open_fallback(struct disk_tier *tier, const char *reason,
		char *message, size_t message_size)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/var/tmp/shardfs-%lu",
			(unsigned long)geteuid());
	int error = open_place(tier, path, false, message, message_size);
	if (error == 0) {
		log_info("the cache is in another place: dir=%s reason=%s",
				tier->dir.path, reason);
	}
	return error;
}

int disk_open_directory(struct disk_tier *tier,
		const struct disk_tier_settings *settings, char *message,
		size_t message_size)
{
	if (!settings->dir_is_default) {
		return open_place(tier, settings->dir,
				settings->trust_network_fs, message,
				message_size);
	}
	if (disk_place_is_poor(settings->dir)) {
		return open_fallback(tier,
				"the default is on a network file system or in"
				" memory",
				message, message_size);
	}
	int error = open_place(tier, settings->dir, settings->trust_network_fs,
			message, message_size);
	if (error != 0) {
		char reason[512];
		(void)snprintf(reason, sizeof(reason), "%s", message);
		error = open_fallback(tier, reason, message, message_size);
	}
	return error;
}

static int connect_both(struct disk_tier *tier)
{
	int error = disk_dir_enter(&tier->dir);
	if (error != 0) {
		return error;
	}
	CLEANUP_FREE char *path = disk_dir_index_path(&tier->dir, "v1");
	if (path == NULL) {
		return -ENOMEM;
	}
	error = index_open(path, INDEX_WRITER, WRITER_BUSY_MS, &tier->writer);
	if (error == 0) {
		error = index_open(path, INDEX_READER, READER_BUSY_MS,
				&tier->reader);
	}
	if (error != 0) {
		index_close(tier->writer);
		tier->writer = NULL;
	}
	return error;
}

static uint64_t default_limit(const struct disk_tier *tier)
{
	struct space_disk disk = {.available_bytes = 0};
	(void)space_look(tier->dir.fd, &disk); /* Then the least limit. */
	struct space_default facts = {
			.available_bytes = disk.available_bytes,
			.on_root = disk_dir_is_on_root(&tier->dir),
	};
	return space_default_limit(&facts);
}

/* What says that the index is not one to work with, rather than that it
 * cannot be worked with just now. */
static bool is_untrusted(int error)
{
	return error == -EUCLEAN || error == -EIO || error == -ENOENT ||
	       error == -ENOTDIR || error == -ELOOP;
}

static int begin_anew(struct disk_tier *tier, uint64_t limit_bytes)
{
	int error = disk_dir_begin_index(&tier->dir,
			limit_bytes != 0 ? limit_bytes : default_limit(tier));
	return error == 0 ? connect_both(tier) : error;
}

static int open_alone(struct disk_tier *tier, uint64_t limit_bytes)
{
	if (!disk_dir_has_index(&tier->dir)) {
		return begin_anew(tier, limit_bytes);
	}
	int error = disk_dir_is_distrusted(&tier->dir) ? -EUCLEAN
						       : connect_both(tier);
	if (!is_untrusted(error)) {
		return error;
	}
	error = disk_dir_set_aside(&tier->dir);
	if (error != 0) {
		return error;
	}
	log_warn("the index of the cache could not be trusted and was set"
		 " aside; the cache begins empty: dir=%s",
			tier->dir.path);
	return begin_anew(tier, limit_bytes);
}

int disk_open_index(struct disk_tier *tier, uint64_t limit_bytes, char *message,
		size_t message_size)
{
	int error;
	if (tier->dir.alone) {
		error = open_alone(tier, limit_bytes);
	} else if (disk_dir_is_distrusted(&tier->dir)) {
		error = -EUCLEAN;
	} else {
		error = connect_both(tier);
	}
	if (error == 0 && limit_bytes != 0) {
		error = index_begin(tier->writer);
		if (error == 0) {
			error = index_set_limit(tier->writer, limit_bytes);
		}
		if (error == 0) {
			error = index_commit(tier->writer);
		}
	}
	if (error != 0) {
		const char *what = tier->dir.alone ? "cannot use the index of"
						     " the cache"
						   : "cannot use the index of"
						     " the cache while another"
						     " mount has it";
		return explain(error, tier->dir.path, what, message,
				message_size);
	}
	return 0;
}

int disk_open_holder(struct disk_tier *tier)
{
	uint8_t random[(INDEX_HOLDER_SIZE - 1) / 2];
	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		return -EIO;
	}
	digest_hex(random, sizeof(random), tier->holder);
	int error = disk_dir_make_holder(
			&tier->dir, tier->holder, &tier->holder_fd);
	if (error != 0) {
		return error;
	}
	error = index_begin(tier->writer);
	if (error == 0) {
		error = index_add_holder(tier->writer, tier->holder);
		if (error == 0) {
			error = index_commit(tier->writer);
		}
		if (error != 0) {
			index_rollback(tier->writer);
		}
	}
	return error;
}
