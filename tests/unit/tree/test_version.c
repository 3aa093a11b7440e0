#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"
#include "store/object.h"
#include "store/testing.h"

static struct fixture fixture;

static void setup(void)
{
	fixture_start(&fixture, "", FIXTURE_TTL_MS);
}

static void teardown(void)
{
	fixture_stop(&fixture);
}

TestSuite(version, .init = setup, .fini = teardown);

Test(version, another_version_is_another_inode)
{
	struct tree_attr old;
	struct tree_attr new;
	fixture_put(&fixture, "f");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	cr_assert_eq(fixture_walk(&fixture, "f", &old), 0);
	memory_store_put_pattern(fixture.store, "f", 20, 2, NULL);
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	cr_assert_eq(fixture_walk(&fixture, "f", &new), 0);
	cr_expect_neq(new.inode, old.inode);
	cr_expect_eq(new.size, 20);
	struct tree_attr attr;
	cr_assert_eq(tree_getattr(fixture.tree, old.inode, &attr), 0);
	cr_expect_eq(attr.size, 10);
	/* The kernel looks the name up again by itself. */
	struct object *object = NULL;
	cr_expect_eq(tree_open(fixture.tree, old.inode, &object), -ESTALE);
	cr_assert_eq(tree_open(fixture.tree, new.inode, &object), 0);
	cr_expect_eq(object->size, 20);
	object_unref(object);
	tree_close(fixture.tree, new.inode);
}

Test(version, a_removed_file_is_stale_to_open)
{
	struct object *object = NULL;
	fixture_put(&fixture, "f");
	fixture_put(&fixture, "g");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t f = fixture_inode(&fixture, "f");
	memory_store_remove(fixture.store, "f");
	clock_advance_ms(FIXTURE_TTL_MS + 1);
	cr_expect_eq(fixture_walk(&fixture, "f", NULL), -ENOENT);
	cr_expect_eq(tree_open(fixture.tree, f, &object), -ESTALE);
}

Test(version, open_gives_the_version_and_holds_the_inode)
{
	struct object *object = NULL;
	struct object *again = NULL;
	struct tree_attr attr;
	memory_store_put_pattern(fixture.store, "d/f", 10, 1, "\"v1\"");
	const uint64_t f = fixture_inode(&fixture, "d/f");
	cr_assert_eq(tree_open(fixture.tree, f, &object), 0);
	cr_assert_eq(tree_open(fixture.tree, f, &again), 0);
	cr_expect_eq(again, object);
	cr_expect_str_eq(object->key, "d/f");
	cr_expect_str_eq(object->etag, "\"v1\"");
	cr_expect(object->cacheable);
	tree_forget(fixture.tree, f, 1);
	cr_expect_eq(tree_getattr(fixture.tree, f, &attr), 0);
	tree_close(fixture.tree, f);
	tree_close(fixture.tree, f);
	cr_expect_eq(tree_getattr(fixture.tree, f, &attr), -ESTALE);
	object_unref(object);
	object_unref(again);
	cr_expect_eq(tree_open(fixture.tree, TREE_ROOT_INODE, &object),
			-EISDIR);
}

static void note_restore(struct tree_restore *restore)
{
	restore->on_done = NULL;
}

static int ask_restore(uint64_t inode)
{
	struct tree_restore restore = {.inode = inode, .on_done = note_restore};

	if (tree_restore_start(fixture.tree, &restore) == 0) {
		return restore.error;
	}
	while (__atomic_load_n(&restore.on_done, __ATOMIC_ACQUIRE) != NULL) {
		(void)usleep(1000);
	}
	return restore.error;
}

Test(version, an_archived_version_opens_once_it_is_known_to_be_restored)
{
	struct object *object = NULL;

	memory_store_put_pattern(fixture.store, "cold", 10, 1, "\"v1\"");
	memory_store_set_archived(fixture.store, "cold");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t cold = fixture_inode(&fixture, "cold");
	cr_expect(tree_is_archived(fixture.tree, cold));
	cr_expect_eq(ask_restore(cold), -EACCES);
	cr_expect_eq(tree_open(fixture.tree, cold, &object), -EACCES);
	memory_store_put_pattern(fixture.store, "cold", 10, 1, "\"v1\"");
	memory_store_fail(fixture.store, "stat", 0, 1, -EIO, STORE_FINAL, 0);
	cr_expect_eq(ask_restore(cold), -EIO);
	cr_expect_eq(ask_restore(cold), 0);
	cr_expect_not(tree_is_archived(fixture.tree, cold));
	cr_assert_eq(tree_open(fixture.tree, cold, &object), 0);
	object_unref(object);
	tree_close(fixture.tree, cold);
	cr_expect_eq(ask_restore(12345), -ESTALE);
}

Test(version, another_version_of_an_archived_object_is_stale)
{
	memory_store_put_pattern(fixture.store, "cold", 10, 1, "\"v1\"");
	memory_store_set_archived(fixture.store, "cold");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t cold = fixture_inode(&fixture, "cold");
	memory_store_put_pattern(fixture.store, "cold", 10, 1, "\"v2\"");
	cr_expect_eq(ask_restore(cold), -ESTALE);
	memory_store_remove(fixture.store, "cold");
	cr_expect_eq(ask_restore(cold), -ESTALE);
}

Test(version, archived_and_unsettled_are_passed_on)
{
	struct object *object = NULL;
	fixture_put(&fixture, "cold");
	fixture_put(&fixture, "fresh");
	memory_store_set_archived(fixture.store, "cold");
	memory_store_set_unsettled(fixture.store, "fresh", true);
	cr_expect_eq(tree_open(fixture.tree, fixture_inode(&fixture, "cold"),
				     &object),
			-EACCES);
	const uint64_t fresh = fixture_inode(&fixture, "fresh");
	cr_assert_eq(tree_open(fixture.tree, fresh, &object), 0);
	cr_expect(!object->cacheable);
	object_unref(object);
	tree_close(fixture.tree, fresh);
}

Test(version, a_changed_object_is_looked_up_again)
{
	uint64_t parent = 0;
	char *name = NULL;
	struct object *object = NULL;
	fixture_put(&fixture, "d/f");
	fixture_put(&fixture, "d/g");
	const uint64_t f = fixture_inode(&fixture, "d/f");
	fixture_asked(&fixture);
	memory_store_put_pattern(fixture.store, "d/f", 20, 2, NULL);
	cr_assert_eq(tree_mark_changed(fixture.tree, f, &parent, &name), 0);
	cr_expect_eq(parent, fixture_inode(&fixture, "d"));
	cr_expect_str_eq(name, "f");
	free(name);
	cr_expect_eq(tree_open(fixture.tree, f, &object), -ESTALE);
	struct tree_attr attr;
	cr_assert_eq(fixture_lookup(&fixture, parent, "f", &attr), 0);
	cr_expect_eq(attr.size, 20);
	cr_expect_neq(attr.inode, f);
	cr_expect_str_eq(fixture_asked(&fixture), "l:d/");
	/* Later readers of the old version cost nothing more. */
	cr_assert_eq(tree_mark_changed(fixture.tree, f, &parent, &name), 0);
	free(name);
	fixture_inode(&fixture, "d/f");
	cr_expect_str_eq(fixture_asked(&fixture), "");
	cr_expect_eq(tree_mark_changed(fixture.tree, 424242, &parent, &name),
			-ENOENT);
	cr_expect_eq(tree_mark_changed(fixture.tree, TREE_ROOT_INODE, &parent,
				     &name),
			-ENOENT);
}

Test(version, a_version_that_is_listed_again_opens_again)
{
	uint64_t parent = 0;
	char *name = NULL;
	struct object *object = NULL;
	fixture_put(&fixture, "f");
	fixture_ls(&fixture, TREE_ROOT_INODE);
	const uint64_t f = fixture_inode(&fixture, "f");
	cr_assert_eq(tree_mark_changed(fixture.tree, f, &parent, &name), 0);
	free(name);
	cr_expect_eq(tree_open(fixture.tree, f, &object), -ESTALE);
	cr_expect_eq(fixture_inode(&fixture, "f"), f);
	cr_assert_eq(tree_open(fixture.tree, f, &object), 0);
	object_unref(object);
	tree_close(fixture.tree, f);
}
