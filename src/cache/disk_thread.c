#include <errno.h>
#include <time.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/workers.h"
#include "cache/disk_private.h"

/*
 * The index thread: the only one that changes the index. Runs tasks in the
 * order they came and, between them, writes rows and times in batches.
 */

#define BATCH_MS 100
#define QUEUE_MAX 256u
#define IDLE_GRANT_MS 5000

static int init_queue(struct disk_queue *queue)
{
	*queue = (struct disk_queue){.tasks = NULL};
	pthread_condattr_t attributes;
	if (pthread_condattr_init(&attributes) != 0) {
		return -ENOMEM;
	}
	int error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (error == 0) {
		error = pthread_cond_init(&queue->work, &attributes);
	}
	(void)pthread_condattr_destroy(&attributes);
	if (error != 0) {
		return -error;
	}
	error = pthread_cond_init(&queue->done, NULL);
	if (error == 0) {
		error = pthread_mutex_init(&queue->lock, NULL);
	}
	return -error;
}

static struct timespec batch_deadline(void)
{
	struct timespec at;
	(void)clock_gettime(CLOCK_MONOTONIC, &at); /* Cannot fail. */
	at.tv_nsec += BATCH_MS * 1000000L;
	if (at.tv_nsec >= 1000000000L) {
		at.tv_nsec -= 1000000000L;
		at.tv_sec++;
	}
	return at;
}

/* Waits for a task, a full batch or the end of the interval. */
static struct disk_task *next_task(struct disk_queue *queue, bool *out_stop)
{
	struct timespec deadline = batch_deadline();
	LOCK_SCOPE(&queue->lock);
	while (queue->tasks == NULL && !queue->rows_are_many &&
			!queue->stopping) {
		if (pthread_cond_timedwait(&queue->work, &queue->lock,
				    &deadline) == ETIMEDOUT) {
			break;
		}
	}
	queue->rows_are_many = false;
	struct disk_task *task = queue->tasks;
	if (task != NULL) {
		DL_DELETE(queue->tasks, task);
		queue->unwaited_count -= !task->waited;
	}
	*out_stop = queue->stopping && task == NULL;
	return task;
}

static void run_task(struct disk_tier *tier, struct disk_task *task)
{
	bool waited = task->waited;
	task->run(tier, task); /* Frees the task unless someone waits. */
	if (waited) {
		LOCK_SCOPE(&tier->queue.lock);
		task->done = true;
		(void)pthread_cond_broadcast(&tier->queue.done);
	}
}

/* What has no task: rows, objects that were closed, space not used. */
static void do_rounds(struct disk_tier *tier)
{
	(void)disk_merge_all(tier); /* Rows that stay are tried again. */
	disk_merge_retire(tier);
	uint64_t idle_ms = clock_monotonic_ms() -
			   atomic_load(&tier->last_write_ms);
	if (idle_ms > IDLE_GRANT_MS && atomic_load(&tier->remaining) > 0) {
		(void)disk_grant_return(tier, 0); /* Or in the next round. */
	}
	if (!disk_dir_is_in_place(&tier->dir)) {
		disk_tier_turn_off(tier, "the directory was moved or removed");
	}
	if (!tier->swept) {
		tier->swept = !disk_dir_sweep(&tier->dir);
	}
}

static void *run_thread(void *context)
{
	struct disk_tier *tier = context;
	uint64_t rounds_ms = 0;
	bool stop = false;
	while (!stop) {
		struct disk_task *task = next_task(&tier->queue, &stop);
		if (task != NULL) {
			run_task(tier, task);
		}
		uint64_t now_ms = clock_monotonic_ms();
		if (task == NULL || now_ms - rounds_ms >= BATCH_MS) {
			do_rounds(tier);
			rounds_ms = now_ms;
		}
	}
	return NULL;
}

int disk_thread_start(struct disk_tier *tier)
{
	int error = init_queue(&tier->queue);
	if (error != 0) {
		return error;
	}
	unsigned long thread;
	error = workers_start_thread("index", run_thread, tier, &thread);
	if (error == 0) {
		tier->thread = thread;
		tier->has_thread = true;
	}
	return error;
}

void disk_thread_stop(struct disk_tier *tier)
{
	if (!tier->has_thread) {
		return;
	}
	{
		LOCK_SCOPE(&tier->queue.lock);
		tier->queue.stopping = true;
		(void)pthread_cond_signal(&tier->queue.work);
	}
	(void)pthread_join(tier->thread, NULL); /* Fails on our bugs only. */
	tier->has_thread = false;
	(void)pthread_cond_destroy(&tier->queue.work);
	(void)pthread_cond_destroy(&tier->queue.done);
	(void)pthread_mutex_destroy(&tier->queue.lock); /* As above. */
}

void disk_thread_call(struct disk_tier *tier, struct disk_task *task)
{
	struct disk_queue *queue = &tier->queue;
	task->waited = true;
	task->done = false;
	LOCK_SCOPE(&queue->lock);
	DL_APPEND(queue->tasks, task);
	(void)pthread_cond_signal(&queue->work);
	while (!task->done) {
		(void)pthread_cond_wait(&queue->done, &queue->lock);
	}
}

int disk_thread_submit(struct disk_tier *tier, struct disk_task *task)
{
	struct disk_queue *queue = &tier->queue;
	task->waited = false;
	LOCK_SCOPE(&queue->lock);
	if (queue->unwaited_count >= QUEUE_MAX) {
		return -ENOBUFS;
	}
	queue->unwaited_count++;
	DL_APPEND(queue->tasks, task);
	(void)pthread_cond_signal(&queue->work);
	return 0;
}

void disk_thread_rows_are_many(struct disk_tier *tier)
{
	LOCK_SCOPE(&tier->queue.lock);
	tier->queue.rows_are_many = true;
	(void)pthread_cond_signal(&tier->queue.work);
}
