#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/block_pool.h"
#include "cache/data_file_private.h"

#define SIZE ((uint64_t)9 << 20)

static char dir[64];
static int objects;
static const uint8_t name[INDEX_NAME_SIZE] = {0xab, 0xcd, 0x01};

/* On a real disk, where O_DIRECT counts. */
static void set_up(void)
{
	strcpy(dir, "/var/tmp/shardfs-data-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	objects = open(dir, O_RDONLY | O_DIRECTORY);
	cr_assert_geq(objects, 0);
}

static int remove_one(const char *path, const struct stat *status, int type,
		struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	(void)remove(path);
	return 0;
}

static void tear_down(void)
{
	(void)close(objects);
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(data_file, .init = set_up, .fini = tear_down);

static int open_file(bool create)
{
	int fd = -1;
	int error = data_file_open(objects, name, SIZE, create, &fd);
	return error == 0 ? fd : error;
}

Test(data_file, lies_where_its_name_says)
{
	char path[DATA_FILE_PATH_SIZE];
	data_file_path(name, path);
	cr_expect_eq(strncmp(path, "ab/abcd01", 9), 0);
	cr_expect_eq(strlen(path), DATA_FILE_PATH_SIZE - 1);
}

Test(data_file, has_its_size_from_the_first_and_no_bytes)
{
	cr_expect_eq(open_file(false), -ENOENT);
	mode_t mask = umask(0);
	int fd = open_file(true);
	(void)umask(mask);
	cr_assert_geq(fd, 0);
	struct stat status;
	cr_assert_eq(fstat(fd, &status), 0);
	cr_expect_eq(status.st_size, (off_t)SIZE);
	cr_expect_eq(status.st_blocks, 0);
	cr_expect_eq(status.st_mode & 07777, 0600);
	(void)close(fd);
	int other = -1;
	cr_expect_eq(data_file_open(objects, name, SIZE + 1, true, &other),
			-ESTALE, "it never gets another");
}

Test(data_file, locks_are_shared_until_someone_makes_holes)
{
	int a = open_file(true);
	int b = open_file(false);
	cr_assert_geq(b, 0);
	cr_expect_eq(data_file_lock_exclusive(a), -EAGAIN);
	cr_expect_eq(data_file_lock_exclusive(b), -EAGAIN);
	(void)close(b);
	cr_expect_eq(data_file_lock_exclusive(a), 0);
	cr_expect_eq(open_file(false), -EAGAIN);
	cr_expect_eq(data_file_lock_shared(a), 0);
	b = open_file(false);
	cr_expect_geq(b, 0);
	(void)close(a);
	(void)close(b);
}

Test(data_file, a_failed_upgrade_keeps_the_shared_lock)
{
	int a = open_file(true);
	int b = open_file(false);
	cr_expect_eq(data_file_lock_exclusive(a), -EAGAIN);
	cr_expect_eq(data_file_lock_exclusive(b), -EAGAIN, "a has it still");
	(void)close(a);
	cr_expect_eq(data_file_lock_exclusive(b), 0);
	(void)close(b);
}

Test(data_file, bytes_are_where_they_were_put)
{
	int fd = open_file(true);
	int direct = -1;
	int error = data_file_open_direct(fd, &direct);
	cr_assert(error == 0 || error == -EINVAL);
	static const size_t tails[] = {BLOCK_SIZE, 4096, 1, 4097, 511};
	char *memory = aligned_alloc(4096, 4 * BLOCK_SIZE);
	char *back = aligned_alloc(4096, 4 * BLOCK_SIZE);
	for (size_t i = 0; i < 5; i++) {
		size_t length = BLOCK_SIZE + tails[i];
		for (size_t k = 0; k < length; k++) {
			memory[k] = (char)(k * 7 + k / 251 + i);
		}
		struct iovec parts[] = {{memory, BLOCK_SIZE},
				{memory + BLOCK_SIZE, tails[i]}};
		uint64_t offset = i * 4 * BLOCK_SIZE;
		cr_expect_eq(data_file_write(fd, direct, offset, parts, 2), 0);
		struct iovec into[] = {{back, BLOCK_SIZE},
				{back + BLOCK_SIZE, tails[i]}};
		cr_expect_eq(data_file_read(fd, offset, into, 2), 0);
		cr_expect_eq(memcmp(memory, back, length), 0, "tail %zu",
				tails[i]);
	}
	struct stat status;
	cr_assert_eq(fstat(fd, &status), 0);
	cr_expect_eq(status.st_size, (off_t)SIZE);
	free(memory);
	free(back);
	(void)close(direct);
	(void)close(fd);
}

Test(data_file, a_read_past_the_end_is_an_error_not_zeros)
{
	int fd = open_file(true);
	static char buffer[BLOCK_SIZE];
	struct iovec part = {buffer, sizeof(buffer)};
	cr_expect_eq(data_file_read(fd, SIZE - 1, &part, 1), -ENODATA);
	(void)close(fd);
}

Test(data_file, holes_give_space_back_and_can_be_seen)
{
	int fd = open_file(true);
	char *memory = aligned_alloc(4096, BLOCK_SIZE);
	memset(memory, 1, BLOCK_SIZE);
	static const uint64_t blocks[] = {0, 5, 63, 64, 100, 143};
	for (size_t i = 0; i < 6; i++) {
		struct iovec part = {memory, BLOCK_SIZE};
		cr_assert_eq(data_file_write(fd, -1, blocks[i] * BLOCK_SIZE,
					     &part, 1),
				0);
	}
	uint64_t mask = 0;
	cr_assert_eq(data_file_allocated(fd, 0, SIZE, &mask), 0);
	cr_expect_eq(mask, UINT64_C(1) | UINT64_C(1) << 5 | UINT64_C(1) << 63);
	cr_assert_eq(data_file_allocated(fd, 1, SIZE, &mask), 0);
	cr_expect_eq(mask, UINT64_C(1) | UINT64_C(1) << 36);
	cr_assert_eq(data_file_allocated(fd, 2, SIZE, &mask), 0);
	cr_expect_eq(mask, UINT64_C(1) << 15);
	cr_assert_eq(data_file_punch(fd, 0, INDEX_CHUNK_BYTES), 0);
	cr_assert_eq(data_file_allocated(fd, 0, SIZE, &mask), 0);
	cr_expect_eq(mask, 0);
	uint64_t next = 0;
	cr_assert_eq(data_file_next_data(fd, 0, &next), 0);
	cr_expect_eq(next, 64 * BLOCK_SIZE);
	cr_expect_eq(data_file_next_data(fd, 144 * BLOCK_SIZE, &next), -ENXIO);
	free(memory);
	(void)close(fd);
}

Test(data_file, a_removed_name_is_noticed)
{
	int fd = open_file(true);
	cr_expect(data_file_is_at(objects, name, fd));
	cr_expect_eq(data_file_unlink_unused(objects, name), -EAGAIN,
			"someone holds it");
	cr_assert_eq(data_file_unlink(objects, name), 0);
	cr_expect_not(data_file_is_at(objects, name, fd));
	int other = open_file(true);
	cr_expect_not(data_file_is_at(objects, name, fd));
	cr_expect(data_file_is_at(objects, name, other));
	(void)close(fd);
	(void)close(other);
	cr_expect_eq(data_file_unlink_unused(objects, name), 0);
}
