#include "main/option_help.h"

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "main/option_table.h"

static const char head[] =
		"usage: shardfs [options] SOURCE MOUNTPOINT\n"
		"       shardfs stats MOUNTPOINT [--json] [--every SECONDS]\n"
		"       shardfs ls [-l] URL\n"
		"       shardfs cat URL\n"
		"       shardfs --help | --version\n"
		"\n"
		"Shows the objects under SOURCE as read-only files and keeps "
		"what was read\non the local disk. "
		"Unmount with fusermount3 -u MOUNTPOINT (root: umount).\n"
		"\n"
		"SOURCE  s3://BUCKET[/PREFIX] or file:///DIR, or a "
		"configuration file\n"
		"\n"
		"  -f  stay in front         -d  as -f, with debug log\n"
		"  -v  say who signs, which endpoint and region\n"
		"  -o NAME[=VALUE][,...]     options as in fstab; \\, is a "
		"comma\n"
		"\n"
		"Options, as --cache-dir DIR or as -o cache_dir=DIR:\n";

#define COLUMN 28
#define WIDTH 80

/* Appends the words of `text` from COLUMN on, in lines of WIDTH. */
static void add_wrapped(struct strbuf *out, const char *text)
{
	size_t column = COLUMN;

	while (*text != '\0') {
		size_t word = strcspn(text, " ");

		if (column + 1 + word > WIDTH) {
			(void)strbuf_printf(out, "\n%*s", COLUMN, "");
			column = COLUMN;
		} else if (column > COLUMN) {
			(void)strbuf_add_char(out, ' ');
			column++;
		}
		(void)strbuf_add(out, text, word);
		column += word;
		text += word;
		text += *text == ' ';
	}
}

static void add_entry(struct strbuf *out, const struct option_entry *entry)
{
	char spelling[64];
	char text[256];
	const char *later = entry->kind == OPTION_LATER
					    ? "; not in this version"
					    : "";

	(void)snprintf(spelling, sizeof(spelling), "  --%s%s%s", entry->name,
			entry->argument != NULL ? " " : "",
			entry->argument != NULL ? entry->argument : "");
	for (char *c = spelling; *c != '\0'; c++) {
		*c = *c == '_' ? '-' : *c;
	}
	(void)snprintf(text, sizeof(text), "%s (%s%s)", entry->help,
			entry->default_text, later);
	(void)strbuf_printf(out, "%-*s", COLUMN, spelling);
	if (strlen(spelling) >= COLUMN) {
		(void)strbuf_printf(out, "\n%*s", COLUMN, "");
	}
	add_wrapped(out, text);
	(void)strbuf_add_char(out, '\n');
}

/* Failed appends are kept in out->failed, which the caller checks. */
void option_help(struct strbuf *out)
{
	(void)strbuf_add_text(out, head);
	for (size_t i = 0; i < option_table_count; i++) {
		add_entry(out, &option_table[i]);
	}
	(void)strbuf_add_text(out, "\nThe manual has the rest: "
				   "man 8 shardfs\n");
}
