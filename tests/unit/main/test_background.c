#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "main/background.h"

struct outcome {
	int status;
	char out[512];
	char err[512];
};

static void read_stream(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got = 0;

	do {
		got = read(fd, text + length, size - 1 - length);
		length += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	text[length] = '\0';
	(void)close(fd);
}

/* Runs a start with `child` as its daemon, in a process of its own, and gives
 * what its caller sees. Streams are read to their end: a daemon that kept one
 * open would hang the test. */
static struct outcome start(void (*child)(struct background *))
{
	struct outcome outcome = {0};
	int out[2], err[2];

	cr_assert_eq(pipe(out), 0);
	cr_assert_eq(pipe(err), 0);
	pid_t caller = fork();

	if (caller == 0) {
		struct background background;
		int status = 0;

		(void)dup2(out[1], 1);
		(void)dup2(err[1], 2);
		(void)close(out[0]);
		(void)close(out[1]);
		(void)close(err[0]);
		(void)close(err[1]);
		int started = background_start(&background, &status);

		if (started == 0) {
			child(&background);
			_exit(0);
		}
		_exit(started == 1 ? status : 99);
	}
	(void)close(out[1]);
	(void)close(err[1]);
	read_stream(out[0], outcome.out, sizeof(outcome.out));
	read_stream(err[0], outcome.err, sizeof(outcome.err));
	int status = 0;

	cr_assert_eq(waitpid(caller, &status, 0), caller);
	outcome.status = WEXITSTATUS(status);
	return outcome;
}

static void succeed(struct background *background)
{
	background_report(background, 0, "done", "but odd");
	(void)sleep(1);
}

static void fail(struct background *background)
{
	background_report(background, 2, NULL, "shardfs: no such bucket");
}

static void fail_oddly(struct background *background)
{
	background_report(background, 2, NULL, "there is a\nb\x1b[1m");
}

static void vanish(struct background *background)
{
	(void)background;
}

static void crash(struct background *background)
{
	(void)background;
	(void)signal(SIGSEGV, SIG_DFL);
	(void)raise(SIGSEGV);
}

static void look(struct background *background)
{
	char text[256];
	char cwd[64];

	(void)snprintf(text, sizeof(text), "session %d cwd %s",
			getsid(0) == getpid(), getcwd(cwd, sizeof(cwd)));
	(void)printf("not to be seen\n");
	(void)fflush(stdout);
	background_report(background, 0, text, NULL);
}

Test(background, lines_and_status_reach_the_caller)
{
	struct outcome outcome = start(succeed);

	cr_assert_eq(outcome.status, 0);
	cr_assert_str_eq(outcome.out, "done\n");
	cr_assert_str_eq(outcome.err, "but odd\n");
	outcome = start(fail);
	cr_assert_eq(outcome.status, 2);
	cr_assert_str_eq(outcome.out, "");
	cr_assert_str_eq(outcome.err, "shardfs: no such bucket\n");
}

Test(background, a_line_stays_one_line)
{
	struct outcome outcome = start(fail_oddly);

	cr_assert_str_eq(outcome.err, "there is a?b?[1m\n");
}

Test(background, a_death_without_a_word_is_told)
{
	struct outcome outcome = start(vanish);

	cr_assert_eq(outcome.status, 2);
	cr_assert(strstr(outcome.err, "ended before it was ready") != NULL,
			"%s", outcome.err);
	outcome = start(crash);
	cr_assert_eq(outcome.status, 2);
	cr_assert(strstr(outcome.err, strsignal(SIGSEGV)) != NULL, "%s",
			outcome.err);
}

Test(background, the_daemon_has_its_own_session_directory_and_streams)
{
	struct outcome outcome = start(look);

	cr_assert_str_eq(outcome.out, "session 1 cwd /\n");
}

static void give_up(struct background *background)
{
	(void)background;
	(void)signal(SIGTERM, SIG_DFL);
	(void)usleep(300000); /* Until the caller waits. */
	(void)kill(getppid(), SIGINT);
	(void)sleep(20);
}

Test(background, who_gives_up_waiting_ends_the_start)
{
	struct outcome outcome = start(give_up);

	cr_assert_eq(outcome.status, 2);
	cr_assert(strstr(outcome.err, strsignal(SIGTERM)) != NULL, "%s",
			outcome.err);
}

#define OUTLIVED "/tmp/shardfs-background-test"

static void *report(void *context)
{
	background_report(context, 0, "done", NULL);
	return NULL;
}

/* The report comes from a thread, as that of a mount does. */
static void outlive(struct background *background)
{
	pid_t parent = getppid();
	pthread_t thread;

	(void)pthread_create(&thread, NULL, report, background);
	(void)pthread_join(thread, NULL);
	for (int i = 0; i < 500 && getppid() == parent; i++) {
		(void)usleep(10000);
	}
	FILE *file = fopen(OUTLIVED, "w");

	if (file != NULL) {
		(void)fclose(file);
	}
}

Test(background, the_daemon_outlives_its_caller)
{
	(void)unlink(OUTLIVED);
	struct outcome outcome = start(outlive);
	int found = -1;

	cr_assert_eq(outcome.status, 0);
	for (int i = 0; i < 500 && found != 0; i++) {
		found = access(OUTLIVED, F_OK);
		(void)usleep(10000);
	}
	cr_assert_eq(found, 0);
	(void)unlink(OUTLIVED);
}

Test(background, a_long_line_is_cut_not_lost)
{
	struct background background;
	char line[16384];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	background_stay(&background);
	background_report(&background, 0, NULL, line);
	cr_assert(background.told);
}
