#ifndef MAIN_OPTION_TABLE_H
#define MAIN_OPTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,	 /* bool; alone, or yes/no */
	OPTION_TRISTATE, /* int: -1, 0, 1; alone, or yes/no */
	OPTION_TEXT,	 /* char * */
	OPTION_PATH,	 /* char *, made absolute; `words` stay as they are */
	OPTION_SOURCE,	 /* char *: a URL */
	OPTION_SIZE,	 /* uint64_t bytes */
	OPTION_AMOUNT,	 /* struct option_amount */
	OPTION_DURATION, /* uint64_t milliseconds */
	OPTION_COUNT,	 /* uint64_t */
	OPTION_CHOICE,	 /* int: the index in `words` */
	OPTION_MODE,	 /* mode_t, octal */
	OPTION_USER,	 /* uid_t, name or number */
	OPTION_GROUP,	 /* gid_t, name or number */
	OPTION_LATER,	 /* Known, and refused as not in this version. */
};

/* One row of the one table: parsing, help and manual follow it. */
struct option_entry {
	const char *name; /* With underscores. */
	enum option_kind kind;
	const char *argument; /* As in the help; NULL for a flag. */
	const char *default_text;
	const char *help;
	size_t offset;	   /* In struct options. */
	uint64_t least;	   /* Sizes, durations, counts. */
	uint64_t most;	   /* Likewise; 0: none. */
	const char *words; /* "once|always|never" */
	const char *later; /* A word that is known, but not in this version. */
};

extern const struct option_entry option_table[];
extern const size_t option_table_count;

/* NULL for an unknown name. Hyphens count as underscores. */
const struct option_entry *option_table_find(const char *name);

/* The table's name that is nearest to `name` by edits, NULL when none is near:
 * for "did you mean". */
const char *option_table_nearest(const char *name);

/* Whether two names are equal, hyphens being underscores. */
int option_name_equal(const char *a, const char *b);

#endif
