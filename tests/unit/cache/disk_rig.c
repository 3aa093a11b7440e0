#include "disk_rig.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "store/object.h"
#include "store/ops.h"

void disk_rig_init_at(struct disk_rig *rig, const char *parent)
{
	*rig = (struct disk_rig){.tier = NULL};
	(void)snprintf(rig->dir, sizeof(rig->dir), "%s/shardfs-disk-XXXXXX",
			parent);
	if (mkdtemp(rig->dir) == NULL) {
		abort();
	}
	rig->settings = (struct disk_tier_settings){
			.counters = &rig->counters,
			.dir = rig->dir,
			.limit_bytes = RIG_LIMIT,
			.verify = DISK_VERIFY_ONCE,
	};
}

void disk_rig_init(struct disk_rig *rig)
{
	disk_rig_init_at(rig, "/dev/shm");
}

static int remove_one(const char *path, const struct stat *status, int type,
		struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	(void)remove(path);
	return 0;
}

void disk_rig_finish(struct disk_rig *rig)
{
	disk_rig_close(rig);
	(void)nftw(rig->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int disk_rig_open(struct disk_rig *rig)
{
	return disk_tier_open(&rig->settings, &rig->tier, rig->message,
			sizeof(rig->message));
}

void disk_rig_close(struct disk_rig *rig)
{
	disk_tier_close(rig->tier);
	rig->tier = NULL;
}

/* Stores that only have a name, which is all that the tier asks for. */
static struct store *find_store(const char *name)
{
	static struct store stores[] = {
			{.name = "mem://bucket", .prefix = ""},
			{.name = "mem://other", .prefix = ""},
	};
	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
		if (strcmp(stores[i].name, name) == 0) {
			return &stores[i];
		}
	}
	abort();
}

struct disk_object *disk_rig_version(struct disk_rig *rig, const char *source,
		const char *key, const char *etag, uint64_t size)
{
	struct object *version = object_create(
			find_store(source), key, etag, size, 1700000000);
	struct disk_object *object = NULL;
	version->cacheable = true;
	if (disk_object_open(rig->tier, version, &object) != 0) {
		object = NULL;
	}
	object_unref(version);
	return object;
}

struct disk_object *disk_rig_object(
		struct disk_rig *rig, const char *key, uint64_t size)
{
	return disk_rig_version(rig, "mem://bucket", key, "\"1\"", size);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t seed_of(const char *key)
{
	uint64_t seed = 88172645463325252;
	for (; *key != '\0'; key++) {
		seed = mix(seed ^ (unsigned char)*key);
	}
	return seed;
}

static size_t block_bytes(uint64_t size, uint64_t block)
{
	uint64_t left = size - block * BLOCK_SIZE;
	return left < BLOCK_SIZE ? (size_t)left : BLOCK_SIZE;
}

static void fill_block(const char *key, uint64_t block, uint64_t *out)
{
	uint64_t seed = seed_of(key) + block * (BLOCK_SIZE / sizeof(uint64_t));
	for (size_t i = 0; i < BLOCK_SIZE / sizeof(uint64_t); i++) {
		out[i] = mix(seed + i);
	}
}

struct buffers {
	char *memory;
	void **blocks;
};

static struct buffers take_buffers(size_t count)
{
	struct buffers buffers = {
			.memory = aligned_alloc(4096, count * BLOCK_SIZE),
			.blocks = calloc(count, sizeof(void *)),
	};
	if (buffers.memory == NULL || buffers.blocks == NULL) {
		abort();
	}
	for (size_t i = 0; i < count; i++) {
		buffers.blocks[i] = buffers.memory + i * BLOCK_SIZE;
	}
	return buffers;
}

static void give_buffers(struct buffers *buffers)
{
	free(buffers->memory);
	free(buffers->blocks);
}

int disk_rig_write(struct disk_object *object, const char *key, uint64_t size,
		uint64_t first, size_t count)
{
	struct buffers buffers = take_buffers(count);
	uint32_t *sums = calloc(count, sizeof(*sums));
	if (sums == NULL) {
		abort();
	}
	for (size_t i = 0; i < count; i++) {
		fill_block(key, first + i, buffers.blocks[i]);
		uint64_t left = size - (first + i) * BLOCK_SIZE;
		sums[i] = digest_crc32c(buffers.blocks[i],
				left < BLOCK_SIZE ? left : BLOCK_SIZE);
	}
	int error = disk_object_write(
			object, first, count, buffers.blocks, sums);
	free(sums);
	give_buffers(&buffers);
	return error;
}

int disk_rig_read(struct disk_object *object, const char *key, uint64_t size,
		uint64_t first, size_t count)
{
	struct buffers buffers = take_buffers(count);
	memset(buffers.memory, 0x5a, count * BLOCK_SIZE);
	int error = disk_object_read(object, first, count, buffers.blocks);
	static _Thread_local uint64_t right[BLOCK_SIZE / sizeof(uint64_t)];
	for (size_t i = 0; error == 0 && i < count; i++) {
		fill_block(key, first + i, right);
		if (memcmp(right, buffers.blocks[i],
				    block_bytes(size, first + i)) != 0) {
			error = -EBADMSG;
		}
	}
	give_buffers(&buffers);
	return error;
}

long disk_rig_check(struct disk_object *object, const char *key, uint64_t size)
{
	long right = 0;
	for (uint64_t i = 0; i * BLOCK_SIZE < size; i++) {
		if (!disk_object_has(object, i)) {
			continue;
		}
		int error = disk_rig_read(object, key, size, i, 1);
		if (error == -EBADMSG) {
			return error;
		}
		right += error == 0;
	}
	return right;
}

static _Thread_local uint64_t du_bytes;
static _Thread_local size_t file_count;
static _Thread_local char *file_path;
static _Thread_local size_t file_path_size;

static int count_one(const char *path, const struct stat *status, int type,
		struct FTW *walk)
{
	du_bytes += (uint64_t)status->st_blocks * 512;
	if (type == FTW_F && strlen(path + walk->base) == 64) {
		file_count++;
		if (file_path != NULL) {
			(void)snprintf(file_path, file_path_size, "%s", path);
		}
	}
	return 0;
}

static void walk_tree(const char *dir)
{
	du_bytes = 0;
	file_count = 0;
	(void)nftw(dir, count_one, 16, FTW_PHYS);
	file_path = NULL;
}

uint64_t disk_rig_du(const char *dir)
{
	walk_tree(dir);
	return du_bytes;
}

bool disk_rig_is_over(const char *dir, uint64_t limit)
{
	for (int i = 0; i < 5; i++) {
		if (disk_rig_du(dir) <= limit) {
			return false;
		}
	}
	return true;
}

size_t disk_rig_file_count(const struct disk_rig *rig)
{
	walk_tree(rig->dir);
	return file_count;
}

bool disk_rig_data_file(const struct disk_rig *rig, char *out, size_t size)
{
	file_path = out;
	file_path_size = size;
	walk_tree(rig->dir);
	return file_count > 0;
}

bool disk_rig_exists(const struct disk_rig *rig, const char *name_prefix)
{
	DIR *entries = opendir(rig->dir);
	bool found = false;
	const struct dirent *entry;
	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		found = found || strncmp(entry->d_name, name_prefix,
						 strlen(name_prefix)) == 0;
	}
	if (entries != NULL) {
		(void)closedir(entries);
	}
	return found;
}

static sqlite3 *connect_index(const struct disk_rig *rig)
{
	char path[256];
	(void)snprintf(path, sizeof(path), "%s/v1/index.sqlite", rig->dir);
	sqlite3 *database = NULL;
	if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) !=
			SQLITE_OK) {
		abort();
	}
	(void)sqlite3_busy_timeout(database, 2000);
	return database;
}

int disk_rig_sql(const struct disk_rig *rig, const char *sql)
{
	sqlite3 *database = connect_index(rig);
	int result = sqlite3_exec(database, sql, NULL, NULL, NULL);
	(void)sqlite3_close(database);
	return result;
}

int64_t disk_rig_sql_number(const struct disk_rig *rig, const char *sql)
{
	sqlite3 *database = connect_index(rig);
	sqlite3_stmt *statement = NULL;
	int64_t value = -1;
	if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) ==
					SQLITE_OK &&
			sqlite3_step(statement) == SQLITE_ROW) {
		value = sqlite3_column_int64(statement, 0);
	}
	(void)sqlite3_finalize(statement);
	(void)sqlite3_close(database);
	return value;
}
