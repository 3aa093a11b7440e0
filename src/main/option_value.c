#include "main/option_value.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "main/option_table.h"
#include "option_value_private.h"

int option_value_refuse(const struct option_value *value, const char *reason)
{
	(void)snprintf(value->message, value->message_size, "%s=%s: %s",
			value->entry->name, value->text, reason);
	return -EINVAL;
}

static int replace_text(char **field, char *text)
{
	if (text == NULL) {
		return -ENOMEM;
	}
	free(*field);
	*field = text;
	return 0;
}

bool option_value_is_digits(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

int option_value_word(const char *words, const char *text)
{
	size_t length = strlen(text);
	int index = 0;

	while (words != NULL && *words != '\0') {
		size_t span = strcspn(words, "|");

		if (span == length && strncmp(words, text, span) == 0) {
			return index;
		}
		words += span + (words[span] == '|');
		index++;
	}
	return -1;
}

static int parse_yes_no(const struct option_value *value, bool *out_yes)
{
	static const char *const yes[] = {"yes", "on", "true", "1"};
	static const char *const no[] = {"no", "off", "false", "0"};

	if (value->text == NULL) {
		*out_yes = true;
		return 0;
	}
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (strcasecmp(value->text, yes[i]) == 0) {
			*out_yes = true;
			return 0;
		}
		if (strcasecmp(value->text, no[i]) == 0) {
			*out_yes = false;
			return 0;
		}
	}
	return option_value_refuse(value, "give it alone, or as yes or no");
}

static int parse_path(const struct option_value *value)
{
	char *absolute = NULL;

	if (value->text[0] == '/' || option_value_word(value->entry->words,
						     value->text) >= 0) {
		return replace_text(value->field, strdup(value->text));
	}
	CLEANUP_FREE char *cwd = getcwd(NULL, 0);

	if (cwd == NULL) {
		return option_value_refuse(value,
				"the current directory is gone; give an "
				"absolute path");
	}
	if (asprintf(&absolute, "%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd,
			    value->text) < 0) {
		return -ENOMEM;
	}
	return replace_text(value->field, absolute);
}

static int parse_source(const struct option_value *value)
{
	const char *scheme = strstr(value->text, "://");
	const char *equals = strchr(value->text, '=');

	if (scheme == NULL) {
		return option_value_refuse(
				value, "not a URL, like s3://BUCKET/PREFIX");
	}
	if (equals != NULL && equals < scheme) {
		return option_value_refuse(value,
				"several named sources are not in this "
				"version");
	}
	if (*(char **)value->field != NULL) {
		return option_value_refuse(value,
				"a second source is not in this version");
	}
	return replace_text(value->field, strdup(value->text));
}

static int parse_choice(const struct option_value *value)
{
	const struct option_entry *entry = value->entry;
	char reason[96];
	int index = option_value_word(entry->words, value->text);

	if (index >= 0) {
		*(int *)value->field = index;
		return 0;
	}
	if (option_value_word(entry->later, value->text) >= 0) {
		(void)snprintf(value->message, value->message_size,
				"%s=%s is not in this version", entry->name,
				value->text);
		return -EINVAL;
	}
	(void)snprintf(reason, sizeof(reason), "one of %s", entry->words);
	return option_value_refuse(value, reason);
}

static int parse_mode(const struct option_value *value)
{
	const char *text = value->text;
	unsigned long mode = strtoul(text, NULL, 8);

	if (text[0] == '\0' || text[strspn(text, "01234567")] != '\0' ||
			strlen(text) > 5 || mode > 0777) {
		return option_value_refuse(value, "an octal mode, like 0444");
	}
	*(mode_t *)value->field = (mode_t)mode;
	return 0;
}

static int parse_id(const struct option_value *value, uint32_t *out_id)
{
	errno = 0;
	unsigned long long id = strtoull(value->text, NULL, 10);

	/* The last id means "leave as it is" to chown. */
	if (errno != 0 || id >= UINT32_MAX) {
		return option_value_refuse(value, "too large");
	}
	*out_id = (uint32_t)id;
	return 0;
}

static int parse_user(const struct option_value *value)
{
	uint32_t id = 0;

	if (option_value_is_digits(value->text)) {
		int error = parse_id(value, &id);

		if (error != 0) {
			return error;
		}
	} else {
		const struct passwd *user = getpwnam(value->text);

		if (user == NULL) {
			return option_value_refuse(value, "no such user");
		}
		id = user->pw_uid;
	}
	*(uid_t *)value->field = id;
	return 0;
}

static int parse_group(const struct option_value *value)
{
	uint32_t id = 0;

	if (option_value_is_digits(value->text)) {
		int error = parse_id(value, &id);

		if (error != 0) {
			return error;
		}
	} else {
		const struct group *group = getgrnam(value->text);

		if (group == NULL) {
			return option_value_refuse(value, "no such group");
		}
		id = group->gr_gid;
	}
	*(gid_t *)value->field = id;
	return 0;
}

static int parse_with_value(const struct option_value *value)
{
	switch (value->entry->kind) {
	case OPTION_TEXT:
		return replace_text(value->field, strdup(value->text));
	case OPTION_PATH:
		return parse_path(value);
	case OPTION_SOURCE:
		return parse_source(value);
	case OPTION_SIZE:
		return option_value_parse_size(value);
	case OPTION_AMOUNT:
		return option_value_parse_amount(value);
	case OPTION_DURATION:
		return option_value_parse_duration(value);
	case OPTION_COUNT:
		return option_value_parse_count(value);
	case OPTION_CHOICE:
		return parse_choice(value);
	case OPTION_MODE:
		return parse_mode(value);
	case OPTION_USER:
		return parse_user(value);
	case OPTION_GROUP:
		return parse_group(value);
	case OPTION_FLAG:
	case OPTION_TRISTATE:
	case OPTION_LATER:
		break;
	}
	return -EINVAL;
}

int option_value_parse(const struct option_entry *entry, const char *text,
		void *field, char *message, size_t message_size)
{
	struct option_value value = {entry, text, field, message, message_size};
	bool yes = false;

	if (entry->kind == OPTION_LATER) {
		(void)snprintf(message, message_size,
				"%s is not in this version", entry->name);
		return -EINVAL;
	}
	if (entry->kind == OPTION_FLAG || entry->kind == OPTION_TRISTATE) {
		int error = parse_yes_no(&value, &yes);

		if (error != 0) {
			return error;
		}
		if (entry->kind == OPTION_FLAG) {
			*(bool *)field = yes;
		} else {
			*(int *)field = yes;
		}
		return 0;
	}
	if (text == NULL || text[0] == '\0') {
		(void)snprintf(message, message_size, "%s needs a value: %s=%s",
				entry->name, entry->name, entry->argument);
		return -EINVAL;
	}
	return parse_with_value(&value);
}
