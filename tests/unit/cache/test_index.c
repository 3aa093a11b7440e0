#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/index_private.h"

static char path[64];
static struct index *ix;

static struct index_identity identity_of(const char *key, uint64_t size)
{
	struct index_identity identity = {
			.source = "mem://bucket",
			.key = key,
			.key_length = strlen(key),
			.version = "\"1\"",
			.size = size,
	};
	cr_assert_eq(index_identity_name(&identity), 0);
	return identity;
}

static void set_up(void)
{
	strcpy(path, "/dev/shm/shardfs-index-XXXXXX");
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	(void)close(fd);
	cr_assert_eq(index_create(path, 1 << 24), 0);
	cr_assert_eq(index_open(path, INDEX_WRITER, 0, &ix), 0);
}

static void tear_down(void)
{
	index_close(ix);
	(void)unlink(path);
}

TestSuite(index, .init = set_up, .fini = tear_down);

static struct index_object add(const char *key, uint64_t size)
{
	struct index_identity identity = identity_of(key, size);
	struct index_object object = {.id = 0};
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_add_object(ix, &identity, &object), 0);
	cr_assert_eq(index_commit(ix), 0);
	return object;
}

static uint64_t block_bytes(void)
{
	struct index_totals totals;
	cr_assert_eq(index_get_totals(ix, &totals), 0);
	return totals.block_bytes;
}

static void merge(const struct index_object *object, struct index_merge change)
{
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_merge_chunk(ix, object, &change), 0);
	cr_assert_eq(index_commit(ix), 0);
}

Test(index, names_differ_by_every_field_and_not_by_their_joins)
{
	struct index_identity base = identity_of("ab", 5);
	struct index_identity others[] = {base, base, base, base, base};
	others[0].source = "mem://bucke";
	others[1].key = "abc";
	others[1].key_length = 3;
	others[2].version = "\"2\"";
	others[3].size = 6;
	others[4].source = "mem://bucketa";
	others[4].key = "b";
	others[4].key_length = 1;
	for (size_t i = 0; i < 5; i++) {
		cr_assert_eq(index_identity_name(&others[i]), 0);
		cr_expect_neq(memcmp(base.name, others[i].name,
					      INDEX_NAME_SIZE),
				0, "%zu", i);
	}
}

Test(index, an_object_is_found_by_all_its_fields)
{
	struct index_object made = add("k", 7);
	struct index_identity identity = identity_of("k", 7);
	struct index_object found = {.id = 0};
	cr_expect_eq(index_find_object(ix, &identity, &found), 0);
	cr_expect_eq(found.id, made.id);
	cr_expect_eq(found.size, 7);
	/* The same name with another field is a collision or damage. */
	identity.version = "\"2\"";
	cr_expect_eq(index_find_object(ix, &identity, &found), -EUCLEAN);
	identity = identity_of("other", 7);
	cr_expect_eq(index_find_object(ix, &identity, &found), -ENOENT);
}

Test(index, an_id_is_never_used_again)
{
	struct index_object first = add("k", 7);
	uint64_t freed = 0;
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_remove_object(ix, &first, &freed), 0);
	cr_assert_eq(index_commit(ix), 0);
	cr_expect_gt(add("k", 7).id, first.id);
}

Test(index, a_key_is_bytes)
{
	struct index_identity identity = identity_of("", 7);
	identity.key = "a\xff\xfe'b";
	identity.key_length = 5;
	cr_assert_eq(index_identity_name(&identity), 0);
	struct index_object made;
	struct index_object found;
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_add_object(ix, &identity, &made), 0);
	cr_assert_eq(index_commit(ix), 0);
	cr_expect_eq(index_find_object(ix, &identity, &found), 0);
	cr_expect_eq(made.id, found.id);
}

Test(index, chunk_bytes_are_what_a_disk_gives)
{
	static const struct {
		uint64_t mask;
		uint32_t number;
		uint64_t size, bytes;
	} cases[] = {
			{0, 0, 100, 0},
			{1, 0, 100, 4096},
			{1, 0, 4096, 4096},
			{1, 0, 4097, 8192},
			{1, 0, 65536, 65536},
			{1, 0, 65537, 65536},
			{3, 0, 65537, 65536 + 4096},
			{2, 0, 65537, 4096},
			{1, 1, (4 << 20) + 1, 4096},
			{1, 0, (4 << 20) + 1, 65536},
			{UINT64_MAX, 0, 4 << 20, 4 << 20},
			{UINT64_MAX, 0, (4 << 20) - 4096, (4 << 20) - 4096},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(index_chunk_bytes(cases[i].mask, cases[i].number,
					     cases[i].size),
				cases[i].bytes, "case %zu", i);
	}
}

Test(index, merges_lay_bits_and_sums_over)
{
	struct index_object object = add("k", 64 << 20);
	uint32_t sums[INDEX_CHUNK_BLOCKS];
	memset(sums, 0x11, sizeof(sums));
	merge(&object, (struct index_merge){.number = 3,
				       .set = 0x0f,
				       .sums = sums,
				       .last_use = 9});
	memset(sums, 0x22, sizeof(sums));
	merge(&object, (struct index_merge){.number = 3,
				       .set = 0x18,
				       .drop = 0x01,
				       .sums = sums,
				       .last_use = 5});
	struct index_chunk chunk;
	uint32_t now[INDEX_CHUNK_BLOCKS];
	cr_assert_eq(index_get_chunk(ix, object.id, 3, &chunk, now), 0);
	cr_expect_eq(chunk.present, 0x1e);
	cr_expect_eq(chunk.allocated, 0x1f, "a bad block still has its space");
	cr_expect_eq(chunk.last_use, 9, "time does not go back");
	cr_expect_eq(now[2], 0x11111111);
	cr_expect_eq(now[3], 0x22222222);
	cr_expect_eq(now[4], 0x22222222);
	cr_expect_eq(block_bytes(), 5 * 65536);
	cr_expect_eq(index_get_chunk(ix, object.id, 2, &chunk, now), -ENOENT);
}

Test(index, clearing_gives_back_what_was_held)
{
	struct index_object object = add("k", 64 << 20);
	uint32_t sums[INDEX_CHUNK_BLOCKS] = {0};
	merge(&object, (struct index_merge){
				       .number = 0, .set = 7, .sums = sums});
	merge(&object, (struct index_merge){
				       .number = 1, .set = 1, .sums = sums});
	uint64_t freed = 0;
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_clear_chunk(ix, &object, 0, &freed), 0);
	cr_expect_eq(freed, 3 * 65536);
	cr_assert_eq(index_clear_chunk(ix, &object, 9, &freed), 0);
	cr_expect_eq(freed, 0);
	cr_assert_eq(index_commit(ix), 0);
	cr_expect_eq(block_bytes(), 65536);
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_remove_object(ix, &object, &freed), 0);
	cr_assert_eq(index_commit(ix), 0);
	cr_expect_eq(freed, 65536);
	cr_expect_eq(block_bytes(), 0);
}

Test(index, a_rolled_back_change_is_not_counted)
{
	struct index_object object = add("k", 64 << 20);
	uint32_t sums[INDEX_CHUNK_BLOCKS] = {0};
	struct index_merge change = {.set = 7, .sums = sums};
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_merge_chunk(ix, &object, &change), 0);
	index_rollback(ix);
	merge(&object, (struct index_merge){
				       .number = 1, .set = 1, .sums = sums});
	cr_expect_eq(block_bytes(), 65536);
}

Test(index, the_oldest_come_first_and_an_open_is_a_use_of_all)
{
	uint32_t sums[INDEX_CHUNK_BLOCKS] = {0};
	struct index_object a = add("a", 64 << 20);
	struct index_object b = add("b", 64 << 20);
	for (uint32_t i = 0; i < 3; i++) {
		merge(&a, (struct index_merge){.number = i,
					  .set = 1,
					  .sums = sums,
					  .last_use = 10 + i});
		merge(&b, (struct index_merge){.number = i,
					  .set = 1,
					  .sums = sums,
					  .last_use = 20 - i});
	}
	struct index_victim victims[6];
	size_t count = 0;
	cr_assert_eq(index_oldest(ix, victims, 6, &count), 0);
	cr_expect_eq(count, 6);
	cr_expect_eq(victims[0].object.id, a.id);
	cr_expect_eq(victims[0].number, 0);
	cr_expect_eq(victims[3].object.id, b.id);
	cr_expect_eq(victims[3].number, 2);
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_touch_object(ix, a.id, 19), 0);
	cr_assert_eq(index_commit(ix), 0);
	cr_assert_eq(index_oldest(ix, victims, 2, &count), 0);
	cr_expect_eq(count, 2);
	cr_expect_eq(victims[0].object.id, b.id);
	cr_expect_eq(victims[0].last_use, 18);
	uint64_t last_use = 0;
	cr_assert_eq(index_last_use(ix, a.id, 1, &last_use), 0);
	cr_expect_eq(last_use, 19);
	cr_expect_eq(index_last_use(ix, a.id, 7, &last_use), -ENOENT);
}

Test(index, grants_are_summed_and_never_negative)
{
	struct index_totals totals;
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_add_holder(ix, "00000000000000aa"), 0);
	cr_assert_eq(index_add_holder(ix, "00000000000000bb"), 0);
	cr_assert_eq(index_add_granted(ix, "00000000000000aa", 100), 0);
	cr_assert_eq(index_add_granted(ix, "00000000000000bb", 10), 0);
	cr_expect_eq(index_add_granted(ix, "00000000000000cc", 1), -ENOENT);
	cr_assert_eq(index_commit(ix), 0);
	cr_assert_eq(index_get_totals(ix, &totals), 0);
	cr_expect_eq(totals.granted_bytes, 110);
	cr_expect_eq(totals.limit_bytes, 1 << 24);
	cr_assert_eq(index_begin(ix), 0);
	cr_assert_eq(index_add_granted(ix, "00000000000000bb", -11), 0);
	cr_assert_eq(index_remove_holder(ix, "00000000000000aa"), 0);
	cr_assert_eq(index_commit(ix), 0);
	cr_assert_eq(index_get_totals(ix, &totals), 0);
	cr_expect_eq(totals.granted_bytes, 0);
	char holder[INDEX_HOLDER_SIZE];
	cr_assert_eq(index_next_holder(ix, "", holder), 0);
	cr_expect_str_eq(holder, "00000000000000bb");
	cr_expect_eq(index_next_holder(ix, holder, holder), -ENOENT);
}

Test(index, names_of_a_holder_are_walked_in_order)
{
	uint8_t names[3][INDEX_NAME_SIZE];
	cr_assert_eq(index_begin(ix), 0);
	for (uint8_t i = 0; i < 3; i++) {
		memset(names[i], 3 - i, INDEX_NAME_SIZE);
		cr_assert_eq(index_add_writing(ix, "h", names[i]), 0);
		cr_assert_eq(index_add_writing(ix, "h", names[i]), 0);
	}
	cr_assert_eq(index_commit(ix), 0);
	uint8_t name[INDEX_NAME_SIZE];
	cr_assert_eq(index_next_writing(ix, "h", NULL, name), 0);
	cr_expect_eq(name[0], 1);
	cr_assert_eq(index_next_writing(ix, "h", name, name), 0);
	cr_expect_eq(name[0], 2);
	cr_assert_eq(index_next_writing(ix, "h", name, name), 0);
	cr_expect_eq(index_next_writing(ix, "h", name, name), -ENOENT);
	cr_expect_eq(index_next_writing(ix, "x", NULL, name), -ENOENT);
}

Test(index, a_second_writer_is_told_that_it_is_busy)
{
	struct index *other = NULL;
	cr_assert_eq(index_open(path, INDEX_WRITER, 0, &other), 0);
	cr_assert_eq(index_begin(ix), 0);
	cr_expect_eq(index_begin(other), -EBUSY);
	struct index_totals totals;
	cr_expect_eq(index_get_totals(other, &totals), 0, "reads go on");
	index_rollback(ix);
	cr_expect_eq(index_begin(other), 0);
	index_rollback(other);
	index_close(other);
}

Test(index, a_reader_cannot_write_and_leaves_no_transaction)
{
	struct index *reader = NULL;
	cr_assert_eq(index_open(path, INDEX_READER, 0, &reader), 0);
	struct index_identity identity = identity_of("k", 1);
	struct index_object object;
	cr_expect_eq(index_find_object(reader, &identity, &object), -ENOENT);
	cr_expect_neq(index_add_object(reader, &identity, &object), 0);
	struct index_object made = add("k", 1);
	cr_assert_eq(index_find_object(reader, &identity, &object), 0,
			"it sees what was written since");
	cr_expect_eq(object.id, made.id);
	index_close(reader);
}

Test(index, what_is_no_index_is_told_from_one)
{
	struct index *other = NULL;
	cr_expect_eq(index_open("/dev/shm/no/such/index", INDEX_WRITER, 0,
				     &other),
			-EIO);
	char garbage[] = "/dev/shm/shardfs-index-XXXXXX";
	int fd = mkstemp(garbage);
	cr_expect_eq(index_open(garbage, INDEX_WRITER, 0, &other), -EUCLEAN,
			"an empty file");
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(write(fd, "garbage ", 8), 8);
	}
	cr_expect_eq(index_open(garbage, INDEX_WRITER, 0, &other), -EUCLEAN);
	(void)close(fd);
	(void)unlink(garbage);
}

Test(index, a_full_database_says_so)
{
	cr_assert_eq(index_set_max_bytes(ix, 64 << 10), 0);
	cr_assert_eq(index_begin(ix), 0);
	int error = 0;
	for (int i = 0; i < 10000 && error == 0; i++) {
		char key[16];
		(void)snprintf(key, sizeof(key), "k%d", i);
		struct index_identity identity = identity_of(key, 1);
		struct index_object object;
		error = index_add_object(ix, &identity, &object);
	}
	cr_expect_eq(error, -ENOSPC);
	index_rollback(ix);
	(void)add("k", 1);
}
