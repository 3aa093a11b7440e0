#include "main/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/size.h"
#include "main/option_table.h"
#include "main/options.h"

struct parser {
	int count;
	char *const *argv;
	int next;
	struct options *options;
	struct arguments *arguments;
	char *message;
	size_t message_size;
};

static int refuse(struct parser *parser, const char *text, const char *reason)
{
	(void)snprintf(parser->message, parser->message_size, "%.64s %s", text,
			reason);
	return -EINVAL;
}

static const char *take_value(struct parser *parser)
{
	return parser->next < parser->count ? parser->argv[parser->next++]
					    : NULL;
}

static int set_every(struct parser *parser, const char *value)
{
	uint64_t ms = 0;

	if (value == NULL || duration_parse_ms(value, &ms) != 0 || ms < 100 ||
			ms > 86400000) {
		return refuse(parser, "--every", "needs seconds, like 5");
	}
	parser->arguments->every_ms = ms;
	return 0;
}

/* Words that are no options of the table; NULL: not one of them. */
static bool *word_flag(struct arguments *arguments, const char *name)
{
	const struct {
		const char *name;
		bool *flag;
	} words[] = {
			{"help", &arguments->help},
			{"version", &arguments->version},
			{"verbose", &arguments->verbose},
			{"foreground", &arguments->foreground},
			{"debug", &arguments->debug},
			{"json", &arguments->json},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].name, name) == 0) {
			return words[i].flag;
		}
	}
	return NULL;
}

static bool takes_value(const char *name)
{
	const struct option_entry *entry = option_table_find(name);

	return entry != NULL && entry->argument != NULL;
}

static int parse_long(struct parser *parser, const char *text)
{
	CLEANUP_FREE char *name = strdup(text);

	if (name == NULL) {
		return refuse(parser, "", "out of memory");
	}
	char *equals = strchr(name, '=');
	const char *value = NULL;

	if (equals != NULL) {
		*equals = '\0';
		value = equals + 1;
	}
	bool *flag = word_flag(parser->arguments, name);

	if (flag != NULL && value == NULL) {
		*flag = true;
		return 0;
	}
	if (strcmp(name, "every") == 0) {
		return set_every(parser,
				value != NULL ? value : take_value(parser));
	}
	if (value == NULL && takes_value(name)) {
		value = take_value(parser);
	}
	return options_set(parser->options, name, value, parser->message,
			parser->message_size);
}

static int set_list(struct parser *parser, const char *rest)
{
	const char *list = rest[0] != '\0' ? rest : take_value(parser);

	if (list == NULL) {
		return refuse(parser, "-o", "needs a list: NAME=VALUE,...");
	}
	return options_set_list(parser->options, list, false, parser->message,
			parser->message_size);
}

static int parse_short(struct parser *parser, const char *text)
{
	struct arguments *arguments = parser->arguments;

	for (const char *c = text + 1; *c != '\0'; c++) {
		switch (*c) {
		case 'f':
			arguments->foreground = true;
			break;
		case 'd':
			arguments->debug = true;
			break;
		case 'v':
			arguments->verbose = true;
			break;
		case 'l':
			arguments->long_listing = true;
			break;
		case 'h':
			arguments->help = true;
			break;
		case 'V':
			arguments->version = true;
			break;
		case 'o':
			return set_list(parser, c + 1);
		default:
			return refuse(parser, text,
					"is no option: shardfs --help lists "
					"them");
		}
	}
	return 0;
}

static int parse_one(struct parser *parser, bool *no_more)
{
	struct arguments *arguments = parser->arguments;
	const char *text = parser->argv[parser->next++];

	if (*no_more || text[0] != '-' || text[1] == '\0') {
		arguments->words[arguments->word_count++] = text;
		return 0;
	}
	if (strcmp(text, "--") == 0) {
		*no_more = true;
		return 0;
	}
	if (text[1] == '-') {
		return parse_long(parser, text + 2);
	}
	return parse_short(parser, text);
}

int arguments_parse(int argc, char *const argv[], struct options *options,
		struct arguments *out_arguments, char *message,
		size_t message_size)
{
	struct arguments arguments = {0};
	struct parser parser = {
			.count = argc,
			.argv = argv,
			.next = 1,
			.options = options,
			.arguments = &arguments,
			.message = message,
			.message_size = message_size,
	};
	bool no_more = false;

	arguments.words = calloc((size_t)argc + 1, sizeof(*arguments.words));
	if (arguments.words == NULL) {
		return refuse(&parser, "", "out of memory");
	}
	while (parser.next < argc) {
		int error = parse_one(&parser, &no_more);

		if (error != 0) {
			arguments_finish(&arguments);
			return error;
		}
	}
	*out_arguments = arguments;
	return 0;
}

void arguments_finish(struct arguments *arguments)
{
	free(arguments->words);
	arguments->words = NULL;
	arguments->word_count = 0;
}
