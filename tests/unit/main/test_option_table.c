#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "main/arguments.h"
#include "main/option_help.h"
#include "main/option_table.h"
#include "main/options.h"
#include "main/text_file.h"

/* A value that is none of the defaults. */
static const char *sample_of(const struct option_entry *entry)
{
	switch (entry->kind) {
	case OPTION_FLAG:
	case OPTION_TRISTATE:
		return "yes";
	case OPTION_PATH:
		return "/some/where";
	case OPTION_SOURCE:
		return "s3://bucket/prefix";
	case OPTION_SIZE:
	case OPTION_AMOUNT:
		return "48M";
	case OPTION_DURATION:
		return "17s";
	case OPTION_COUNT:
		return "7";
	case OPTION_CHOICE:
		return strcmp(entry->name, "verify") == 0     ? "never"
		       : strcmp(entry->name, "eviction") == 0 ? "lru"
							      : "debug";
	case OPTION_MODE:
		return "0440";
	case OPTION_USER:
	case OPTION_GROUP:
		return "4711";
	default:
		return "text";
	}
}

static void hyphenate(char *name)
{
	for (; *name != '\0'; name++) {
		*name = *name == '_' ? '-' : *name;
	}
}

/* Parses one command line and returns the options and the result. */
static int parse(struct options *options, const char *first, const char *second)
{
	char *argv[] = {"shardfs", (char *)first, (char *)second, NULL};
	struct arguments arguments;
	char message[512];

	options_init(options);
	int error = arguments_parse(second != NULL ? 3 : 2, argv, options,
			&arguments, message, sizeof(message));

	if (error == 0) {
		arguments_finish(&arguments);
	}
	return error;
}

static size_t field_size(enum option_kind kind)
{
	switch (kind) {
	case OPTION_FLAG:
		return sizeof(bool);
	case OPTION_TRISTATE:
	case OPTION_CHOICE:
		return sizeof(int);
	case OPTION_AMOUNT:
		return sizeof(struct option_amount);
	case OPTION_MODE:
	case OPTION_USER:
	case OPTION_GROUP:
		return sizeof(uint32_t);
	default:
		return sizeof(uint64_t);
	}
}

static bool is_text(const struct option_entry *entry)
{
	return entry->kind == OPTION_TEXT || entry->kind == OPTION_PATH ||
	       entry->kind == OPTION_SOURCE;
}

static bool same_field(const struct option_entry *entry,
		const struct options *a, const struct options *b)
{
	const char *left = (const char *)a + entry->offset;
	const char *right = (const char *)b + entry->offset;

	if (is_text(entry)) {
		const char *x = *(char *const *)left;
		const char *y = *(char *const *)right;

		return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
	}
	return memcmp(left, right, field_size(entry->kind)) == 0;
}

static bool same_options(const struct options *a, const struct options *b)
{
	for (size_t i = 0; i < option_table_count; i++) {
		if (option_table[i].kind != OPTION_LATER &&
				!same_field(&option_table[i], a, b)) {
			return false;
		}
	}
	return true;
}

Test(option_table, both_spellings_of_every_option_mean_the_same)
{
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_entry *entry = &option_table[i];
		char list[128];
		char equals[128];
		char name[64];
		struct options defaults, a, b, c;

		if (entry->kind == OPTION_LATER) {
			continue;
		}
		(void)snprintf(name, sizeof(name), "--%s", entry->name);
		hyphenate(name);
		(void)snprintf(list, sizeof(list), "%s=%s", entry->name,
				sample_of(entry));
		(void)snprintf(equals, sizeof(equals), "%s=%s", name,
				sample_of(entry));
		options_init(&defaults);
		cr_assert_eq(parse(&a, "-o", list), 0, "-o %s", list);
		cr_assert_eq(parse(&b, equals, NULL), 0, "%s", equals);
		cr_assert_eq(parse(&c, name,
					     entry->argument != NULL
							     ? sample_of(entry)
							     : NULL),
				0, "%s", name);
		cr_assert(same_options(&a, &b), "%s", name);
		cr_assert(same_options(&a, &c), "%s", name);
		if (strcmp(entry->name, "eviction") != 0) {
			cr_assert_not(same_field(entry, &a, &defaults), "%s",
					name);
		}
		options_finish(&defaults);
		options_finish(&a);
		options_finish(&b);
		options_finish(&c);
	}
}

Test(option_table, options_of_later_versions_are_refused_by_name)
{
	for (size_t i = 0; i < option_table_count; i++) {
		const struct option_entry *entry = &option_table[i];
		struct options options;
		char message[256] = "";

		if (entry->kind != OPTION_LATER) {
			continue;
		}
		options_init(&options);
		cr_assert_neq(options_set(&options, entry->name, "x", message,
					      sizeof(message)),
				0);
		cr_assert(strstr(message, entry->name) != NULL, "%s", message);
		cr_assert(strstr(message, "is not in this version") != NULL,
				"%s", message);
		options_finish(&options);
	}
}

Test(option_table, every_option_is_in_the_help_and_lines_fit)
{
	struct strbuf help;

	strbuf_init(&help, 1 << 20);
	option_help(&help);
	cr_assert_not(help.failed);
	for (size_t i = 0; i < option_table_count; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "  --%s",
				option_table[i].name);
		hyphenate(name);
		cr_assert(strstr(help.text, name) != NULL, "%s", name);
	}
	for (const char *line = help.text; *line != '\0';
			line += strcspn(line, "\n") + 1) {
		cr_assert_leq(strcspn(line, "\n"), 80, "%.90s", line);
	}
	strbuf_finish(&help);
}

Test(option_table, every_option_has_its_place_in_the_manual)
{
	CLEANUP_FREE char *manual = NULL;

	cr_assert_eq(text_file_read(SOURCE_ROOT "/man/shardfs.8", 1 << 20,
				     &manual),
			0);
	for (size_t i = 0; i < option_table_count; i++) {
		char item[64];

		(void)snprintf(item, sizeof(item), ".It Fl -%s",
				option_table[i].name);
		hyphenate(item + 9);
		cr_assert(strstr(manual, item) != NULL, "%s", item);
	}
}

Test(option_table, the_nearest_name_is_suggested_and_nothing_far)
{
	cr_assert_str_eq(option_table_nearest("cache_dri"), "cache_dir");
	cr_assert_str_eq(option_table_nearest("cache-sise"), "cache_size");
	cr_assert_str_eq(option_table_nearest("metadata_tll"), "metadata_ttl");
	cr_assert_str_eq(option_table_nearest("allow_others"), "allow_other");
	cr_assert_null(option_table_nearest("xyzzy"));
	cr_assert_null(option_table_nearest(
			"a_name_that_is_longer_than_any_option_there_is"));
}
