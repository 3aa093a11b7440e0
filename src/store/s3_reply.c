#include "s3_reply_private.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "store/object.h"

#define UNSETTLED_SECONDS 2

int s3_parse_u64(const char *text, uint64_t *out_value)
{
	uint64_t value = 0;

	if (text[0] == '\0') {
		return -EINVAL;
	}
	for (const char *c = text; *c != '\0'; c++) {
		if (*c < '0' || *c > '9') {
			return -EINVAL;
		}
		if (__builtin_mul_overflow(value, 10, &value) ||
				__builtin_add_overflow(value,
						(uint64_t)(*c - '0'), &value)) {
			return -ERANGE;
		}
	}
	/* No object is larger, and sums of two such values do not wrap. */
	if (value > INT64_MAX) {
		return -ERANGE;
	}
	*out_value = value;
	return 0;
}

/* The digits up to `end`, which must follow them; *text moves behind it. */
static int take_number(const char **text, char end, uint64_t *out_value)
{
	char digits[24];
	const size_t length = strspn(*text, "0123456789");

	if (length >= sizeof(digits) || (*text)[length] != end) {
		return -EINVAL;
	}
	memcpy(digits, *text, length);
	digits[length] = '\0';
	*text += length + (end != '\0');
	return s3_parse_u64(digits, out_value);
}

int s3_content_range_parse(const char *text, struct s3_content_range *out_range)
{
	struct s3_content_range range = {0};

	if (strncasecmp(text, "bytes ", 6) != 0) {
		return -EINVAL;
	}
	text += 6;
	if (take_number(&text, '-', &range.start) != 0 ||
			take_number(&text, '/', &range.end) != 0 ||
			take_number(&text, '\0', &range.total) != 0) {
		return -EINVAL;
	}
	if (range.start > range.end || range.end >= range.total) {
		return -EINVAL;
	}
	*out_range = range;
	return 0;
}

bool s3_is_unsettled(const char *etag, int64_t mtime, int64_t reply_time)
{
	const bool strong = etag[0] != '\0' && strncmp(etag, "W/", 2) != 0;

	return !strong && mtime > reply_time - UNSETTLED_SECONDS;
}

bool s3_etag_fits_a_header(const char *etag, size_t length)
{
	if (length > S3_ETAG_MAX) {
		return false;
	}
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)etag[i] < ' ' || etag[i] == 0x7f) {
			return false;
		}
	}
	return true;
}

bool s3_etag_is_bare(const char *etag)
{
	return etag[0] != '\0' && strchr(etag, '"') == NULL;
}

/* Without a strong ETag the time of change is all there is to compare. */
static bool is_other_version(const struct object *object,
		const struct s3_range_answer *answer)
{
	int64_t mtime = 0;

	if (object->etag[0] != '\0' && answer->etag != NULL &&
			!object_etag_equal(object->etag, answer->etag)) {
		return true;
	}
	return !object->etag_strong && answer->last_modified != NULL &&
	       clock_parse_http(answer->last_modified, &mtime) == 0 &&
	       mtime != object->mtime;
}

const char *s3_range_problem(const struct object *object, uint64_t offset,
		uint64_t length, const struct s3_range_answer *answer,
		int *out_error)
{
	struct s3_content_range range;

	*out_error = -EIO;
	if (answer->status != 206) {
		return "not a range, though one was asked for";
	}
	if (is_other_version(object, answer)) {
		*out_error = -ESTALE;
		return "another version of the object";
	}
	if (object->etag[0] != '\0' && answer->etag == NULL) {
		return "a range without an ETag";
	}
	if (answer->content_range == NULL) {
		return "a range without Content-Range";
	}
	if (s3_content_range_parse(answer->content_range, &range) != 0) {
		return "a Content-Range that is none";
	}
	if (range.start != offset || range.end != offset + length - 1) {
		return "another range than was asked for";
	}
	if (range.total != object->size) {
		return "a range of an object of another size";
	}
	if (answer->content_length >= 0 &&
			(uint64_t)answer->content_length != length) {
		return "a Content-Length that is not that of the range";
	}
	return NULL;
}

/* A restored copy can be read until it runs out. */
static bool is_archived(const struct s3_head_answer *answer)
{
	const char *class = answer->storage_class;

	if (answer->archive_status != NULL) {
		return true; /* A deep tier of Intelligent-Tiering. */
	}
	if (class == NULL ||
			(strcmp(class, "GLACIER") != 0 &&
					strcmp(class, "DEEP_ARCHIVE") != 0)) {
		return false;
	}
	return answer->restore == NULL ||
	       strstr(answer->restore, "ongoing-request=\"false\"") == NULL;
}

const char *s3_head_read(
		const struct s3_head_answer *answer, struct s3_head *out_head)
{
	struct s3_head head = {
			.etag = answer->etag != NULL ? answer->etag : "",
			.archived = is_archived(answer),
	};
	int64_t date = INT64_MAX;

	if (answer->content_length == NULL ||
			s3_parse_u64(answer->content_length, &head.size) != 0) {
		return "no usable Content-Length";
	}
	if (answer->last_modified == NULL ||
			clock_parse_http(answer->last_modified, &head.mtime) !=
					0) {
		return "no usable Last-Modified";
	}
	if (answer->date == NULL ||
			clock_parse_http(answer->date, &date) != 0) {
		date = head.mtime; /* Nothing shows that it has settled. */
	}
	head.unsettled = s3_is_unsettled(head.etag, head.mtime, date);
	*out_head = head;
	return NULL;
}
