#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stack.h"
#include "store/object.h"
#include "store/testing.h"
#include "stream/stream.h"

/* Many readers, little memory, with and without a disk. */

struct reader {
	pthread_t thread;
	struct stack *stack;
	struct stream_file *file;
	char key[16];
	uint64_t size, step;
	unsigned rounds;
	int error;
};

static void *read_file(void *context)
{
	struct reader *reader = context;

	for (unsigned i = 0; i < reader->rounds && !reader->error; i++) {
		reader->error = stack_read_all(reader->file, reader->key, 0,
				reader->size, reader->step);
	}
	return NULL;
}

static void run(struct stack *stack, size_t count, uint64_t size, bool shared)
{
	static const uint64_t steps[] = {64 * KIB, 128 * KIB, MIB, 100000};
	struct reader *readers = calloc(count, sizeof(*readers));

	for (size_t i = 0; i < count; i++) {
		struct reader *reader = &readers[i];

		*reader = (struct reader){.stack = stack,
				.size = size,
				.step = steps[i % 4],
				.rounds = 2};
		(void)snprintf(reader->key, sizeof(reader->key), "key%zu",
				shared ? 0 : i);
		reader->file = stack_open_file(stack, reader->key, size);
	}
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(pthread_create(&readers[i].thread, NULL, read_file,
					     &readers[i]),
				0);
	}
	for (size_t i = 0; i < count; i++) {
		(void)pthread_join(readers[i].thread, NULL);
		cr_expect_eq(readers[i].error, 0, "reader %zu: %d", i,
				readers[i].error);
		stream_file_close(readers[i].file);
	}
	free(readers);
}

Test(pressure, readers_of_64_files_in_16_mib_get_the_right_bytes)
{
	struct stack stack;

	stack_open(&stack, &(struct stack_options){.memory_bytes = 16 * MIB});
	run(&stack, 64, 3 * MIB / 2, false);
	run(&stack, 64, 5 * MIB, false);
	stack_close(&stack);
}

Test(pressure, readers_of_one_file_in_16_mib_get_the_right_bytes)
{
	struct stack stack;

	stack_open(&stack, &(struct stack_options){.memory_bytes = 16 * MIB});
	run(&stack, 32, 20 * MIB, true);
	stack_close(&stack);
}

Test(pressure, with_a_disk_too)
{
	struct stack stack;

	stack_open(&stack, &(struct stack_options){.memory_bytes = 16 * MIB,
					   .disk = true});
	run(&stack, 64, 3 * MIB / 2, false);
	run(&stack, 8, 20 * MIB, true);
	stack_close(&stack);
}

Test(pressure, six_hundred_open_files_share_16_mib)
{
	struct stack stack;
	struct stream_file *files[600];
	char keys[600][16];

	stack_open(&stack, &(struct stack_options){.memory_bytes = 16 * MIB});
	for (size_t i = 0; i < 600; i++) {
		(void)snprintf(keys[i], sizeof(keys[i]), "key%zu", i);
		files[i] = stack_open_file(&stack, keys[i], 32 * MIB);
	}
	for (uint64_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < 600; i++) {
			cr_assert_eq(stack_read(files[i], keys[i],
						     round * 128 * KIB,
						     128 * KIB),
					0);
		}
	}
	for (size_t i = 0; i < 600; i++) {
		stream_file_close(files[i]);
	}
	stack_close(&stack);
}

Test(pressure, a_read_waits_for_memory_while_the_store_is_silent)
{
	struct stack stack;

	stack_open(&stack, &(struct stack_options){.memory_bytes = 16 * MIB});
	memory_store_hold(stack.store);
	struct reader readers[24];
	for (size_t i = 0; i < 24; i++) {
		readers[i] = (struct reader){.stack = &stack,
				.size = 8 * MIB,
				.step = MIB,
				.rounds = 1};
		(void)snprintf(readers[i].key, sizeof(readers[i].key), "key%zu",
				i);
		readers[i].file = stack_open_file(
				&stack, readers[i].key, 8 * MIB);
		cr_assert_eq(pthread_create(&readers[i].thread, NULL, read_file,
					     &readers[i]),
				0);
	}
	while (counters_get(&stack.counters.memory_waiters) == 0) {
		(void)sched_yield();
	}
	memory_store_release(stack.store);
	for (size_t i = 0; i < 24; i++) {
		(void)pthread_join(readers[i].thread, NULL);
		cr_expect_eq(readers[i].error, 0);
		stream_file_close(readers[i].file);
	}
	stack_close(&stack);
}

/* ---- Disk ---- */

Test(pressure, what_is_on_disk_is_not_fetched_again)
{
	struct stack stack;

	stack_open(&stack, &(struct stack_options){.disk = true});
	for (int epoch = 0; epoch < 3; epoch++) {
		struct stream_file *file =
				stack_open_file(&stack, "a", 20 * MIB + 5);
		cr_assert_eq(stack_read(file, "a", 0, 20 * MIB + 5), 0);
		stream_file_close(file);
	}
	struct stack_asked asked = stack_asked(&stack);
	cr_assert_eq(asked.bytes, 20 * MIB + 5);
	struct stream_file *file = stack_open_file(&stack, "a", 20 * MIB + 5);
	for (int i = 0; i < 500 &&
			stream_file_cached_bytes(file) < 20 * MIB + 5;
			i++) {
		cr_assert_eq(stack_read(file, "a", 0, 1), 0);
		struct timespec pause = {.tv_nsec = 10000000};
		(void)nanosleep(&pause, NULL);
	}
	cr_assert_eq(stream_file_cached_bytes(file), 20 * MIB + 5);
	/* A store that is gone is not missed. */
	memory_store_remove(stack.store, "a");
	cr_assert_eq(stack_read(file, "a", 0, 20 * MIB + 5), 0);
	cr_assert_eq(counters_get(&stack.counters.memory_used_bytes), 0);
	stream_file_close(file);
	stack_close(&stack);
}
