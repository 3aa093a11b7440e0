#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "lookup_rule_private.h"
#include "tree_private.h"

/* What a look under the lock decided, and what it is to be done to. */
struct step {
	enum lookup_action action;
	struct directory *directory; /* LIST, READ_INDEX: with a reference. */
	struct probe_flight *flight; /* PROBE. */
};

static struct step answer_error(struct tree_lookup *lookup, int error)
{
	lookup->error = error;
	return (struct step){.action = LOOKUP_ANSWER_PROBE};
}

void tree_lookup_give_locked(struct tree *tree, struct tree_lookup *lookup,
		uint64_t inode, const struct entry_info *info,
		uint64_t until_ms)
{
	struct node *parent = node_find(&tree->nodes, lookup->parent);
	if (parent == NULL) {
		lookup->error = -ESTALE;
		return;
	}
	struct node *node = node_get(
			&tree->nodes, parent, inode, lookup->name, info);
	if (node == NULL) {
		lookup->error = -ENOMEM;
		return;
	}
	node->lookups++;
	lookup->error = 0;
	tree_fill_attr(tree, inode, info, until_ms, &lookup->attr);
}

static void answer_absent(struct tree_lookup *lookup, uint64_t until_ms)
{
	lookup->error = -ENOENT;
	lookup->attr = (struct tree_attr){.valid_ms = tree_left(until_ms)};
}

void tree_lookup_answer_locked(struct tree *tree, struct tree_lookup *lookup,
		const struct directory *directory)
{
	const struct listing *listing = directory->listing;
	const size_t index = listing_find(listing, lookup->name);
	if (index == LISTING_NONE) {
		answer_absent(lookup, directory->until_ms);
		return;
	}
	struct entry_info info;
	listing_info(listing, index, &info);
	tree_lookup_give_locked(tree, lookup, listing->entries[index].inode,
			&info, directory->until_ms);
}

static void answer_probe_locked(struct tree *tree, struct tree_lookup *lookup,
		const struct directory *directory)
{
	const struct probe *probe =
			directory_find_probe(directory, lookup->name);
	if (probe->absent) {
		answer_absent(lookup, probe->until_ms);
	} else {
		tree_lookup_give_locked(tree, lookup, probe->inode,
				&probe->info, probe->until_ms);
	}
}

static struct lookup_facts facts_of(const struct directory *directory,
		const char *name, bool index_unread)
{
	const uint64_t now_ms = clock_monotonic_ms();
	const struct probe *probe = directory_find_probe(directory, name);
	return (struct lookup_facts){
			.listing_fresh = directory->listing != NULL &&
					 directory->until_ms > now_ms,
			.probe_fresh = probe != NULL &&
				       probe->until_ms > now_ms,
			.listing_now = directory->listing_now,
			.probing_now = tree_probe_find_locked(
						       directory, name) != NULL,
			.denied = directory->denied_until_ms > now_ms,
			.index_unread = index_unread,
			.asked_before = directory->listing != NULL ||
					directory->probes != NULL ||
					directory->probe_flights != NULL,
	};
}

/* Does what needs the lock only. */
static struct step act_locked(struct tree *tree, struct tree_lookup *lookup,
		struct directory *directory, enum lookup_action action)
{
	struct step step = {.action = action};
	switch (action) {
	case LOOKUP_ANSWER_LISTING:
		tree_lookup_answer_locked(tree, lookup, directory);
		break;
	case LOOKUP_ANSWER_PROBE:
		answer_probe_locked(tree, lookup, directory);
		break;
	case LOOKUP_JOIN_LISTING:
		LL_APPEND(directory->lookups, lookup);
		break;
	case LOOKUP_JOIN_PROBE:
		tree_probe_join_locked(
				tree_probe_find_locked(directory, lookup->name),
				lookup);
		break;
	case LOOKUP_READ_INDEX:
		step.directory = directory_ref(directory);
		break;
	case LOOKUP_LIST:
		step.directory = directory_ref(directory);
		directory->listing_now = true;
		tree_begin_question_locked(tree);
		LL_APPEND(directory->lookups, lookup);
		break;
	case LOOKUP_PROBE:
		step.flight = tree_probe_create_locked(
				tree, directory, lookup->name);
		if (step.flight == NULL) {
			return answer_error(lookup, -ENOMEM);
		}
		tree_probe_join_locked(step.flight, lookup);
		break;
	}
	return step;
}

static struct step step_locked(struct tree *tree, struct tree_lookup *lookup,
		bool index_unread)
{
	struct node *parent = node_find(&tree->nodes, lookup->parent);
	if (parent == NULL) {
		return answer_error(lookup, -ESTALE);
	}
	if (!parent->is_dir) {
		return answer_error(lookup, -ENOTDIR);
	}
	struct directory *directory = tree_directory_locked(tree, parent);
	if (directory == NULL) {
		return answer_error(lookup, -ENOMEM);
	}
	const struct lookup_facts facts =
			facts_of(directory, lookup->name, index_unread);
	return act_locked(tree, lookup, directory, lookup_decide(&facts));
}

/* Once it was started the lookup is the answer's. */
static int started(struct tree_lookup *lookup, int error)
{
	if (error == 0) {
		return -EINPROGRESS;
	}
	lookup->error = error;
	return 0;
}

int tree_lookup_advance(struct tree *tree, struct tree_lookup *lookup,
		bool may_read_index)
{
	bool index_unread = may_read_index && tree_has_index(tree);
	for (;;) {
		struct step step = {0};
		{
			LOCK_SCOPE(&tree->lock);
			lookup->next = NULL;
			step = step_locked(tree, lookup, index_unread);
		}
		switch (step.action) {
		case LOOKUP_ANSWER_LISTING:
		case LOOKUP_ANSWER_PROBE:
			return 0;
		case LOOKUP_JOIN_LISTING:
		case LOOKUP_JOIN_PROBE:
			return -EINPROGRESS;
		case LOOKUP_LIST:
			return started(lookup,
					tree_list_start(tree, step.directory,
							lookup, NULL));
		case LOOKUP_PROBE:
			return started(lookup,
					tree_probe_start(step.flight, lookup));
		case LOOKUP_READ_INDEX:
			tree_read_index(tree, step.directory);
			tree_drop_directory(tree, step.directory);
			index_unread = false;
			break;
		}
	}
}

int tree_lookup_start(struct tree *tree, struct tree_lookup *lookup)
{
	const char *name = lookup->name;
	if (strlen(name) > TREE_NAME_MAX) {
		lookup->error = -ENAMETOOLONG;
		return 0;
	}
	if (name[0] == '\0' || strchr(name, '/') != NULL ||
			strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		/* No entry has such a name, ever. */
		answer_absent(lookup, UINT64_MAX);
		return 0;
	}
	return tree_lookup_advance(tree, lookup, true);
}

void tree_lookups_finish(struct tree_lookup *lookups)
{
	struct tree_lookup *lookup = NULL;
	struct tree_lookup *next = NULL;
	LL_FOREACH_SAFE (lookups, lookup, next) {
		lookup->on_done(lookup);
	}
}

void tree_lookups_resume(struct tree *tree, struct tree_lookup *lookups)
{
	struct tree_lookup *lookup = NULL;
	struct tree_lookup *next = NULL;
	LL_FOREACH_SAFE (lookups, lookup, next) {
		if (tree_lookup_advance(tree, lookup, false) == 0) {
			lookup->on_done(lookup);
		}
	}
}
