#ifndef TREE_LOOKUP_RULE_PRIVATE_H
#define TREE_LOOKUP_RULE_PRIVATE_H

#include <stdbool.h>

/* What is known when a name is looked up in a directory. */
struct lookup_facts {
	bool listing_fresh;
	bool probe_fresh;  /* An answer about this very name holds. */
	bool listing_now;  /* A LIST of the directory is under way. */
	bool probing_now;  /* This very name is being asked for. */
	bool denied;	   /* A LIST was refused a short time ago. */
	bool index_unread; /* The index may have a listing. */
	bool asked_before; /* It was listed, or any name was asked for. */
};

enum lookup_action {
	LOOKUP_ANSWER_LISTING,
	LOOKUP_ANSWER_PROBE,
	LOOKUP_JOIN_LISTING,
	LOOKUP_JOIN_PROBE,
	LOOKUP_READ_INDEX,
	LOOKUP_LIST,
	LOOKUP_PROBE,
};

/*
 * The first name asked for in a directory costs a HEAD and a LIST of what would
 * be below it; from the second on, and whenever a known answer ran out, the
 * directory is listed. Where listing is refused, each name is asked for.
 */
enum lookup_action lookup_decide(const struct lookup_facts *facts);

enum probe_kind { PROBE_ERROR, PROBE_ABSENT, PROBE_FILE, PROBE_DIR };

/*
 * What HEAD of `path` and LIST of `path/` say together. Absence needs both; a
 * directory is shown over an object; an object is shown when the listing was
 * refused, but not when it failed, since a directory may hide it. Sets
 * *out_error for PROBE_ERROR.
 */
enum probe_kind probe_combine(
		int head_error, int list_error, bool any_below, int *out_error);

/* Whether both were refused for want of permission, so that the name may be a
 * directory that cannot be listed. A store that hides what is absent refuses
 * HEAD too. */
bool probe_may_be_unlisted(int head_error, int list_error);

/* What a failed question is for who asked: never -ENOENT, which would be an
 * answer. */
int lookup_error(int error);

#endif
