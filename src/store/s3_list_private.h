#ifndef STORE_S3_LIST_PRIVATE_H
#define STORE_S3_LIST_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_page;

/*
 * Reads one ListBucketResult (version 2) as its bytes arrive. A page is whole,
 * or an error: there is no short list.
 */
struct s3_list;

#define S3_LIST_MAX_BODY ((size_t)32 * 1024 * 1024)
#define S3_LIST_MAX_ENTRIES 100000

/* What the page must agree with. */
struct s3_list_asked {
	const char *prefix; /* All names begin with it. */
	const char *token;  /* The next one is another. NULL: none. */
	int64_t reply_time; /* The reply's Date, 0 without one. */
};

int s3_list_create(struct s3_list **out_list);
void s3_list_destroy(struct s3_list *list);

/* -EBADMSG: not a listing; s3_list_problem() says what is wrong with it. */
int s3_list_feed(struct s3_list *list, const void *data, size_t length);

/*
 * At the end of the document, once. *out_page is valid until s3_list_destroy;
 * *out_unnamed counts the keys that have a NUL, which nothing can name: they
 * are left out.
 */
int s3_list_finish(struct s3_list *list, const struct s3_list_asked *asked,
		struct store_page *out_page, size_t *out_unnamed);

/* The root is <Error>: some servers find that out after they said 200. */
bool s3_list_is_error_document(const struct s3_list *list);

/* For people; never NULL. */
const char *s3_list_problem(const struct s3_list *list);

#endif
