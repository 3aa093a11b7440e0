#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define LOG_MODULE "base"

static char path[64];

static void open_file(enum log_level level)
{
	(void)snprintf(path, sizeof(path), "/tmp/test_log_XXXXXX");
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(log_open(LOG_SINK_FILE, level, path), 0);
}

/* What the file holds, read once, and the file is gone. */
static char *taken(void)
{
	static char text[65536];
	int fd = open(path, O_RDONLY);
	cr_assert_geq(fd, 0);
	ssize_t length = read(fd, text, sizeof(text) - 1);
	cr_assert_geq(length, 0);
	text[length] = '\0';
	close(fd);
	unlink(path);
	log_close();
	return text;
}

Test(log, a_line_has_time_level_room_and_text)
{
	open_file(LOG_INFO);
	log_warn("slow disk path=%s ms=%d", "/x", 12);
	const char *text = taken();
	int year, month, day, hour, minute, second, ms, end = 0;
	cr_assert_eq(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year,
				     &month, &day, &hour, &minute, &second, &ms,
				     &end),
			7);
	cr_assert_str_eq(text + end, " warn base: slow disk path=/x ms=12\n");
	cr_assert_eq(end, 24);
}

Test(log, levels_above_the_chosen_one_are_silent)
{
	open_file(LOG_WARN);
	log_error("one");
	log_warn("two");
	log_info("three");
	log_debug("four");
	cr_assert(log_enabled(LOG_WARN));
	cr_assert_not(log_enabled(LOG_INFO));
	const char *text = taken();
	cr_assert_not_null(strstr(text, "error base: one\n"));
	cr_assert_not_null(strstr(text, "warn base: two\n"));
	cr_assert_null(strstr(text, "three"));
	cr_assert_null(strstr(text, "four"));
}

Test(log, control_characters_cannot_end_a_line_or_steer_a_terminal)
{
	open_file(LOG_INFO);
	log_info("key=%s", "a\nb\r\tc\x1b[31m\x7f\x01\xc3\xa9");
	const char *text = strstr(taken(), "key=");
	cr_assert_str_eq(text, "key=a\\nb\\r\\tc\\x1b[31m\\x7f\\x01\xc3\xa9\n");
}

Test(log, a_text_beyond_the_limit_is_cut_and_still_one_line)
{
	static char longest[20000];
	memset(longest, 'x', sizeof(longest) - 1);
	open_file(LOG_INFO);
	log_info("%s", longest);
	memset(longest, '\n', sizeof(longest) - 1);
	log_info("%s", longest);
	char *text = taken();
	char *end = strchr(text, '\n');
	cr_assert_not_null(end);
	cr_assert_leq(end - text, 4096);
	cr_assert_eq(memcmp(end - 4, "x...", 4), 0);
	char *second = strchr(end + 1, '\n');
	cr_assert_leq(second - end, 4096);
	cr_assert_eq(memcmp(second - 5, "\\n...", 5), 0);
	cr_assert_str_eq(second, "\n");
}

Test(log, a_file_is_appended_to_private_and_closed_on_exec)
{
	open_file(LOG_INFO);
	log_info("one");
	log_close();
	cr_assert_eq(log_open(LOG_SINK_FILE, LOG_INFO, path), 0);
	log_info("two");
	struct stat status;
	cr_assert_eq(stat(path, &status), 0);
	cr_assert_eq(status.st_mode & 0777, 0600);
	const char *text = taken();
	cr_assert_not_null(strstr(text, "one"));
	cr_assert_not_null(strstr(text, "two"));
}

Test(log, a_file_that_cannot_be_opened_is_told_and_changes_nothing)
{
	open_file(LOG_INFO);
	cr_assert_eq(log_open(LOG_SINK_FILE, LOG_DEBUG, "/nowhere/log"),
			-ENOENT);
	log_info("still here");
	log_debug("not this");
	const char *text = taken();
	cr_assert_not_null(strstr(text, "still here"));
	cr_assert_null(strstr(text, "not this"));
}

Test(log, keeps_errno)
{
	open_file(LOG_INFO);
	errno = ESTALE;
	log_info("x");
	cr_assert_eq(errno, ESTALE);
	(void)taken();
}

Test(log, level_names)
{
	enum log_level level = LOG_ERROR;
	cr_assert_eq(log_level_parse("debug", &level), 0);
	cr_assert_eq(level, LOG_DEBUG);
	cr_assert_eq(log_level_parse("error", &level), 0);
	cr_assert_eq(level, LOG_ERROR);
	cr_assert_eq(log_level_parse("Warn", &level), -EINVAL);
	cr_assert_eq(log_level_parse("", &level), -EINVAL);
	cr_assert_eq(level, LOG_ERROR);
}

Test(log, ratelimit_lets_one_through_in_each_interval)
{
	unsigned long long state = 0;
	cr_assert(log_ratelimit(&state, 60000));
	cr_assert_not(log_ratelimit(&state, 60000));
	clock_advance_ms(59000);
	cr_assert_not(log_ratelimit(&state, 60000));
	clock_advance_ms(2000);
	cr_assert(log_ratelimit(&state, 60000));
	cr_assert_not(log_ratelimit(&state, 60000));
}
