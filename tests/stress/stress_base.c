/*
 * Threads share one block pool, one set of workers, the log and the clock.
 * No block may have two owners, and each task must run once. Run it under
 * TSan.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/block_pool.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/workers.h"

#define LOG_MODULE "stress"
#define THREADS 4
#define ROUNDS 20000
#define BLOCKS 24

struct job {
	struct workers_task task;
	size_t count;
	void *blocks[7];
	const void *owner;
};

static struct block_pool *pool;
static struct workers *workers;
static atomic_size_t submitted;
static atomic_size_t run_count;
static atomic_bool wrong;
static unsigned long long ratelimit;

static bool is_owned(const struct job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		if (*(const void **)job->blocks[i] != job->owner) {
			return false;
		}
	}
	return true;
}

static void check_and_give(struct workers_task *task)
{
	struct job *job = (struct job *)task;
	if (!is_owned(job)) {
		atomic_store(&wrong, true);
	}
	block_pool_give(pool, job->blocks, job->count);
	atomic_fetch_add(&run_count, 1);
	free(job);
}

static void *take_many(void *context)
{
	unsigned seed = (unsigned)(size_t)context;

	for (size_t round = 0; round < ROUNDS; round++) {
		struct job *job = calloc(1, sizeof(*job));
		job->task.run = check_and_give;
		job->owner = job;
		job->count = 1 + (size_t)rand_r(&seed) % 7;
		if (block_pool_take(pool, job->count, round % 3, job->blocks) !=
				0) {
			free(job);
			if (log_ratelimit(&ratelimit, 1000)) {
				log_warn("pool is empty free=%zu",
						block_pool_free_count(pool));
			}
			clock_advance_ms(1);
			(void)sched_yield(); /* Always succeeds. */
			continue;
		}
		for (size_t i = 0; i < job->count; i++) {
			*(const void **)job->blocks[i] = job;
		}
		atomic_fetch_add(&submitted, 1);
		workers_submit(workers, &job->task);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	if (log_open(LOG_SINK_FILE, LOG_DEBUG, "/dev/null") != 0 ||
			block_pool_create(BLOCKS * BLOCK_SIZE, 4 * BLOCK_SIZE,
					&pool) != 0 ||
			workers_create("stress", 2, &workers) != 0) {
		return 1;
	}
	for (size_t i = 0; i < THREADS; i++) {
		(void)pthread_create(
				&threads[i], NULL, take_many, (void *)(i + 1));
	}
	for (size_t i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], NULL);
	}
	workers_destroy(workers);
	size_t left = block_pool_free_count(pool);
	block_pool_destroy(pool);
	log_close();
	printf("stress_base: %zu tasks, %zu run, %zu blocks free\n",
			atomic_load(&submitted), atomic_load(&run_count), left);
	bool right = atomic_load(&run_count) == atomic_load(&submitted) &&
		     left == BLOCKS && !atomic_load(&wrong);
	return right ? 0 : 1;
}
