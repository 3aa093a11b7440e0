#ifndef FRONT_HOUSEKEEPER_PRIVATE_H
#define FRONT_HOUSEKEEPER_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct front;
struct housekeeper_entry;

/*
 * What must not be done by a thread that serves requests: telling the kernel
 * to forget a name (it may wait for a lookup in the same directory, which
 * waits for us), and the mount's read-ahead.
 */
struct housekeeper {
	struct front *front; /* Borrowed. */
	pthread_t thread;
	bool running; /* The owner's. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by `lock`. */
	struct housekeeper_entry *entries;
	size_t entry_count;
	bool ready; /* The mount answers; on_ready was not called yet. */
	bool ended;
	/* Housekeeper thread only. */
	bool readahead_works;
	unsigned readahead_kib;
};

void housekeeper_init(struct housekeeper *housekeeper, struct front *front);
int housekeeper_start(struct housekeeper *housekeeper);
void housekeeper_stop(struct housekeeper *housekeeper);
void housekeeper_finish(struct housekeeper *housekeeper);

/* The mount answers: sets the read-ahead and calls on_ready. */
void housekeeper_note_ready(struct housekeeper *housekeeper);

/* The kernel is to forget this name. Takes over `name`. Never waits; beyond a
 * limit it is dropped, since open() of a stale inode makes the kernel look
 * again anyway. */
void housekeeper_invalidate(
		struct housekeeper *housekeeper, uint64_t parent, char *name);

#endif
