#include <criterion/criterion.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "main/metrics_file.h"
#include "main/text_file.h"

static char dir[] = "/tmp/shardfs-metrics-XXXXXX";
static char path[64];
static atomic_uint rendered;

static int render(void *context, struct strbuf *out)
{
	(void)context;
	return strbuf_printf(
			out, "count %u\n", atomic_fetch_add(&rendered, 1) + 1);
}

static void make_dir(void)
{
	cr_assert_not_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/shardfs.prom", dir);
}

static void drop_dir(void)
{
	(void)unlink(path);
	cr_assert_eq(rmdir(dir), 0, "a file was left behind");
}

static struct metrics_file *create(uint64_t interval_ms, int *out_error)
{
	const struct metrics_file_settings settings = {
			.path = path,
			.interval_ms = interval_ms,
			.render = render,
	};
	struct metrics_file *file = NULL;

	*out_error = metrics_file_create(&settings, &file);
	return file;
}

static void assert_text(const char *expected)
{
	CLEANUP_FREE char *text = NULL;

	cr_assert_eq(text_file_read(path, 4096, &text), 0);
	cr_assert_str_eq(text, expected);
}

Test(metrics_file, it_is_written_at_once_and_at_the_end, .init = make_dir,
		.fini = drop_dir)
{
	struct stat status;
	int error = 0;
	struct metrics_file *file = create(3600000, &error);

	cr_assert_eq(error, 0);
	assert_text("count 1\n");
	cr_assert_eq(stat(path, &status), 0);
	cr_assert_eq(status.st_mode & 0044, 0044);
	metrics_file_destroy(file);
	assert_text("count 2\n");
}

Test(metrics_file, it_is_written_again_and_again, .init = make_dir,
		.fini = drop_dir)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int error = 0;
	struct metrics_file *file = create(5, &error);

	cr_assert_eq(error, 0);
	for (int i = 0; i < 500 && atomic_load(&rendered) < 4; i++) {
		(void)nanosleep(&pause, NULL);
	}
	cr_assert_geq(atomic_load(&rendered), 4);
	metrics_file_destroy(file);
}

Test(metrics_file, a_place_that_cannot_be_written_is_told, .init = make_dir,
		.fini = drop_dir)
{
	int error = 0;

	(void)snprintf(path, sizeof(path), "%s/no/such", dir);
	cr_assert_null(create(1000, &error));
	cr_assert_eq(error, -ENOENT);
}
