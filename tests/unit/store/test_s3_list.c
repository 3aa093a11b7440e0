#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../src/store/s3_list_private.h"
#include "store/store.h"

#define HEAD                                                                   \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                         \
	"<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/\">"
#define TAIL "<IsTruncated>false</IsTruncated></ListBucketResult>"
#define URL "<EncodingType>url</EncodingType>"
#define TIME "<LastModified>2026-01-31T12:34:56.000Z</LastModified>"
#define KEY(key) "<Contents><Key>" key "</Key><Size>7</Size>" TIME "</Contents>"
#define PREFIX(p) "<CommonPrefixes><Prefix>" p "</Prefix></CommonPrefixes>"

static struct s3_list *list;
static struct store_page page;
static size_t unnamed;

static int read_with(const char *text, size_t length, size_t piece,
		const struct s3_list_asked *asked)
{
	int error = 0;
	memset(&page, 0, sizeof(page));
	s3_list_destroy(list);
	cr_assert_eq(s3_list_create(&list), 0);
	for (size_t i = 0; i < length && error == 0; i += piece) {
		error = s3_list_feed(list, text + i,
				length - i < piece ? length - i : piece);
	}
	return error != 0 ? error
			  : s3_list_finish(list, asked, &page, &unnamed);
}

static int read_page(const char *text)
{
	const struct s3_list_asked asked = {.prefix = ""};
	return read_with(text, strlen(text), strlen(text), &asked);
}

static void finish(void)
{
	s3_list_destroy(list);
}

TestSuite(s3_list, .fini = finish);

static void expect_key(size_t index, const char *key)
{
	cr_assert_lt(index, page.entry_count);
	const struct store_entry *entry = &page.entries[index];
	cr_expect_eq(entry->key_length, strlen(key));
	cr_expect_str_eq(entry->key, key);
}

Test(s3_list, entries_have_all_that_stat_needs)
{
	cr_assert_eq(read_page(HEAD "<Name>b</Name><Prefix/><KeyCount>2</"
				    "KeyCount>"
				    "<Contents><Key>a/b.tar</Key>" TIME
				    "<ETag>&quot;abc-17&quot;</"
				    "ETag><Size>12345</Size>"
				    "<StorageClass>STANDARD</StorageClass>"
				    "<Owner><ID>Key</ID></Owner></"
				    "Contents>" PREFIX("a/d/") TAIL),
			0);
	cr_assert_eq(page.entry_count, 2);
	cr_expect(page.next_token == NULL);
	expect_key(0, "a/b.tar");
	cr_expect_str_eq(page.entries[0].etag, "\"abc-17\"");
	cr_expect_eq(page.entries[0].size, 12345);
	cr_expect_eq(page.entries[0].mtime, 1769862896);
	cr_expect_not(page.entries[0].archived);
	cr_expect_not(page.entries[0].is_prefix);
	expect_key(1, "a/d/");
	cr_expect(page.entries[1].is_prefix);
}

Test(s3_list, layout_does_not_matter)
{
	static const char text[] =
			"<?xml version='1.0'?>\n<!-- a --><s3:ListBucketResult "
			"xmlns:s3='x' a='b'>\n  <s3:IsTruncated>false"
			"</s3:IsTruncated>\n <s3:CommonPrefixes>\n<s3:Prefix>"
			"p/</s3:Prefix><s3:Prefix>q/</s3:Prefix>\n"
			"</s3:CommonPrefixes>\n<s3:Contents>\n<s3:Size>1"
			"</s3:Size> "
			"<LastModified>2026-01-31T12:34:56Z"
			"</LastModified><s3:Key>Net &amp; &lt;Works&gt; "
			"&quot;q&quot; &apos;a&apos; &#65;&#x42;<![CDATA["
			"<c>]]></s3:Key>\n</s3:Contents><s3:Prefix/>\n"
			"</s3:ListBucketResult>\n";
	const struct s3_list_asked asked = {.prefix = ""};
	for (size_t piece = 1; piece < 9; piece++) {
		cr_assert_eq(read_with(text, sizeof(text) - 1, piece, &asked),
				0, "piece %zu: %s", piece,
				s3_list_problem(list));
		cr_assert_eq(page.entry_count, 3);
		expect_key(0, "p/");
		expect_key(1, "q/");
		expect_key(2, "Net & <Works> \"q\" 'a' AB<c>");
	}
}

Test(s3_list, names_are_decoded_only_when_the_answer_says_so)
{
	static const char names[] = KEY("a+b%20c%2Bd%25%C3%A9") PREFIX("x+y/");
	char text[1024];
	snprintf(text, sizeof(text), HEAD "%s" TAIL, names);
	cr_assert_eq(read_page(text), 0);
	expect_key(0, "a+b%20c%2Bd%25%C3%A9");
	expect_key(1, "x+y/");
	/* The element may come after the names. */
	snprintf(text, sizeof(text), HEAD "%s" URL TAIL, names);
	cr_assert_eq(read_page(text), 0);
	expect_key(0, "a b c+d%é");
	expect_key(1, "x y/");
}

Test(s3_list, names_are_bytes)
{
	cr_assert_eq(read_page(HEAD URL KEY("%FF%FE") KEY("a%0A%09%1B%7F")
						     TAIL),
			0);
	expect_key(0, "\xff\xfe");
	expect_key(1, "a\n\t\x1b\x7f");
}

Test(s3_list, control_characters_that_xml_cannot_have_are_taken_as_meant)
{
	cr_assert_eq(read_page(HEAD KEY("a&#x1b;b&#8;c\x01"
					"d&#x0A;") KEY("<![CDATA[&#x1b;]]>")
						     KEY("&#x1;&amp;#1;") TAIL),
			0);
	expect_key(0, "a\x1b"
		      "b\bc\x01"
		      "d\n");
	expect_key(1, "&#x1b;");
	expect_key(2, "\x01&#1;");
	/* A noncharacter alone is itself; with a control character nobody
	 * could tell them apart. */
	cr_assert_eq(read_page(HEAD KEY("\xEF\xB7\x91") TAIL), 0);
	expect_key(0, "\xEF\xB7\x91");
	cr_expect_eq(read_page(HEAD KEY("\xEF\xB7\x91&#1;") TAIL), -EBADMSG);
	cr_expect_eq(read_page(HEAD KEY("&#xFDD1;&#1;") TAIL), -EBADMSG);
}

Test(s3_list, keys_with_a_nul_are_left_out_and_counted)
{
	cr_assert_eq(read_page(HEAD URL KEY("a%00b") KEY("c") TAIL), 0);
	cr_assert_eq(page.entry_count, 1);
	cr_expect_eq(unnamed, 1);
	expect_key(0, "c");
}

Test(s3_list, etags_stay_as_they_are)
{
	static const struct {
		const char *text, *etag;
	} rows[] = {
			{"<ETag>abc</ETag>", "abc"},
			{"<ETag>\"abc\"</ETag>", "\"abc\""},
			{"<ETag>W/&#34;x&#34;</ETag>", "W/\"x\""},
			{"<ETag/>", ""},
			{"", ""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];
		snprintf(text, sizeof(text),
				HEAD
				"<Contents><Key>k</Key>%s<Size>1</Size>" TIME
				"</Contents>" TAIL,
				rows[i].text);
		cr_assert_eq(read_page(text), 0);
		cr_expect_str_eq(page.entries[0].etag, rows[i].etag);
	}
}

Test(s3_list, only_frozen_classes_are_archived)
{
	static const struct {
		const char *class;
		bool archived;
	} rows[] = {{"GLACIER", true}, {"DEEP_ARCHIVE", true},
			{"GLACIER_IR", false}, {"STANDARD", false},
			{"", false}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];
		snprintf(text, sizeof(text),
				HEAD "<Contents><StorageClass>%s</StorageClass>"
				     "<Key>k</Key><Size>1</Size>" TIME
				     "</Contents>" KEY("l") TAIL,
				rows[i].class);
		cr_assert_eq(read_page(text), 0);
		cr_expect_eq(page.entries[0].archived, rows[i].archived);
		cr_expect_not(page.entries[1].archived);
	}
}

Test(s3_list, young_entries_without_a_strong_etag_are_unsettled)
{
	const char *text = HEAD KEY("k") PREFIX("p/") TAIL;
	struct s3_list_asked asked = {.prefix = "", .reply_time = 1769862897};
	cr_assert_eq(read_with(text, strlen(text), 100, &asked), 0);
	cr_expect(page.entries[0].unsettled);
	cr_expect_not(page.entries[1].unsettled);
	asked.reply_time += 1;
	cr_assert_eq(read_with(text, strlen(text), 100, &asked), 0);
	cr_expect_not(page.entries[0].unsettled);
}

#define MORE "<IsTruncated>true</IsTruncated>"
#define TOKEN(t) "<NextContinuationToken>" t "</NextContinuationToken>"
#define END "</ListBucketResult>"

Test(s3_list, token_is_unescaped_and_otherwise_letter_for_letter)
{
	cr_assert_eq(read_page(HEAD URL KEY("k") MORE TOKEN(
				     "a+b/c==%2F%20&amp;日本") END),
			0);
	cr_expect_str_eq(page.next_token, "a+b/c==%2F%20&日本");
}

Test(s3_list, token_of_the_last_page_is_ignored)
{
	cr_assert_eq(read_page(HEAD KEY("k") TOKEN("t") TAIL), 0);
	cr_expect(page.next_token == NULL);
}

Test(s3_list, page_that_cannot_go_on_is_an_error)
{
	const char *same = HEAD KEY("k") MORE TOKEN("t") END;
	const struct s3_list_asked asked = {.prefix = "", .token = "t"};
	cr_expect_eq(read_page(HEAD KEY("k") MORE END), -EBADMSG);
	cr_expect_eq(read_page(HEAD KEY("k") MORE TOKEN("") END), -EBADMSG);
	cr_expect_eq(read_with(same, strlen(same), 99, &asked), -EBADMSG);
	cr_expect_eq(read_page(same), 0);
}

Test(s3_list, empty_page_is_a_page)
{
	cr_assert_eq(read_page(HEAD TAIL), 0);
	cr_expect_eq(page.entry_count, 0);
}

Test(s3_list, every_cut_of_a_page_is_an_error)
{
	static const char text[] = HEAD KEY("a") PREFIX("p/") KEY("b") TAIL;
	const struct s3_list_asked asked = {.prefix = ""};
	cr_assert_eq(read_with(text, sizeof(text) - 1, 64, &asked), 0);
	for (size_t length = 0; length < sizeof(text) - 1; length++) {
		cr_assert_eq(read_with(text, length, 64, &asked), -EBADMSG,
				"cut at %zu", length);
	}
}

Test(s3_list, what_is_no_listing_is_an_error)
{
	static const char *const texts[] = {
			"",
			"plain",
			"<html/>",
			"<Error><Code>InternalError</Code></Error>",
			"<ListVersionsResult>" TAIL,
			HEAD KEY("k") END, /* No IsTruncated. */
			HEAD "<IsTruncated>maybe</IsTruncated>" END,
			HEAD "<EncodingType>rot13</EncodingType>" TAIL,
			HEAD "<Contents><Size>1</Size>" TIME "</Contents>" TAIL,
			HEAD "<Contents><Key>k</Key>" TIME "</Contents>" TAIL,
			HEAD
			"<Contents><Key>k</Key><Size>1</Size></Contents>" TAIL,
			HEAD
			"<Contents><Key>k</Key><Key>l</Key><Size>1</Size>" TIME
			"</Contents>" TAIL,
			HEAD "<Contents><Key>k</Key><Size>-1</Size>" TIME
			     "</Contents>" TAIL,
			HEAD "<Contents><Key>k</Key><Size>99999999999999999999"
			     "</Size>" TIME "</Contents>" TAIL,
			HEAD "<Contents><Key>k</Key><Size>1</Size><LastModified"
			     ">yesterday</LastModified></Contents>" TAIL,
			HEAD "<Contents><Key>a<x/>b</Key><Size>1</Size>" TIME
			     "</Contents>" TAIL,
			HEAD PREFIX("p") TAIL,
			HEAD PREFIX("") TAIL,
			HEAD URL KEY("100%") TAIL,
			HEAD URL KEY("%zz") TAIL,
			HEAD KEY("k") TAIL "<more/>",
			"<!DOCTYPE x>" HEAD TAIL,
			"<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">"
			"]><ListBucketResult>" KEY("&a;") TAIL,
			HEAD KEY("&unknown;") TAIL,
			HEAD KEY("\xff") TAIL,
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_expect_eq(read_page(texts[i]), -EBADMSG, "%s", texts[i]);
		cr_expect_str_neq(s3_list_problem(list), "", "%s", texts[i]);
		cr_expect_eq(s3_list_is_error_document(list), i == 3);
	}
}

Test(s3_list, key_outside_the_prefix_is_an_error)
{
	const char *text = HEAD KEY("a/k") TAIL;
	struct s3_list_asked asked = {.prefix = "a/"};
	cr_expect_eq(read_with(text, strlen(text), 99, &asked), 0);
	asked.prefix = "b/";
	cr_expect_eq(read_with(text, strlen(text), 99, &asked), -EBADMSG);
}

Test(s3_list, depth_text_and_size_are_bounded)
{
	const struct s3_list_asked asked = {.prefix = ""};
	const size_t size = S3_LIST_MAX_BODY + 1000;
	char *text = malloc(size);
	size_t length = (size_t)sprintf(text, HEAD);
	for (size_t i = 0; i < 20; i++) {
		length += (size_t)sprintf(text + length, "<a>");
	}
	cr_expect_eq(read_with(text, length, 4096, &asked), -EBADMSG);
	length = (size_t)sprintf(text, HEAD "<Contents><Key>");
	memset(text + length, 'k', 20000);
	cr_expect_eq(read_with(text, length + 20000, 4096, &asked), -EBADMSG);
	memset(text, ' ', size);
	length = (size_t)sprintf(text, HEAD);
	text[length] = ' ';
	cr_expect_eq(read_with(text, size, 65536, &asked), -EBADMSG);
	free(text);
}

Test(s3_list, too_many_entries_are_an_error)
{
	static const char entry[] = PREFIX("p/");
	int error = 0;
	cr_assert_eq(s3_list_create(&list), 0);
	cr_assert_eq(s3_list_feed(list, HEAD, strlen(HEAD)), 0);
	for (size_t i = 0; i <= S3_LIST_MAX_ENTRIES; i++) {
		cr_assert_eq(error, 0, "entry %zu", i);
		error = s3_list_feed(list, entry, sizeof(entry) - 1);
	}
	cr_expect_eq(error, -EBADMSG);
}
