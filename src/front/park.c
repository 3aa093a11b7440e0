#include "park_private.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "front_private.h"

#define SPARE_MAX 256

void parking_init(struct parking *parking)
{
	*parking = (struct parking){0};
	front_cond_init(&parking->emptied);
	(void)pthread_mutex_init(&parking->lock, NULL); /* Never fails. */
}

void parking_finish(struct parking *parking)
{
	struct parked *parked;
	struct parked *next;

	LL_FOREACH_SAFE (parking->spare, parked, next) {
		free(parked);
	}
	(void)pthread_cond_destroy(&parking->emptied);
	(void)pthread_mutex_destroy(&parking->lock);
}

void parking_close(struct parking *parking)
{
	LOCK_SCOPE(&parking->lock);
	parking->closed = true;
}

bool parking_wait_empty(struct parking *parking, uint64_t timeout_ms)
{
	struct timespec deadline = front_deadline(timeout_ms);
	LOCK_SCOPE(&parking->lock);
	int error = 0;

	while (parking->taken_count > 0 && error == 0) {
		error = pthread_cond_timedwait(
				&parking->emptied, &parking->lock, &deadline);
	}
	return parking->taken_count == 0;
}

struct parked *park_take(struct front *front, fuse_req_t req,
		void (*finish)(struct parked *parked, bool answer))
{
	struct parking *parking = &front->parking;
	struct parked *parked;
	{
		LOCK_SCOPE(&parking->lock);
		if (parking->closed) {
			return NULL;
		}
		parked = parking->spare;
		if (parked != NULL) {
			LL_DELETE(parking->spare, parked);
			parking->spare_count--;
		} else {
			parked = malloc(sizeof(*parked));
			if (parked == NULL) {
				return NULL;
			}
		}
		parking->taken_count++;
	}
	parked->front = front;
	parked->req = req;
	parked->pid = fuse_req_ctx(req)->pid;
	parked->finish = finish;
	parked->interrupted = false;
	parked->serial = 0;
	atomic_init(&parked->state, PARK_STARTING);
	return parked;
}

static void park_give(struct parked *parked)
{
	struct parking *parking = &parked->front->parking;
	LOCK_SCOPE(&parking->lock);

	parking->taken_count--;
	if (parking->taken_count == 0) {
		(void)pthread_cond_broadcast(&parking->emptied);
	}
	if (parking->spare_count >= SPARE_MAX) {
		free(parked);
		return;
	}
	LL_PREPEND(parking->spare, parked);
	parking->spare_count++;
}

static void answer_now(struct parked *parked)
{
	parked->finish(parked, true);
	park_give(parked);
}

static void take_off_list(struct parked *parked)
{
	struct parking *parking = &parked->front->parking;
	LOCK_SCOPE(&parking->lock);

	DL_DELETE(parking->list, parked);
}

/* libfuse calls this with the request's own lock held, perhaps just after the
 * request was answered elsewhere: so `req` is compared, never followed. */
static void on_interrupt(fuse_req_t req, void *data)
{
	front_note_interrupt(data, req);
}

static void settle(struct parked *parked)
{
	struct parking *parking = &parked->front->parking;
	struct front *front = parked->front;
	enum park_state expected = PARK_STARTING;
	bool first;
	parked->parked_ms = clock_monotonic_ms();
	{
		LOCK_SCOPE(&parking->lock);
		parked->serial = ++parking->last_serial;
		DL_APPEND(parking->list, parked);
		first = !parking->watched;
		parking->watched = true;
	}
	if (first) {
		interrupts_note(&front->interrupts);
	}
	/* While it is STARTING nobody else answers: `req` is alive. A signal
	 * that came before this is reported inside the call. */
	fuse_req_interrupt_func(parked->req, on_interrupt, parked->front);
	if (atomic_compare_exchange_strong(
			    &parked->state, &expected, PARK_PARKED)) {
		return;
	}
	take_off_list(parked);
	answer_now(parked);
}

void park_begun(struct parked *parked, int result)
{
	if (result == -EINPROGRESS) {
		settle(parked);
	} else {
		answer_now(parked);
	}
}

void park_complete(struct parked *parked)
{
	enum park_state before = atomic_exchange(&parked->state, PARK_DONE);

	if (before == PARK_STARTING) {
		return; /* The handler sees it in park_begun. */
	}
	take_off_list(parked);
	parked->finish(parked, before == PARK_PARKED);
	park_give(parked);
}

bool park_note_interrupt(struct parking *parking, const void *req)
{
	struct parked *parked;
	LOCK_SCOPE(&parking->lock);

	DL_FOREACH (parking->list, parked) {
		if (parked->req == req) {
			parked->interrupted = true;
			return true;
		}
	}
	return false;
}

size_t park_list_suspects(struct parking *parking, uint64_t after,
		uint64_t before_ms, struct park_suspect *out, size_t count)
{
	struct parked *parked;
	size_t found = 0;
	LOCK_SCOPE(&parking->lock);

	DL_FOREACH (parking->list, parked) {
		if (found == count) {
			break;
		}
		bool suspect = parked->interrupted ||
			       parked->parked_ms < before_ms;
		if (suspect && parked->serial > after) {
			out[found++] = (struct park_suspect){
					.serial = parked->serial,
					.pid = parked->pid,
			};
		}
	}
	return found;
}

bool park_keep_watching(struct parking *parking)
{
	LOCK_SCOPE(&parking->lock);
	parking->watched = parking->list != NULL;
	return parking->watched;
}

void park_answer_killed(struct parking *parking, uint64_t serial)
{
	struct parked *parked;
	fuse_req_t req = NULL;
	{
		LOCK_SCOPE(&parking->lock);
		DL_FOREACH (parking->list, parked) {
			enum park_state expected = PARK_PARKED;
			if (parked->serial == serial &&
					atomic_compare_exchange_strong(
							&parked->state,
							&expected,
							PARK_ANSWERED)) {
				req = parked->req;
				parked->interrupted = false;
				break;
			}
		}
	}
	if (req != NULL) {
		(void)fuse_reply_err(req, EINTR); /* It is being killed. */
	}
}
