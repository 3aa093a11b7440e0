#include "main/background.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "main/one_line.h"

/*
 * What goes through the pipe: a digit for the status, then each line behind
 * its stream's letter and before a NUL: "0oshardfs: …\0e…\0". The parent reads
 * to the end of the pipe.
 */
#define REPORT_LIMIT 8192
#define REPORT_FAILED 2

void background_stay(struct background *background)
{
	*background = (struct background){.pipe = -1};
}

static size_t read_report(int fd, char *report)
{
	size_t length = 0;

	while (length < REPORT_LIMIT) {
		ssize_t got = read(fd, report + length, REPORT_LIMIT - length);

		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			break;
		}
		length += (size_t)got;
	}
	report[length] = '\0';
	return length;
}

static void print_lines(const char *report, size_t length)
{
	size_t at = 1;

	while (at < length) {
		FILE *stream = report[at] == 'o' ? stdout : stderr;

		/* A closed stream changes nothing about the mount. */
		(void)fprintf(stream, "%s\n", report + at + 1);
		at += strlen(report + at) + 1;
	}
	(void)fflush(stdout);
}

/* The child ended without a report: says how. */
static int explain_death(pid_t child)
{
	int status = 0;
	pid_t got = 0;

	do {
		got = waitpid(child, &status, 0);
	} while (got < 0 && errno == EINTR);
	if (got == child && WIFSIGNALED(status)) {
		(void)fprintf(stderr,
				"shardfs: the mount process died before it "
				"was ready (%s); try again with -f to see "
				"its log\n",
				strsignal(WTERMSIG(status)));
	} else {
		(void)fprintf(stderr,
				"shardfs: the mount process ended before it "
				"was ready; try again with -f to see its "
				"log\n");
	}
	return REPORT_FAILED;
}

static int wait_for_report(int fd, pid_t child)
{
	char report[REPORT_LIMIT + 1];
	size_t length = read_report(fd, report);

	if (length == 0) {
		return explain_death(child);
	}
	print_lines(report, length);
	return report[0] - '0';
}

static int to_null(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		/* A bare /dev: something that can be neither read nor written
		 * does as well, and the start goes on to say what is wrong. */
		fd = open("/", O_PATH | O_CLOEXEC);
	}
	if (fd < 0) {
		return -errno;
	}
	for (int stream = 0; stream <= 2; stream++) {
		/* dup2 of a descriptor to itself keeps its close-on-exec. */
		if (dup2(fd, stream) < 0 || fcntl(stream, F_SETFD, 0) < 0) {
			return -errno;
		}
	}
	if (fd > 2) {
		(void)close(fd); /* Nothing was written. */
	}
	return 0;
}

static void enter_child(void)
{
	(void)setsid(); /* A fresh child leads no group: it cannot fail. */
	if (chdir("/") != 0 || to_null() != 0) {
		_exit(REPORT_FAILED);
	}
}

static volatile sig_atomic_t waited_for;

static void pass_on(int signal)
{
	(void)signal;
	(void)kill(waited_for, SIGTERM);
}

/* The child is in another session, where Ctrl-C does not reach it: who gives
 * up waiting ends the unfinished start. */
static void pass_signals_to(pid_t child)
{
	const struct sigaction action = {.sa_handler = pass_on};

	waited_for = child;
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
}

int background_start(struct background *background, int *out_status)
{
	int ends[2];
	int error = 0;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		return -errno;
	}
	pid_t child = fork();

	if (child < 0) {
		error = -errno;
		(void)close(ends[0]);
		(void)close(ends[1]);
		return error;
	}
	if (child == 0) {
		(void)close(ends[0]);
		enter_child();
		*background = (struct background){.pipe = ends[1]};
		return 0;
	}
	(void)close(ends[1]);
	pass_signals_to(child);
	*out_status = wait_for_report(ends[0], child);
	(void)close(ends[0]);
	return 1;
}

void background_close_inherited(const struct background *background, int keep)
{
	const unsigned pipe = (unsigned)background->pipe;
	const unsigned kept = keep > 2 ? (unsigned)keep : pipe;
	const unsigned low = kept < pipe ? kept : pipe;
	const unsigned high = kept < pipe ? pipe : kept;

	/* A kernel without the call leaves them open, which is no failure. */
	if (low > 3) {
		(void)close_range(3, low - 1, 0);
	}
	if (high > low + 1) {
		(void)close_range(low + 1, high - 1, 0);
	}
	(void)close_range(high + 1, ~0U, 0);
}

static void send_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t sent = write(fd, bytes, length);

		if (sent < 0 && errno == EINTR) {
			continue;
		}
		if (sent <= 0) {
			return; /* Nobody waits any more. */
		}
		bytes += sent;
		length -= (size_t)sent;
	}
}

static size_t put_line(
		char *report, size_t length, char stream, const char *line)
{
	size_t room = REPORT_LIMIT - length;

	if (line == NULL || room < 3) {
		return length;
	}
	report[length] = stream;
	(void)snprintf(report + length + 1, room - 1, "%s", line);
	one_line(report + length + 1);
	return length + strlen(report + length) + 1;
}

void background_report(struct background *background, int status,
		const char *out_line, const char *err_line)
{
	char report[REPORT_LIMIT + 1];
	size_t length = 1;

	assert(!background->told);
	background->told = true;
	report[0] = (char)('0' + status);
	length = put_line(report, length, 'o', out_line);
	length = put_line(report, length, 'e', err_line);
	if (background->pipe < 0) {
		print_lines(report, length);
		return;
	}
	send_all(background->pipe, report, length);
	(void)close(background->pipe);
	background->pipe = -1;
}
