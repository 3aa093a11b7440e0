#include "main/commands.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "main/arguments.h"
#include "main/mountinfo.h"
#include "main/report.h"
#include "main/text_file.h"

#define REPORT_LIMIT ((size_t)1 << 20)

/* The file with the report of the mount that `path` lies in. */
static int find_report(const char *path, char **out_file)
{
	CLEANUP_FREE char *absolute = NULL;
	CLEANUP_FREE char *text = NULL;
	struct mountinfo info;
	int error = mountinfo_absolute(path, &absolute);

	if (error == 0) {
		error = mountinfo_read(&text);
	}
	if (error == 0) {
		error = mountinfo_find(text, absolute, true, &info);
	}
	if (error != 0) {
		return error;
	}
	if (strcmp(info.type, "fuse.shardfs") != 0) {
		error = -ENOENT;
	} else if (asprintf(out_file, "%s/.shardfs/stats", info.mountpoint) <
			0) {
		error = -ENOMEM;
	}
	mountinfo_finish(&info);
	return error;
}

/* One report a line: what a program that follows --every wants. */
static int print_compact(const char *report)
{
	json_t *root = json_loads(report, 0, NULL);
	int status = json_dumpf(
			root, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);

	json_decref(root);
	return status == 0 && putchar('\n') != EOF ? 0 : -EIO;
}

static int print_people(const char *report)
{
	struct strbuf text;

	strbuf_init(&text, REPORT_LIMIT);
	int error = report_text(report, strlen(report), &text);

	if (error == 0 && fputs(text.text, stdout) == EOF) {
		error = -EIO;
	}
	strbuf_finish(&text);
	return error;
}

static int print_report(const char *file, const struct arguments *arguments)
{
	CLEANUP_FREE char *report = NULL;
	int error = text_file_read(file, REPORT_LIMIT, &report);

	if (error != 0) {
		return error;
	}
	if (!arguments->json) {
		error = print_people(report);
	} else if (arguments->every_ms != 0) {
		error = print_compact(report);
	} else if (fputs(report, stdout) == EOF) {
		error = -EIO;
	}
	return error == 0 && fflush(stdout) != 0 ? -errno : error;
}

static int explain(const char *path, int error)
{
	if (error == -EACCES) {
		return command_fail(STATUS_FAILED,
				"%s: only the user who mounted it can read it; "
				"mount with allow_other",
				path);
	}
	if (error == -ENOENT) {
		return command_fail(STATUS_FAILED,
				"%s: not in a mount of shardfs", path);
	}
	return command_fail(STATUS_FAILED, "%s: %s", path, strerror(-error));
}

int cmd_stats(const struct arguments *arguments)
{
	CLEANUP_FREE char *file = NULL;
	const struct timespec pause = {
			.tv_sec = (time_t)(arguments->every_ms / 1000),
			.tv_nsec = (long)(arguments->every_ms % 1000) * 1000000,
	};

	if (arguments->word_count != 2) {
		return command_fail(STATUS_USAGE,
				"shardfs stats MOUNTPOINT [--json] [--every "
				"SECONDS]");
	}
	const char *path = arguments->words[1];
	int error = find_report(path, &file);

	if (error != 0) {
		return explain(path, error);
	}
	for (;;) {
		error = print_report(file, arguments);
		if (error != 0) {
			return explain(path, error);
		}
		if (arguments->every_ms == 0) {
			return STATUS_DONE;
		}
		(void)nanosleep(&pause, NULL); /* A signal ends it early. */
		if (!arguments->json) {
			(void)putchar('\n');
		}
	}
}
