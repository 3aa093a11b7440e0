#ifndef STORE_S3_REPLY_PRIVATE_H
#define STORE_S3_REPLY_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct object;
struct s3_error;

/* Decides what an answer of S3 is worth. Pure functions. */

/* Decimal digits and nothing else. -EINVAL, -ERANGE. */
int s3_parse_u64(const char *text, uint64_t *out_value);

struct s3_content_range {
	uint64_t start, end, total; /* `end` is the last byte. */
};

/* "bytes 0-9/64" with start <= end < total. -EINVAL for anything else, an
 * unknown total too. */
int s3_content_range_parse(
		const char *text, struct s3_content_range *out_range);

/* A version that may change without a trace: no strong ETag, and modified
 * under 2 s before the answer. */
bool s3_is_unsettled(const char *etag, int64_t mtime, int64_t reply_time);

#define S3_ETAG_MAX 1024
/* Not too long, and without control characters. */
bool s3_etag_fits_a_header(const char *etag, size_t length);
/* Without its quotes: some listings leave them out, some servers have none in
 * their headers either. */
bool s3_etag_is_bare(const char *etag);

/* Headers of an answer to a range request; NULL: not there. */
struct s3_range_answer {
	int status;
	const char *content_range;
	int64_t content_length; /* -1: not given. */
	const char *etag;
	const char *last_modified;
};

/*
 * NULL if the answer is the range [offset, offset + length) of this version,
 * else what is wrong with it; *out_error is then -ESTALE for another version
 * and -EIO for anything else.
 */
const char *s3_range_problem(const struct object *object, uint64_t offset,
		uint64_t length, const struct s3_range_answer *answer,
		int *out_error);

/* Headers of an answer to HEAD; NULL: not there. */
struct s3_head_answer {
	const char *content_length;
	const char *etag;
	const char *last_modified;
	const char *date;
	const char *storage_class;
	const char *restore;
	const char *archive_status;
};

struct s3_head {
	uint64_t size;
	int64_t mtime;
	const char *etag; /* "" without one. */
	bool archived;
	bool unsettled;
};

/* NULL, or what is wrong with it. */
const char *s3_head_read(
		const struct s3_head_answer *answer, struct s3_head *out_head);

/* What a request was sent with. */
struct s3_sent {
	char region[64];
	int64_t time; /* As signed. */
	bool is_signed;
};

/* What an answer that refuses it says. */
struct s3_refusal {
	int status;
	const struct s3_error *error;
	const char *region_header; /* NULL: not there. */
	const char *date;
};

struct s3_remedy {
	enum store_repair repair;
	char region[64];     /* For STORE_REPAIR_REGION. */
	int64_t server_time; /* For STORE_REPAIR_CLOCK. */
};

/*
 * What may mend it: another region, the server's clock, or other credentials.
 * Never what the request was already sent with, so that no answer can make a
 * loop.
 */
void s3_diagnose(const struct s3_sent *sent, const struct s3_refusal *refusal,
		struct s3_remedy *out_remedy);

#endif
