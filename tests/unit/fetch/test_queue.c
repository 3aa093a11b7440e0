#include <criterion/criterion.h>
#include <stdlib.h>
#include <utlist.h>

#include "queue_private.h"
#include "store/object.h"

#define BLOCK 65536U

static struct queue queue;
static struct object objects[4];

static struct fetch_range range_of(
		size_t object, uint64_t block, uint64_t blocks, bool demand)
{
	return (struct fetch_range){
			.object = &objects[object],
			.offset = block * BLOCK,
			.length = blocks * BLOCK,
			.demand = demand,
	};
}

static void push(struct fetch_range *range)
{
	cr_assert_eq(queue_push(&queue, range, false), 0);
}

/* Takes a request and says how many ranges it carries. */
static unsigned pop(enum queue_class class, uint64_t limit_blocks,
		struct fetch_range **out_first, uint64_t *out_blocks)
{
	uint64_t bytes = 0;
	struct fetch_range *list =
			queue_pop(&queue, class, limit_blocks * BLOCK, &bytes);
	struct fetch_range *range = NULL;
	unsigned count = 0;
	uint64_t end = list == NULL ? 0 : range_start(list);
	DL_FOREACH (list, range) {
		cr_expect_eq(range_start(range), end, "a gap");
		end = range_end(range);
		count++;
	}
	*out_first = list;
	*out_blocks = bytes / BLOCK;
	return count;
}

Test(queue, neighbours_in_any_order_travel_together)
{
	struct fetch_range ranges[5];
	static const unsigned order[] = {2, 0, 4, 1, 3};
	for (size_t i = 0; i < 5; i++) {
		ranges[i] = range_of(0, order[i], 1, true);
		push(&ranges[i]);
	}
	struct fetch_range *first = NULL;
	uint64_t blocks = 0;
	cr_expect_eq(pop(QUEUE_DEMAND, 128, &first, &blocks), 5);
	cr_expect_eq(first, &ranges[1]);
	cr_expect_eq(blocks, 5);
	cr_expect_eq(queue.counts[QUEUE_DEMAND], 0);
	cr_expect_eq(pop(QUEUE_DEMAND, 128, &first, &blocks), 0);
}

Test(queue, a_gap_or_another_object_does_not_join)
{
	struct fetch_range a = range_of(0, 0, 1, true);
	struct fetch_range b = range_of(0, 2, 1, true);
	struct fetch_range c = range_of(1, 1, 1, true);
	push(&a);
	push(&b);
	push(&c);
	struct fetch_range *first = NULL;
	uint64_t blocks = 0;
	cr_expect_eq(pop(QUEUE_DEMAND, 128, &first, &blocks), 1);
	cr_expect_eq(first, &a);
	cr_expect_eq(pop(QUEUE_DEMAND, 128, &first, &blocks), 1);
	cr_expect_eq(first, &c);
	cr_expect_eq(pop(QUEUE_DEMAND, 128, &first, &blocks), 1);
	cr_expect_eq(first, &b);
}

Test(queue, a_request_is_at_most_the_limit)
{
	struct fetch_range ranges[10];
	for (size_t i = 0; i < 10; i++) {
		ranges[i] = range_of(0, i, 1, true);
		push(&ranges[i]);
	}
	struct fetch_range *first = NULL;
	uint64_t blocks = 0;
	cr_expect_eq(pop(QUEUE_DEMAND, 4, &first, &blocks), 4);
	cr_expect_eq(first, &ranges[0]);
	cr_expect_eq(pop(QUEUE_DEMAND, 4, &first, &blocks), 4);
	cr_expect_eq(first, &ranges[4]);
	cr_expect_eq(pop(QUEUE_DEMAND, 4, &first, &blocks), 2);
}

Test(queue, a_longer_range_is_cut_and_stays_alone)
{
	struct fetch_range a = range_of(0, 0, 10, true);
	struct fetch_range b = range_of(0, 10, 1, true);
	push(&a);
	push(&b);
	struct fetch_range *first = NULL;
	uint64_t blocks = 0;
	cr_expect_eq(pop(QUEUE_DEMAND, 4, &first, &blocks), 1);
	cr_expect_eq(blocks, 4);
	first->done_bytes = 8 * BLOCK;
	cr_expect_eq(queue_push(&queue, first, true), 0);
	cr_expect_eq(pop(QUEUE_DEMAND, 4, &first, &blocks), 2);
	cr_expect_eq(first, &a);
	cr_expect_eq(blocks, 3);
}

Test(queue, demand_takes_prefetch_along_behind_it_only)
{
	struct fetch_range before = range_of(0, 0, 1, false);
	struct fetch_range wanted = range_of(0, 1, 1, true);
	struct fetch_range after = range_of(0, 2, 1, false);
	push(&before);
	push(&wanted);
	push(&after);
	struct fetch_range *first = NULL;
	uint64_t blocks = 0;
	cr_expect_eq(pop(QUEUE_DEMAND, 128, &first, &blocks), 2);
	cr_expect_eq(first, &wanted);
	cr_expect_eq(queue.counts[QUEUE_PREFETCH], 1);
	cr_expect_eq(pop(QUEUE_PREFETCH, 128, &first, &blocks), 1);
	cr_expect_eq(first, &before);
}

Test(queue, objects_take_turns)
{
	struct fetch_range many[6];
	for (size_t i = 0; i < 6; i++) {
		many[i] = range_of(0, i * 2, 1, true);
		push(&many[i]);
	}
	struct fetch_range one = range_of(1, 0, 1, true);
	struct fetch_range two = range_of(2, 0, 1, true);
	push(&one);
	push(&two);
	const struct fetch_range *const order[] = {&many[0], &one, &two,
			&many[1], &many[2], &many[3], &many[4], &many[5]};
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct fetch_range *first = NULL;
		uint64_t blocks = 0;
		(void)pop(QUEUE_DEMAND, 1, &first, &blocks);
		cr_expect_eq(first, order[i], "turn %zu", i);
	}
}

Test(queue, a_promoted_range_is_demand_and_still_joins)
{
	struct fetch_range a = range_of(0, 0, 1, false);
	struct fetch_range b = range_of(0, 1, 1, false);
	push(&a);
	push(&b);
	queue_promote(&queue, &b);
	queue_promote(&queue, &b);
	cr_expect_eq(queue.counts[QUEUE_DEMAND], 1);
	cr_expect_eq(queue.counts[QUEUE_PREFETCH], 1);
	queue_promote(&queue, &a);
	struct fetch_range *first = NULL;
	uint64_t blocks = 0;
	cr_expect_eq(pop(QUEUE_DEMAND, 128, &first, &blocks), 2);
	cr_expect_eq(first, &a);
}

Test(queue, what_was_served_before_goes_first)
{
	struct fetch_range a = range_of(0, 0, 1, true);
	struct fetch_range b = range_of(0, 5, 1, true);
	push(&a);
	cr_assert_eq(queue_push(&queue, &b, true), 0);
	struct fetch_range *first = NULL;
	uint64_t blocks = 0;
	(void)pop(QUEUE_DEMAND, 1, &first, &blocks);
	cr_expect_eq(first, &b);
}

Test(queue, a_removed_range_is_not_found_by_its_neighbours)
{
	struct fetch_range a = range_of(0, 0, 1, true);
	struct fetch_range b = range_of(0, 1, 1, true);
	struct fetch_range c = range_of(0, 2, 1, true);
	push(&a);
	push(&b);
	push(&c);
	queue_remove(&queue, &b);
	struct fetch_range *first = NULL;
	uint64_t blocks = 0;
	cr_expect_eq(pop(QUEUE_DEMAND, 128, &first, &blocks), 1);
	cr_expect_eq(pop(QUEUE_DEMAND, 128, &first, &blocks), 1);
	cr_expect_eq(first, &c);
}

static bool is_prefetch(const struct fetch_range *range, const void *context)
{
	(*(unsigned *)context)++;
	return !range->demand;
}

Test(queue, takes_what_is_asked_for_and_leaves_the_rest)
{
	enum { COUNT = 20000 };
	static struct fetch_range ranges[COUNT];
	for (size_t i = 0; i < COUNT; i++) {
		ranges[i] = range_of(i % 4, i, 1, i % 5 == 0);
		push(&ranges[i]);
	}
	unsigned seen = 0;
	struct fetch_range *list = queue_take(&queue, is_prefetch, &seen);
	struct fetch_range *range = NULL;
	unsigned count = 0;
	DL_COUNT(list, range, count);
	cr_expect_eq(seen, COUNT);
	cr_expect_eq(count, COUNT - COUNT / 5);
	cr_expect_eq(queue.counts[QUEUE_PREFETCH], 0);
	cr_expect_eq(queue.counts[QUEUE_DEMAND], COUNT / 5);
	unsigned rest = 0;
	struct fetch_range *first = NULL;
	uint64_t blocks = 0;
	while (pop(QUEUE_DEMAND, 1, &first, &blocks) == 1) {
		rest++;
	}
	cr_expect_eq(rest, COUNT / 5);
}
