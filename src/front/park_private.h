#ifndef FRONT_PARK_PRIVATE_H
#define FRONT_PARK_PRIVATE_H

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cache/cache.h"
#include "tree/tree.h"

struct front;
struct front_file;

#define PARK_NAME_SIZE 256 /* The longest name and its NUL. */

/*
 * Requests that wait for the store.
 *
 *   STARTING --park_begun--> PARKED --park_answer_killed--> ANSWERED
 *      |                       |                               |
 *      +------ park_complete --+-------------------------------+--> DONE
 *
 * STARTING: the handler is inside the call that may wait; it is the only one
 * that may answer. PARKED: on the list, whoever takes it off this state
 * answers. ANSWERED: the caller was killed and has its EINTR; the completion
 * still comes and only gives back what it brought. DONE: about to be freed, by
 * the handler if it was still STARTING, else by the completion.
 *
 * Invariants:
 * 1. Each request is answered once, by whoever moved it out of STARTING or
 *    PARKED.
 * 2. `req` is not touched after that answer.
 * 3. The memory lives until the completion has come.
 */
enum park_state { PARK_STARTING, PARK_PARKED, PARK_ANSWERED, PARK_DONE };

struct parked {
	/* Set when taken. */
	struct front *front;
	fuse_req_t req;
	pid_t pid; /* The caller; 0: none that can be looked at. */
	/* Answers (if `answer`) and gives back what the request holds. */
	void (*finish)(struct parked *parked, bool answer);
	union {
		struct {
			struct tree_lookup lookup;
			char name[PARK_NAME_SIZE];
		} name;
		struct tree_opendir opendir;
		struct {
			struct tree_restore restore;
			struct fuse_file_info info;
		} open;
		struct {
			struct cache_read read;
			struct front_file *file; /* A reference. */
		} read;
	} u;
	_Atomic enum park_state state;
	/* Guarded by the parking's lock. */
	uint64_t serial;    /* Rises along the list. */
	uint64_t parked_ms; /* Since then. */
	bool interrupted;   /* The kernel said that a signal came. */
	struct parked *prev, *next;
};

struct parking {
	pthread_mutex_t lock;
	pthread_cond_t emptied;
	/* Guarded by `lock`. */
	struct parked *list;  /* In order of parking. */
	struct parked *spare; /* Free ones, kept for the next request. */
	size_t spare_count;
	size_t taken_count;
	uint64_t last_serial;
	bool watched; /* Somebody looks at the list until it is empty. */
	bool closed;
};

void parking_init(struct parking *parking);
/* Nothing is taken any more. */
void parking_finish(struct parking *parking);

/* From now on park_take gives NULL. */
void parking_close(struct parking *parking);
/* Until all have been given back, for at most `timeout_ms`. True when none is
 * left. */
bool parking_wait_empty(struct parking *parking, uint64_t timeout_ms);

/* A request in state STARTING; NULL without memory, or when closed. */
struct parked *park_take(struct front *front, fuse_req_t req,
		void (*finish)(struct parked *parked, bool answer));
/*
 * What the call that was begun returned. -EINPROGRESS: parks the request, or
 * answers it if the completion was faster. 0: answers it. `parked` is not the
 * caller's any more.
 */
void park_begun(struct parked *parked, int result);
/* The completion. Any thread. */
void park_complete(struct parked *parked);

/* The request that `part` is at `offset` of. */
static inline struct parked *park_of(void *part, size_t offset)
{
	return (struct parked *)((char *)part - offset);
}

/* The kernel's FUSE_INTERRUPT for `req`; true when it is a parked one. */
bool park_note_interrupt(struct parking *parking, const void *req);

struct park_suspect {
	uint64_t serial;
	pid_t pid;
};
/* Requests with a serial above `after` that were interrupted or wait since
 * before `before_ms`: at most `count`. */
size_t park_list_suspects(struct parking *parking, uint64_t after,
		uint64_t before_ms, struct park_suspect *out, size_t count);
/* Whether any request is parked; if not, the next one wakes
 * the watcher. */
bool park_keep_watching(struct parking *parking);
/* Answers EINTR, if that request still waits. */
void park_answer_killed(struct parking *parking, uint64_t serial);

#endif
