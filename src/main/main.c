#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "front/front.h"
#include "main/arguments.h"
#include "main/background.h"
#include "main/commands.h"
#include "main/config_file.h"
#include "main/mount.h"
#include "main/mount_check.h"
#include "main/mount_helper.h"
#include "main/mountinfo.h"
#include "main/one_line.h"
#include "main/option_help.h"
#include "main/options.h"
#include "main/source_args.h"
#include "store/open.h"

#define MESSAGE_SIZE 2048
#define COMMAND_LINE_SIZE 4096
#define PERSON_TIMEOUT_MS 20000
#define DEFAULT_PATH                                                           \
	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What mount(8) expects of a helper where shardfs gives 2. */
#define HELPER_FAILED 32

int command_fail(int status, const char *format, ...)
{
	char line[COMMAND_LINE_SIZE];
	va_list list;

	(void)fflush(stdout);
	va_start(list, format);
	(void)vsnprintf(line, sizeof(line), format, list); /* Cut is fine. */
	va_end(list);
	one_line(line);
	(void)fprintf(stderr, "shardfs: %s\n", line);
	return status;
}

/* A descriptor opened later must not be taken for a standard stream. */
static void fill_streams(void)
{
	int fd = 0;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2) {
		(void)close(fd); /* Nothing was written. */
	}
}

/* mount(8) strips both; the home of a helper is the password database's. */
static void fill_environment(bool helper)
{
	const struct passwd *user = NULL;

	(void)setenv("PATH", DEFAULT_PATH, 0);
	if (!helper && getenv("HOME") != NULL) {
		return;
	}
	user = getpwuid(getuid());
	if (user != NULL) {
		(void)setenv("HOME", user->pw_dir, 1);
	}
}

static int print_help(void)
{
	struct strbuf text;
	int status = STATUS_FAILED;

	strbuf_init(&text, 1 << 20);
	option_help(&text);
	if (!text.failed && fputs(text.text, stdout) != EOF) {
		status = STATUS_DONE;
	}
	strbuf_finish(&text);
	return status;
}

static int print_version(void)
{
	(void)printf("shardfs %s (libfuse %s)\n", SHARDFS_VERSION,
			front_fuse_version());
	return STATUS_DONE;
}

static int run_subcommand(const struct arguments *arguments,
		const struct options *options)
{
	const char *name = arguments->words[0];

	if (strcmp(name, "stats") == 0) {
		return cmd_stats(arguments);
	}
	/* One line for a failure; -d shows how it came to it. */
	(void)log_open(LOG_SINK_STDERR,
			arguments->debug ? LOG_DEBUG : LOG_ERROR, NULL);
	if (strcmp(name, "ls") == 0) {
		return cmd_ls(arguments, options);
	}
	if (strcmp(name, "cat") == 0) {
		return cmd_cat(arguments, options);
	}
	return command_fail(STATUS_USAGE, "%s is not in this version", name);
}

/* Whether words that belong to one subcommand stand with another. */
static const char *misplaced_word(const struct arguments *arguments)
{
	const char *name = arguments->word_count > 0 ? arguments->words[0] : "";

	if (arguments->long_listing && strcmp(name, "ls") != 0) {
		return "-l belongs to shardfs ls";
	}
	if (arguments->json && strcmp(name, "stats") != 0) {
		return "--json belongs to shardfs stats";
	}
	if (arguments->every_ms != 0 && strcmp(name, "stats") != 0) {
		return "--every belongs to shardfs stats";
	}
	return NULL;
}

struct command {
	int argc;
	char **argv;
	bool helper;
	struct options options;
	struct arguments arguments;
	char message[MESSAGE_SIZE];
};

static int parse(struct command *command)
{
	int (*parser)(int, char *const[], struct options *, struct arguments *,
			char *, size_t) =
			command->helper ? mount_helper_parse : arguments_parse;

	return parser(command->argc, command->argv, &command->options,
			&command->arguments, command->message,
			sizeof(command->message));
}

static void init_options(struct command *command)
{
	options_init(&command->options);
	if (command->helper) {
		mount_helper_defaults(&command->options);
	}
}

/* The command line is read, and everybody can see it: a proxy's password is
 * not left in it. */
static void hide_passwords(struct command *command)
{
	for (int i = 1; i < command->argc; i++) {
		one_line_hide_users(command->argv[i]);
	}
}

/* The command line wins over the file: it is read once more behind it. */
static int parse_with_config(struct command *command, const char *path)
{
	options_finish(&command->options);
	init_options(command);
	int error = config_file_read(path, &command->options, command->message,
			sizeof(command->message));

	if (error != 0) {
		return error;
	}
	arguments_finish(&command->arguments);
	return parse(command);
}

/* A person who waits gives up sooner than a job, unless told otherwise. */
static int parse_for_person(struct command *command)
{
	options_finish(&command->options);
	options_init(&command->options);
	command->options.timeout_ms = PERSON_TIMEOUT_MS;
	arguments_finish(&command->arguments);
	return parse(command);
}

static bool has_config(const struct command *command)
{
	const struct arguments *arguments = &command->arguments;

	return arguments->word_count == 2 &&
	       source_args_kind(arguments->words[0]) == SOURCE_CONFIG &&
	       command->options.source == NULL;
}

static int serve_mount(struct command *command, const struct source_args *args,
		const char *mountpoint)
{
	const struct arguments *arguments = &command->arguments;
	struct background background;
	int status = STATUS_FAILED;
	const struct mount_plan plan = {
			.options = &command->options,
			.source = args->source,
			.shown = args->shown,
			.mountpoint = mountpoint,
			.helper = command->helper,
			.foreground = arguments->foreground || arguments->debug,
			.debug = arguments->debug,
			.verbose = arguments->verbose,
	};

	hide_passwords(command);
	if (plan.foreground) {
		background_stay(&background);
		return mount_run(&plan, &background);
	}
	int started = background_start(&background, &status);

	if (started < 0) {
		return command_fail(
				STATUS_FAILED, "fork: %s", strerror(-started));
	}
	if (started == 0) {
		background_close_inherited(&background,
				mount_check_descriptor(mountpoint));
	}
	return started == 0 ? mount_run(&plan, &background) : status;
}

static int run_mount(struct command *command)
{
	const struct arguments *arguments = &command->arguments;
	CLEANUP_FREE char *mountpoint = NULL;
	struct source_args args;
	int error = 0;

	if (has_config(command)) {
		error = parse_with_config(command, arguments->words[0]);
	}
	if (error != 0) {
		return command_fail(
				error == -EINVAL ? STATUS_USAGE : STATUS_FAILED,
				"%s", command->message);
	}
	if (source_args_resolve(arguments->words, arguments->word_count,
			    command->options.source, &args, command->message,
			    sizeof(command->message)) != 0 ||
			store_check_source(args.source, command->message,
					sizeof(command->message)) != 0) {
		return command_fail(STATUS_USAGE, "%s", command->message);
	}
	if (arguments->fake) {
		return STATUS_DONE;
	}
	if (mount_check_is_descriptor(args.mountpoint)) {
		mountpoint = strdup(args.mountpoint);
	} else {
		error = mountinfo_absolute(args.mountpoint, &mountpoint);
	}
	if (error != 0 || mountpoint == NULL) {
		return command_fail(STATUS_FAILED, "%s: %s", args.mountpoint,
				strerror(error != 0 ? -error : ENOMEM));
	}
	return serve_mount(command, &args, mountpoint);
}

static int run(struct command *command)
{
	const struct arguments *arguments = &command->arguments;

	if (parse(command) != 0) {
		return command_fail(STATUS_USAGE, "%s", command->message);
	}
	if (arguments->help) {
		return print_help();
	}
	if (arguments->version) {
		return print_version();
	}
	const char *misplaced = misplaced_word(arguments);

	if (misplaced != NULL) {
		return command_fail(STATUS_USAGE, "%s", misplaced);
	}
	if (!command->helper && arguments->word_count > 0 &&
			source_args_kind(arguments->words[0]) ==
					SOURCE_SUBCOMMAND) {
		if (parse_for_person(command) != 0) {
			return command_fail(
					STATUS_USAGE, "%s", command->message);
		}
		hide_passwords(command);
		return run_subcommand(arguments, &command->options);
	}
	return run_mount(command);
}

int main(int argc, char **argv)
{
	struct command command = {
			.argc = argc,
			.argv = argv,
			.helper = argc > 0 && mount_helper_called_as(argv[0]),
	};

	fill_streams();
	fill_environment(command.helper);
	init_options(&command);
	int status = run(&command);

	arguments_finish(&command.arguments);
	options_finish(&command.options);
	return command.helper && status == STATUS_FAILED ? HELPER_FAILED
							 : status;
}
