#include <criterion/criterion.h>
#include <errno.h>

#include "store/object.h"

Test(object, copies_its_key_and_etag)
{
	char key[] = "a/b";
	char etag[] = "\"e\"";
	struct object *object = object_create(NULL, key, etag, 5, 6);
	key[0] = 'x';
	etag[1] = 'x';
	cr_expect_str_eq(object->key, "a/b");
	cr_expect_eq(object->key_length, 3);
	cr_expect_str_eq(object->etag, "\"e\"");
	cr_expect(object->etag_strong);
	cr_expect(object->cacheable);
	cr_expect(!object->archived);
	cr_expect_eq(object->size, 5);
	cr_expect_eq(object->mtime, 6);
	object_unref(object);
}

Test(object, lives_until_the_last_reference)
{
	struct object *object = object_create(NULL, "k", "", 1, 2);
	cr_expect_eq(object_ref(object), object);
	object_unref(object);
	cr_expect_str_eq(object->key, "k");
	object_unref(object);
	object_unref(NULL);
}

static void expect_version(const char *etag, const char *expected)
{
	struct object *object = object_create(NULL, "k", etag, 10, -3);
	char text[64];
	cr_expect_eq(object_version(object, text, sizeof(text)), 0);
	cr_expect_str_eq(text, expected);
	object_unref(object);
}

Test(object, version_is_the_strong_etag_or_has_size_and_mtime)
{
	expect_version("\"abc\"", "abc");
	expect_version("abc", "abc");
	expect_version("W/\"abc\"", "W/\"abc\";size=10;mtime=-3");
	expect_version("", "W/;size=10;mtime=-3");
}

Test(object, version_that_does_not_fit_is_an_error)
{
	struct object *object = object_create(NULL, "k", "\"abcd\"", 1, 2);
	char text[5];
	cr_expect_eq(object_version(object, text, 4), -EMSGSIZE);
	cr_expect_eq(object_version(object, text, 5), 0);
	object_unref(object);
}

Test(object, etags_compare_without_quotes_and_with_weak_marks)
{
	cr_expect(object_etag_equal("\"abc\"", "abc"));
	cr_expect(object_etag_equal("abc", "abc"));
	cr_expect(object_etag_equal("W/\"abc\"", "W/abc"));
	cr_expect(!object_etag_equal("W/\"abc\"", "\"abc\""));
	cr_expect(!object_etag_equal("\"abc\"", "\"abd\""));
	cr_expect(!object_etag_equal("\"abc", "abc"));
	cr_expect(!object_etag_equal("", "\"a\""));
	cr_expect(object_etag_equal("", ""));
	cr_expect(!object_etag_equal("abc-1", "abc"));
}
