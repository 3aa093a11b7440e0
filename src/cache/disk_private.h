#ifndef CACHE_DISK_PRIVATE_H
#define CACHE_DISK_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Without memory for a table something is not stored; the mount goes on. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "cache/data_file_private.h"
#include "cache/disk_dir_private.h"
#include "cache/disk_tier.h"
#include "cache/index_private.h"
#include "cache/space_private.h"

struct object;

/*
 * What the disk_*.c files share.
 *
 * Threads: readers (disk_object_open, _read, _touch), one writer
 * (disk_object_write) and the index thread, which alone changes the index,
 * takes space and makes holes. Locks, in order: objects_lock, an object's
 * lock, pending.lock, files.lock; each for a few instructions. reader_lock is
 * outermost of all and guards a connection only.
 *
 * Invariants:
 * 1. Bytes are written, then the row that says so; a bit in `present` is set
 *    only after the bytes and the queued row.
 * 2. A row is merged only if the object's row still has the id and generation
 *    the bytes were written under.
 * 3. The descriptor of an object with unmerged rows stays open: its lock keeps
 *    others from making holes under them.
 * 4. A hole is made only under the exclusive lock of the file, in a chunk that
 *    nobody in this process uses, after the row was cleared. The space it
 *    gives goes from the row to this process's grant in one transaction.
 * 5. `checked` bits are for the file that is open, or for one that nobody
 *    touched since it was.
 */

#define DISK_CHUNK_BLOCKS INDEX_CHUNK_BLOCKS

struct disk_chunk {
	_Atomic uint64_t present;
	_Atomic uint64_t checked;
	_Atomic uint64_t last_use; /* By the clock of bytes; 0: not by us. */
	atomic_bool touched;	   /* last_use is newer than the row's. */
	/* Guarded by the object's lock: */
	bool evicting;
	uint32_t pins; /* Reads and writes under way. */
};

struct disk_object {
	/* Set at creation: */
	struct disk_tier *tier;
	struct object *version; /* One reference; owns the key. */
	char *version_text;
	struct index_identity identity;
	uint64_t block_count;
	uint32_t chunk_count;
	bool storable;
	struct disk_chunk *chunks;
	/* Atomic: */
	_Atomic uint64_t opened; /* Clock at the last open. */
	atomic_bool touched;
	_Atomic uint32_t unmerged; /* Its rows in the table of pending ones. */
	/* Guarded by lock: */
	pthread_mutex_t lock;
	struct index_object row; /* id 0: none is known. */
	bool named;		 /* In this holder's `writing`. */
	/* Guarded by tier->objects_lock: */
	unsigned references; /* 0: the index thread retires it soon. */
	UT_hash_handle hh;
	/* Guarded by tier->files.lock: */
	int fd, direct_fd;
	unsigned users;
	bool opening, discard;
	bool has_stamp;
	struct data_file_stamp stamp;	 /* When it was last closed. */
	struct disk_object *prev, *next; /* Open files, last used last. */
};

/* Open data files, bounded: see disk_files.c. */
struct disk_files {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	struct disk_object *list;
	size_t count, max_count;
	bool no_direct; /* The file system refused O_DIRECT. */
};

/* Rows to be written: see disk_pending.c. */
struct disk_pending;
struct disk_pending_table {
	pthread_mutex_t lock;
	struct disk_pending *queued, *flushing;
};

/* Work for the index thread; the storage is the caller's. */
struct disk_task {
	void (*run)(struct disk_tier *tier, struct disk_task *task);
	bool done; /* Guarded by the queue's lock; for disk_thread_call. */
	bool waited;
	struct disk_task *prev, *next;
};

struct disk_queue {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct disk_task *tasks;
	size_t unwaited_count;
	bool rows_are_many; /* Enough rows wait to be worth a transaction. */
	bool stopping;
};

struct disk_tier {
	/* Set at creation: */
	struct counters *counters;
	enum disk_verify verify;
	struct space_floor floor;
	struct disk_dir dir;
	char holder[INDEX_HOLDER_SIZE];
	int holder_fd;
	pthread_t thread;
	bool has_thread;
	/* Guarded by reader_lock: */
	pthread_mutex_t reader_lock;
	struct index *reader;
	/* The index thread's: */
	struct index *writer;
	struct index_victim *victims;
	size_t victim_capacity, victim_count, victim_next;
	bool leaked;   /* Space was lost: the next user finds it again. */
	bool no_holes; /* The file system cannot make any. */
	bool swept;
	uint64_t next_settle_ms;
	/* Guarded by objects_lock: */
	pthread_mutex_t objects_lock;
	struct disk_object *objects;
	/* With locks of their own: */
	struct disk_files files;
	struct disk_pending_table pending;
	struct disk_queue queue;
	/* Atomic: */
	_Atomic uint64_t remaining; /* Granted and not yet used. */
	_Atomic uint64_t clock, demanded;
	_Atomic uint64_t paused_until_ms, last_write_ms;
	_Atomic uint64_t limit_bytes, used_bytes;
	atomic_bool off;
	unsigned long long warned; /* log_ratelimit */
};

/* disk_open.c */
int disk_open_directory(struct disk_tier *tier,
		const struct disk_tier_settings *settings, char *message,
		size_t message_size);
int disk_open_index(struct disk_tier *tier, uint64_t limit_bytes, char *message,
		size_t message_size);
int disk_open_holder(struct disk_tier *tier);

/* disk_trouble.c: trouble. Nothing is stored or found any more. */
void disk_tier_turn_off(struct disk_tier *tier, const char *reason);
/* The index gave this error: the tier goes off if it cannot be trusted. */
void disk_tier_judge_index(struct disk_tier *tier, int error);
/* Storing failed: it stops for a while, said at most once in ten seconds. */
void disk_tier_pause(struct disk_tier *tier, int error);
bool disk_tier_is_paused(struct disk_tier *tier);
static inline bool disk_tier_is_off(const struct disk_tier *tier)
{
	return atomic_load_explicit(&tier->off, memory_order_acquire);
}

/* disk_object.c */
struct disk_object *disk_object_find(struct disk_tier *tier,
		const uint8_t *name); /* With a reference, or NULL. */
void disk_object_ref(struct disk_object *object);
void disk_object_unref(struct disk_object *object);
void disk_object_destroy(struct disk_object *object);
/* Forgets all masks, then takes those of the index. The caller keeps readers
 * away. */
int disk_object_load(
		struct disk_object *object, const struct index_object *row);
void disk_object_clear(struct disk_object *object);
struct index_object disk_object_row(struct disk_object *object);
/* Bits of [first, first + count) that lie in chunk `number`. */
uint64_t disk_object_mask(uint64_t first, size_t count, uint32_t number);
/* All or none; -EAGAIN when one is being evicted. */
int disk_object_pin(struct disk_object *object, uint64_t first, size_t count);
void disk_object_unpin(
		struct disk_object *object, uint64_t first, size_t count);
bool disk_object_is_present(
		const struct disk_object *object, uint64_t first, size_t count);
size_t disk_object_block_bytes(
		const struct disk_object *object, uint64_t block);

/* disk_files.c */
int disk_files_init(struct disk_files *files, size_t max_count);
void disk_files_finish(struct disk_files *files);
/* Keeps the descriptor open until release; opens it when it is not. */
int disk_files_acquire(struct disk_object *object, bool create, int *out_fd);
void disk_files_release(struct disk_object *object);
/* Once more for a descriptor that is held already. */
void disk_files_hold(struct disk_object *object);
/* The O_DIRECT twin of a held descriptor, or -1. */
int disk_files_direct(struct disk_object *object);
/* The file is not to be used again: closed with its last release. */
void disk_files_discard(struct disk_object *object);
void disk_files_close(struct disk_object *object);

/* disk_pending.c */
int disk_pending_init(struct disk_pending_table *table);
void disk_pending_finish(struct disk_pending_table *table);
/* Blocks of `set` were written: `sums` has one for each of the 64. The caller
 * holds the file. -ENOBUFS when too many rows wait. */
int disk_pending_add(struct disk_object *object, uint32_t number, uint64_t set,
		const uint32_t *sums, uint64_t charged_bytes);
/* Blocks found bad. The caller holds the file. */
int disk_pending_drop(
		struct disk_object *object, uint32_t number, uint64_t mask);
/* Copies the sums of the blocks that wait; returns which. */
uint64_t disk_pending_sums(struct disk_object *object, uint32_t number,
		uint32_t sums[DISK_CHUNK_BLOCKS]);
bool disk_pending_has(struct disk_object *object, uint32_t number);

/* disk_merge.c, index thread: writes queued rows and times. */
int disk_merge_all(struct disk_tier *tier);
/* Frees objects that nobody has open. */
void disk_merge_retire(struct disk_tier *tier);

/* disk_thread.c */
int disk_thread_start(struct disk_tier *tier);
void disk_thread_stop(struct disk_tier *tier);
/* Runs the task on the index thread and waits for it. */
void disk_thread_call(struct disk_tier *tier, struct disk_task *task);
/* Does not wait; run() frees the task. -ENOBUFS when too many wait. */
int disk_thread_submit(struct disk_tier *tier, struct disk_task *task);
void disk_thread_rows_are_many(struct disk_tier *tier);

/* disk_grant.c: takes `bytes` for a write of [first, first + count). Makes
 * the object's row. Any thread but the index thread. */
int disk_grant_take(struct disk_object *object, uint64_t first, size_t count,
		uint64_t bytes);
/* A write failed: finds out what it left behind. */
void disk_grant_recover(struct disk_object *object, uint64_t bytes);
/* Index thread: */
int disk_grant_enforce(struct disk_tier *tier);
int disk_grant_return(struct disk_tier *tier, uint64_t keep_bytes);
void disk_grant_refresh(struct disk_tier *tier);

/* disk_hold.c, index thread: the exclusive lock of a data file, open in this
 * process or not. */
struct disk_hold {
	struct disk_object *object; /* NULL: not open here. */
	int fd;
};
/* -EAGAIN: another process has it. -ENOENT, -ESTALE: see data_file_open. */
int disk_hold_take(struct disk_tier *tier, const uint8_t *name, uint64_t size,
		struct disk_hold *out_hold);
void disk_hold_release(struct disk_hold *hold);

/* disk_evict.c, index thread. */
struct disk_want {
	struct disk_object *object; /* NULL: for nothing in particular. */
	uint64_t first;
	size_t count;
	bool whole_file;  /* A file must go, not only bytes. */
	bool last_resort; /* Even what was used since it was listed. */
};
/* Frees one chunk or file, the least recently used that can be had. -ENOENT
 * when there is none. */
int disk_evict_one(struct disk_tier *tier, const struct disk_want *want);
/* Whether the rows are of a file that was removed by hand: what lies there now
 * was made anew and has no bytes. */
bool disk_evict_is_lost(
		struct index *index, const struct index_object *row, int fd);
/* Removes rows of a file that is missing, cut or not a data file. */
void disk_evict_forget(struct disk_tier *tier, const uint8_t *name);
/* Likewise, from any thread, later. */
void disk_evict_forget_later(struct disk_object *object);
/* Removes the row and the file of an object that has no blocks. */
int disk_evict_empty(struct disk_tier *tier, const uint8_t *name);

/* disk_reconcile.c, index thread. Frees bytes that no row knows. -EAGAIN when
 * another process has the file. */
int disk_reconcile_object(struct disk_tier *tier, const uint8_t *name);
/* Takes back what dead holders had. */
int disk_reconcile_holders(struct disk_tier *tier);

#endif
