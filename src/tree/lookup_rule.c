#include "lookup_rule_private.h"

#include <errno.h>

enum lookup_action lookup_decide(const struct lookup_facts *facts)
{
	if (facts->listing_fresh) {
		return LOOKUP_ANSWER_LISTING;
	}
	if (facts->probe_fresh) {
		return LOOKUP_ANSWER_PROBE;
	}
	if (facts->denied) {
		return facts->probing_now ? LOOKUP_JOIN_PROBE : LOOKUP_PROBE;
	}
	if (facts->listing_now) {
		return LOOKUP_JOIN_LISTING;
	}
	if (facts->probing_now) {
		return LOOKUP_JOIN_PROBE;
	}
	if (facts->index_unread) {
		return LOOKUP_READ_INDEX;
	}
	return facts->asked_before ? LOOKUP_LIST : LOOKUP_PROBE;
}

int lookup_error(int error)
{
	switch (error) {
	case -EACCES:
	case -EDQUOT:
	case -ENOMEM:
		return error;
	default:
		return -EIO;
	}
}

enum probe_kind probe_combine(
		int head_error, int list_error, bool any_below, int *out_error)
{
	if (list_error == 0 && any_below) {
		return PROBE_DIR;
	}
	/* A store may say that there is no such prefix. */
	const bool none_below = list_error == 0 || list_error == -ENOENT;
	const bool refused = list_error == -EACCES;
	if (head_error == 0 && (none_below || refused)) {
		return PROBE_FILE;
	}
	if (head_error == -ENOENT && none_below) {
		return PROBE_ABSENT;
	}
	/* A refusal is told only if nothing merely failed to answer. */
	int error = head_error != 0 && head_error != -ENOENT ? head_error
							     : list_error;
	if (!none_below && !refused) {
		error = list_error;
	}
	*out_error = lookup_error(error);
	return PROBE_ERROR;
}

bool probe_may_be_unlisted(int head_error, int list_error)
{
	return list_error == -EACCES &&
	       (head_error == -ENOENT || head_error == -EACCES);
}
