#ifndef FRONT_FAKES_H
#define FRONT_FAKES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A tree and streams that do as the test says, in place of the rooms below.
 *
 * The root has "big" (300,000 bytes), "empty", "gone" (known to have changed)
 * and the directory "dir" with `entry_count` files "e0000"...
 */
enum {
	FAKE_BIG = 16,
	FAKE_EMPTY = 17,
	FAKE_GONE = 18,
	FAKE_DIR = 19,
	FAKE_ARCHIVED = 20,
	FAKE_RESTORED = 21,
	FAKE_FIRST_ENTRY = 100,
};

#define FAKE_BIG_SIZE ((uint64_t)300000)
#define FAKE_VALID_MS 2500

struct fakes {
	/* Given by the test. */
	size_t entry_count;
	atomic_bool hold;	    /* Lookups, opendirs and reads wait. */
	atomic_bool complete_early; /* They end before the call returns. */
	atomic_int error;	    /* What they end with. */
	atomic_uint newer; /* Added to inodes by readdirplus: a newer listing.
			    */
	/* Seen. */
	atomic_uint lookup_calls, read_calls;
	atomic_uint open_dirs, open_streams, unreleased_reads;
	atomic_uint opens, closes, marked;
	_Atomic int64_t lookups[FAKE_FIRST_ENTRY + 1000]; /* By inode. */
};

extern struct fakes fakes;

void fakes_reset(void);
/* Waits until `count` calls are held; false after 5 s. */
bool fakes_wait_held(size_t count);
/* Completes what is held, on the calling thread. */
void fakes_release(int error);
uint8_t fakes_byte(uint64_t offset);

#endif
