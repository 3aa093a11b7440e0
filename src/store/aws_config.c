#include "aws_config_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A piece of the file's text. */
struct span {
	const char *text;
	size_t length;
};

enum section {
	SECTION_OTHER,
	SECTION_PROFILE,
	SECTION_SERVICES, /* The one that the profile names. */
};

struct reader {
	enum aws_file file;
	const char *profile;
	struct aws_profile *out;
	/* [default] gives way to [profile default], wherever that stands. */
	bool has_prefixed;
	enum section section;
	/* The setting that deeper lines belong to. */
	size_t indent;
	bool has_setting;
	bool is_nested; /* It had no value: they are settings of their own. */
	bool in_s3;
	int error;
};

void aws_free_secret(char *text)
{
	if (text != NULL) {
		explicit_bzero(text, strlen(text));
		free(text);
	}
}

void aws_profile_finish(struct aws_profile *profile)
{
	aws_free_secret(profile->access_key_id);
	aws_free_secret(profile->secret_access_key);
	aws_free_secret(profile->session_token);
	free(profile->region);
	free(profile->endpoint_url);
	free(profile->services);
	free(profile->s3_endpoint_url);
	*profile = (struct aws_profile){0};
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static struct span trim(struct span span)
{
	while (span.length > 0 && is_blank(span.text[0])) {
		span.text++;
		span.length--;
	}
	while (span.length > 0 && is_blank(span.text[span.length - 1])) {
		span.length--;
	}
	return span;
}

static bool span_is(struct span span, const char *text)
{
	return span.length == strlen(text) &&
	       memcmp(span.text, text, span.length) == 0;
}

static bool span_is_name(struct span span, const char *name)
{
	return span.length == strlen(name) &&
	       strncasecmp(span.text, name, span.length) == 0;
}

static void set_text(struct reader *reader, char **field, struct span value)
{
	char *copy = strndup(value.text, value.length);

	if (copy == NULL) {
		reader->error = -ENOMEM;
		return;
	}
	aws_free_secret(*field);
	*field = copy;
}

/* A comment may follow a value after a blank; no setting read here has
 * blanks of its own. */
static struct span without_comment(struct span value)
{
	for (size_t i = 1; i < value.length; i++) {
		if ((value.text[i] == '#' || value.text[i] == ';') &&
				is_blank(value.text[i - 1])) {
			value.length = i;
			break;
		}
	}
	return trim(value);
}

static void take_setting(
		struct reader *reader, struct span name, struct span value)
{
	struct aws_profile *out = reader->out;
	const struct {
		const char *name;
		char **field;
	} texts[] = {
			{"aws_access_key_id", &out->access_key_id},
			{"aws_secret_access_key", &out->secret_access_key},
			{"aws_session_token", &out->session_token},
			{"region", &out->region},
			{"endpoint_url", &out->endpoint_url},
			{"services", &out->services},
	};
	static const char *const instead[] = {
			"role_arn", "web_identity_token_file"};
	static const char *const without[] = {
			"credential_process", "sso_session", "sso_start_url"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (span_is_name(name, texts[i].name)) {
			set_text(reader, texts[i].field, value);
		}
	}
	for (size_t i = 0; i < sizeof(instead) / sizeof(instead[0]); i++) {
		if (span_is_name(name, instead[i])) {
			out->instead_of_keys = instead[i];
		}
	}
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		if (span_is_name(name, without[i])) {
			out->without_keys = without[i];
		}
	}
}

/* "NAME = value" or "NAME: value". False for a line without either. */
static bool split(struct span line, struct span *name, struct span *value)
{
	size_t at = 0;

	while (at < line.length && line.text[at] != '=' &&
			line.text[at] != ':') {
		at++;
	}
	if (at == 0 || at == line.length) {
		return false;
	}
	*name = trim((struct span){line.text, at});
	*value = without_comment(trim((struct span){
			line.text + at + 1, line.length - at - 1}));
	return true;
}

static void take_nested(struct reader *reader, struct span line)
{
	struct span name, value;

	if (reader->is_nested && reader->in_s3 && split(line, &name, &value) &&
			span_is_name(name, "endpoint_url")) {
		set_text(reader, &reader->out->s3_endpoint_url, value);
	}
}

static void take_line(struct reader *reader, struct span line, size_t indent)
{
	struct span name, value;

	if (reader->section == SECTION_OTHER) {
		return;
	}
	if (reader->has_setting && indent > reader->indent) {
		take_nested(reader, line);
		return;
	}
	if (!split(line, &name, &value)) {
		return;
	}
	reader->has_setting = true;
	reader->indent = indent;
	reader->is_nested = value.length == 0;
	reader->in_s3 = span_is_name(name, "s3");
	if (reader->section == SECTION_PROFILE && value.length > 0) {
		take_setting(reader, name, value);
	}
}

/* The word before a blank, and the rest without quotes around it. */
static struct span split_title(struct span title, struct span *rest)
{
	size_t at = 0;

	while (at < title.length && !is_blank(title.text[at])) {
		at++;
	}
	*rest = trim((struct span){title.text + at, title.length - at});
	if (rest->length >= 2 &&
			(rest->text[0] == '"' || rest->text[0] == '\'') &&
			rest->text[rest->length - 1] == rest->text[0]) {
		rest->text++;
		rest->length -= 2;
	}
	return (struct span){title.text, at};
}

static enum section enter_profile(struct reader *reader, bool is_prefixed)
{
	if (reader->has_prefixed && !is_prefixed) {
		return SECTION_OTHER;
	}
	if (is_prefixed && !reader->has_prefixed) {
		/* What [default] said does not count. */
		reader->has_prefixed = true;
		aws_profile_finish(reader->out);
	}
	reader->out->found = true;
	return SECTION_PROFILE;
}

static enum section section_of(struct reader *reader, struct span title)
{
	struct span rest;
	const struct span word = split_title(title, &rest);

	if (reader->file == AWS_FILE_CREDENTIALS) {
		return span_is(title, reader->profile)
				       ? enter_profile(reader, false)
				       : SECTION_OTHER;
	}
	if (rest.length == 0) {
		return span_is(title, "default") && strcmp(reader->profile,
								    "defaul"
								    "t") == 0
				       ? enter_profile(reader, false)
				       : SECTION_OTHER;
	}
	if (span_is(word, "profile") && span_is(rest, reader->profile)) {
		return enter_profile(reader, true);
	}
	return SECTION_OTHER;
}

static enum section services_of(struct reader *reader, struct span title)
{
	struct span rest;
	const struct span word = split_title(title, &rest);

	return span_is(word, "services") && span_is(rest, reader->out->services)
			       ? SECTION_SERVICES
			       : SECTION_OTHER;
}

static void take_title(struct reader *reader, struct span line, bool services)
{
	const char *end = memchr(line.text, ']', line.length);

	reader->section = SECTION_OTHER;
	reader->has_setting = false;
	if (end == NULL) {
		return;
	}
	const struct span title = trim((struct span){
			line.text + 1, (size_t)(end - line.text) - 1});
	reader->section = services ? services_of(reader, title)
				   : section_of(reader, title);
}

static void read_lines(struct reader *reader, struct span text, bool services)
{
	reader->section = SECTION_OTHER;
	while (text.length > 0 && reader->error == 0) {
		const char *end = memchr(text.text, '\n', text.length);
		const size_t length = end != NULL ? (size_t)(end - text.text)
						  : text.length;
		const struct span line = trim((struct span){text.text, length});
		const size_t indent = (size_t)(line.text - text.text);

		if (line.length > 0 && line.text[0] == '[') {
			take_title(reader, line, services);
		} else if (line.length > 0 && line.text[0] != '#' &&
				line.text[0] != ';') {
			take_line(reader, line, indent);
		}
		text.text += length + (end != NULL);
		text.length -= length + (end != NULL);
	}
}

static void lay_text_over(char **under, char **over)
{
	if (*over != NULL) {
		aws_free_secret(*under);
		*under = *over;
		*over = NULL;
	}
}

/* Key and secret belong together: a file that has either replaces all three of
 * the other file's. */
static void lay_over(struct aws_profile *under, struct aws_profile *over)
{
	if (over->access_key_id != NULL || over->secret_access_key != NULL) {
		aws_free_secret(under->access_key_id);
		aws_free_secret(under->secret_access_key);
		aws_free_secret(under->session_token);
		under->access_key_id = NULL;
		under->secret_access_key = NULL;
		under->session_token = NULL;
	}
	lay_text_over(&under->access_key_id, &over->access_key_id);
	lay_text_over(&under->secret_access_key, &over->secret_access_key);
	lay_text_over(&under->session_token, &over->session_token);
	lay_text_over(&under->region, &over->region);
	lay_text_over(&under->endpoint_url, &over->endpoint_url);
	lay_text_over(&under->services, &over->services);
	lay_text_over(&under->s3_endpoint_url, &over->s3_endpoint_url);
	under->found = under->found || over->found;
	if (over->instead_of_keys != NULL) {
		under->instead_of_keys = over->instead_of_keys;
	}
	if (over->without_keys != NULL) {
		under->without_keys = over->without_keys;
	}
}

int aws_config_parse(const char *text, size_t length, enum aws_file file,
		const char *profile, struct aws_profile *inout_profile)
{
	struct aws_profile read = {0};
	struct reader reader = {.file = file, .profile = profile, .out = &read};
	struct span all = {text, length};

	if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
		all = (struct span){text + 3, length - 3};
	}
	read_lines(&reader, all, false);
	if (file == AWS_FILE_CONFIG && read.services != NULL) {
		read_lines(&reader, all, true);
	}
	if (reader.error == 0) {
		lay_over(inout_profile, &read);
	}
	aws_profile_finish(&read);
	return reader.error;
}
