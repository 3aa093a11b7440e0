#include "base/workers.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"

struct workers {
	/* Set at creation. */
	size_t thread_count;
	pthread_t *threads;
	pthread_mutex_t lock;
	pthread_cond_t wake;

	/* Guarded by lock. */
	struct workers_task *first;
	struct workers_task **last_next;
	bool stopping;
};

/* The kernel keeps 15 characters of a name. */
static void set_name(pthread_t thread, const char *name)
{
	char shortened[16] = {0};
	for (size_t i = 0; i < sizeof(shortened) - 1 && name[i] != '\0'; i++) {
		shortened[i] = name[i];
	}
	(void)pthread_setname_np(thread, shortened); /* For ps only. */
}

/* Signals belong to the thread that waits for them, so a new thread inherits
 * a full mask. */
int workers_start_thread(const char *name, void *(*main)(void *), void *context,
		unsigned long *out_thread)
{
	sigset_t all;
	sigset_t before;
	(void)sigfillset(&all);
	int error = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (error != 0) {
		return -error;
	}
	pthread_t thread;
	error = pthread_create(&thread, NULL, main, context);
	/* Restores a mask that was valid before. */
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0) {
		return -error;
	}
	set_name(thread, name);
	*out_thread = thread;
	return 0;
}

/* The next task, or NULL when the pool stops and none is left. */
static struct workers_task *next_task(struct workers *workers)
{
	LOCK_SCOPE(&workers->lock);
	while (workers->first == NULL && !workers->stopping) {
		(void)pthread_cond_wait(&workers->wake, &workers->lock);
	}
	struct workers_task *task = workers->first;
	if (task == NULL) {
		return NULL;
	}
	workers->first = task->next;
	if (workers->first == NULL) {
		workers->last_next = &workers->first;
	}
	return task;
}

static void *run_tasks(void *context)
{
	struct workers *workers = context;
	struct workers_task *task = next_task(workers);

	while (task != NULL) {
		task->run(task); /* May free the task. */
		task = next_task(workers);
	}
	return NULL;
}

int workers_create(const char *name, size_t thread_count,
		struct workers **out_workers)
{
	assert(thread_count > 0);
	struct workers *workers = calloc(1, sizeof(*workers));
	if (workers == NULL) {
		return -ENOMEM;
	}
	workers->last_next = &workers->first;
	(void)pthread_mutex_init(&workers->lock, NULL); /* No attributes. */
	(void)pthread_cond_init(&workers->wake, NULL);
	workers->threads = calloc(thread_count, sizeof(*workers->threads));
	if (workers->threads == NULL) {
		workers_destroy(workers);
		return -ENOMEM;
	}
	while (workers->thread_count < thread_count) {
		pthread_t *thread = &workers->threads[workers->thread_count];
		int error = workers_start_thread(
				name, run_tasks, workers, thread);
		if (error != 0) {
			workers_destroy(workers);
			return error;
		}
		workers->thread_count++;
	}
	*out_workers = workers;
	return 0;
}

static void stop(struct workers *workers)
{
	LOCK_SCOPE(&workers->lock);
	workers->stopping = true;
	(void)pthread_cond_broadcast(&workers->wake);
}

void workers_destroy(struct workers *workers)
{
	if (workers == NULL) {
		return;
	}
	stop(workers);
	for (size_t i = 0; i < workers->thread_count; i++) {
		(void)pthread_join(workers->threads[i], NULL);
	}
	free(workers->threads);
	(void)pthread_cond_destroy(&workers->wake);
	(void)pthread_mutex_destroy(&workers->lock);
	free(workers);
}

void workers_submit(struct workers *workers, struct workers_task *task)
{
	LOCK_SCOPE(&workers->lock);
	task->next = NULL;
	*workers->last_next = task;
	workers->last_next = &task->next;
	(void)pthread_cond_signal(&workers->wake);
}
