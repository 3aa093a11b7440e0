#ifndef STORE_S3_LIST_STATE_PRIVATE_H
#define STORE_S3_LIST_STATE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* A listing while it is read (s3_list.c) and looked over (s3_list_finish.c). */

/* As read: texts by their place in `texts`, which moves as it grows. */
struct s3_list_item {
	size_t key, key_length;
	size_t etag; /* 0: the empty text. */
	uint64_t size;
	int64_t mtime;
	bool is_prefix;
	bool archived;
};

struct s3_xml;
struct store_entry;

struct s3_list {
	struct s3_xml *xml;
	struct strbuf texts; /* Begins with a NUL. */
	struct strbuf names; /* Decoded keys, when they came encoded. */
	struct s3_list_item *items;
	size_t item_count, item_capacity;
	struct s3_list_item item; /* The <Contents> being read. */
	unsigned fields;
	bool in_contents, in_prefixes;
	bool is_encoded;
	bool has_truncated, is_truncated;
	char *next_token;
	struct store_entry *entries;
	bool is_error;
	const char *problem;
};

/* Keeps the first problem; returns -EBADMSG. */
int s3_list_malformed(struct s3_list *list, const char *problem);

#endif
