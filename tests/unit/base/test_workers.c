#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/workers.h"

struct job {
	struct workers_task task;
	size_t number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static size_t order[1000];
static size_t done_count;
static bool gate_is_open;

static void note(struct workers_task *task)
{
	struct job *job = (struct job *)task;
	LOCK_SCOPE(&lock);
	order[done_count++] = job->number;
	pthread_cond_broadcast(&changed);
}

static void note_and_free(struct workers_task *task)
{
	note(task);
	free(task);
}

static void wait_at_gate(struct workers_task *task)
{
	{
		LOCK_SCOPE(&lock);
		while (!gate_is_open) {
			pthread_cond_wait(&changed, &lock);
		}
	}
	note(task);
}

static void open_gate(void)
{
	LOCK_SCOPE(&lock);
	gate_is_open = true;
	pthread_cond_broadcast(&changed);
}

Test(workers, one_thread_runs_tasks_in_the_order_given)
{
	struct workers *workers;
	static struct job jobs[1000];
	cr_assert_eq(workers_create("test", 1, &workers), 0);
	for (size_t i = 0; i < 1000; i++) {
		jobs[i] = (struct job){.task.run = note, .number = i};
		workers_submit(workers, &jobs[i].task);
	}
	workers_destroy(workers);
	cr_assert_eq(done_count, 1000);
	for (size_t i = 0; i < 1000; i++) {
		cr_assert_eq(order[i], i);
	}
}

Test(workers, destroy_runs_what_is_queued)
{
	struct workers *workers;
	struct job jobs[3] = {
			{.task.run = wait_at_gate, .number = 0},
			{.task.run = note, .number = 1},
			{.task.run = note, .number = 2},
	};
	cr_assert_eq(workers_create("test", 1, &workers), 0);
	for (size_t i = 0; i < 3; i++) {
		workers_submit(workers, &jobs[i].task);
	}
	open_gate();
	workers_destroy(workers);
	cr_assert_eq(done_count, 3);
}

Test(workers, a_blocked_task_leaves_the_other_threads_free)
{
	struct workers *workers;
	struct job blocked = {.task.run = wait_at_gate, .number = 7};
	struct job other = {.task.run = note, .number = 8};
	cr_assert_eq(workers_create("test", 2, &workers), 0);
	workers_submit(workers, &blocked.task);
	workers_submit(workers, &other.task);
	{
		LOCK_SCOPE(&lock);
		while (done_count < 1) {
			pthread_cond_wait(&changed, &lock);
		}
	}
	cr_assert_eq(order[0], 8);
	open_gate();
	workers_destroy(workers);
	cr_assert_eq(order[1], 7);
}

Test(workers, a_task_may_free_itself)
{
	struct workers *workers;
	cr_assert_eq(workers_create("test", 2, &workers), 0);
	for (size_t i = 0; i < 100; i++) {
		struct job *job = calloc(1, sizeof(*job));
		job->task.run = note_and_free;
		workers_submit(workers, &job->task);
	}
	workers_destroy(workers);
	cr_assert_eq(done_count, 100);
}

Test(workers, destroy_takes_null)
{
	workers_destroy(NULL);
}

static void *read_mask_and_name(void *context)
{
	static char name[16];
	sigset_t *mask = context;
	pthread_sigmask(SIG_SETMASK, NULL, mask);
	/* Named by the starter, maybe a little later. */
	do {
		pthread_getname_np(pthread_self(), name, sizeof(name));
	} while (strncmp(name, "a-name", 6) != 0);
	return name;
}

Test(workers, a_thread_has_its_name_cut_and_all_signals_blocked)
{
	sigset_t mask;
	unsigned long thread;
	cr_assert_eq(workers_start_thread("a-name-beyond-the-limit",
				     read_mask_and_name, &mask, &thread),
			0);
	void *name;
	pthread_join(thread, &name);
	cr_assert_str_eq(name, "a-name-beyond-t");
	cr_assert(sigismember(&mask, SIGTERM));
	cr_assert(sigismember(&mask, SIGINT));
	sigset_t own;
	pthread_sigmask(SIG_SETMASK, NULL, &own);
	cr_assert_not(sigismember(&own, SIGTERM));
}
