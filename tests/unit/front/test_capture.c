#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "front/capture_private.h"

Test(capture, the_last_line_is_without_the_speaker)
{
	static const struct {
		const char *text, *line;
	} rows[] = {
			{"", ""},
			{"\n\n", ""},
			{"one\n", "one"},
			{"one\ntwo", "two"},
			{"one\ntwo \n\n", "two"},
			{"fuse: bad\nfusermount3: user has no write access to "
			 "mountpoint /x\n",
					"user has no write access to "
					"mountpoint /x"},
			{"fuse: ", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[128];
		capture_last_line(rows[i].text, line, sizeof(line));
		cr_expect_str_eq(line, rows[i].line, "row %zu: %s", i, line);
	}
}

Test(capture, a_long_line_is_cut)
{
	char line[4];

	capture_last_line("abcdefgh\n", line, sizeof(line));
	cr_expect_str_eq(line, "abc");
}

Test(capture, takes_stderr_and_gives_it_back)
{
	struct capture capture;
	char line[64];
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	capture_begin(&capture);
	cr_assert_eq(write(STDERR_FILENO, "fuse: no\n", 9), 9);
	capture_end(&capture, line, sizeof(line));
	cr_expect_str_eq(line, "no");
	cr_assert_eq(write(STDERR_FILENO, "after", 5), 5);
	cr_expect_eq(read(fds[0], line, sizeof(line)), 5);
	cr_expect_eq(strncmp(line, "after", 5), 0);
}
