#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

Test(strbuf, is_null_before_and_terminated_after_an_append)
{
	struct strbuf buffer;
	strbuf_init(&buffer, 100);
	cr_assert_null(buffer.text);
	cr_assert_eq(strbuf_add_text(&buffer, "a"), 0);
	cr_assert_eq(strbuf_add_char(&buffer, 'b'), 0);
	cr_assert_eq(strbuf_printf(&buffer, "%d-%s", 12, "c"), 0);
	cr_assert_str_eq(buffer.text, "ab12-c");
	cr_assert_eq(buffer.length, 6);
	strbuf_finish(&buffer);
	cr_assert_null(buffer.text);
}

Test(strbuf, holds_exactly_its_limit)
{
	struct strbuf buffer;
	strbuf_init(&buffer, 4);
	cr_assert_eq(strbuf_add_text(&buffer, "abcd"), 0);
	cr_assert_eq(strbuf_add_text(&buffer, ""), 0);
	cr_assert_not(buffer.failed);
	cr_assert_eq(strbuf_add_char(&buffer, 'e'), -EMSGSIZE);
	cr_assert_eq(strbuf_printf(&buffer, "%s", "f"), -EMSGSIZE);
	cr_assert(buffer.failed);
	cr_assert_str_eq(buffer.text, "abcd");
	strbuf_finish(&buffer);
}

Test(strbuf, a_failed_append_changes_nothing_and_is_remembered)
{
	struct strbuf buffer;
	strbuf_init(&buffer, 5);
	cr_assert_eq(strbuf_add_text(&buffer, "ab"), 0);
	cr_assert_eq(strbuf_add(&buffer, "cdef", 4), -EMSGSIZE);
	cr_assert_eq(strbuf_add_text(&buffer, "cde"), 0);
	cr_assert_str_eq(buffer.text, "abcde");
	cr_assert(buffer.failed);
	cr_assert_null(strbuf_take(&buffer));
	cr_assert_null(buffer.text);
}

Test(strbuf, an_append_of_any_length_does_not_overflow_its_sum)
{
	struct strbuf buffer;
	strbuf_init(&buffer, 10);
	cr_assert_eq(strbuf_add_text(&buffer, "a"), 0);
	cr_assert_eq(strbuf_add(&buffer, "a", (size_t)-1), -EMSGSIZE);
	strbuf_finish(&buffer);
}

Test(strbuf, take_hands_over_the_text_and_leaves_an_empty_buffer)
{
	struct strbuf buffer;
	strbuf_init(&buffer, 10);
	char *empty = strbuf_take(&buffer);
	cr_assert_str_eq(empty, "");
	cr_assert_eq(strbuf_add_text(&buffer, "abc"), 0);
	char *text = strbuf_take(&buffer);
	cr_assert_str_eq(text, "abc");
	cr_assert_eq(buffer.length, 0);
	cr_assert_eq(strbuf_add_text(&buffer, "0123456789"), 0);
	strbuf_finish(&buffer);
	free(text);
	free(empty);
}

Test(strbuf, clear_keeps_the_memory_and_forgets_the_failure)
{
	struct strbuf buffer;
	strbuf_init(&buffer, 3);
	cr_assert_eq(strbuf_add_text(&buffer, "abc"), 0);
	cr_assert_eq(strbuf_add_char(&buffer, 'd'), -EMSGSIZE);
	char *memory = buffer.text;
	strbuf_clear(&buffer);
	cr_assert_eq(buffer.text, memory);
	cr_assert_str_eq(buffer.text, "");
	cr_assert_not(buffer.failed);
	strbuf_finish(&buffer);
}

Test(strbuf, grows_over_many_appends_and_keeps_nuls)
{
	struct strbuf buffer;
	strbuf_init(&buffer, 100000);
	for (size_t i = 0; i < 50000; i++) {
		cr_assert_eq(strbuf_add(&buffer, "\0x", 2), 0);
	}
	cr_assert_eq(buffer.length, 100000);
	cr_assert_eq(buffer.text[99998], '\0');
	cr_assert_eq(buffer.text[99999], 'x');
	cr_assert_eq(buffer.text[100000], '\0');
	strbuf_finish(&buffer);
}
