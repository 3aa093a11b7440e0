#include "store/object.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The object, its count, and its two strings are one allocation. */
struct counted_object {
	struct object object;
	atomic_uint references;
	char text[];
};

static struct counted_object *counted(struct object *object)
{
	return (struct counted_object *)((char *)object -
					 offsetof(struct counted_object,
							 object));
}

static bool etag_is_weak(const char *etag)
{
	return strncmp(etag, "W/", 2) == 0;
}

struct object *object_create(struct store *store, const char *key,
		const char *etag, uint64_t size, int64_t mtime)
{
	const size_t key_length = strlen(key);
	const size_t etag_length = strlen(etag);
	struct counted_object *self =
			malloc(sizeof(*self) + key_length + etag_length + 2);
	if (self == NULL) {
		return NULL;
	}
	char *etag_copy = self->text + key_length + 1;
	memcpy(self->text, key, key_length + 1);
	memcpy(etag_copy, etag, etag_length + 1);
	atomic_init(&self->references, 1);
	self->object = (struct object){
			.store = store,
			.key = self->text,
			.key_length = key_length,
			.etag = etag_copy,
			.etag_strong = etag_length > 0 && !etag_is_weak(etag),
			.cacheable = true,
			.size = size,
			.mtime = mtime,
	};
	return &self->object;
}

struct object *object_ref(struct object *object)
{
	atomic_fetch_add_explicit(
			&counted(object)->references, 1, memory_order_relaxed);
	return object;
}

void object_unref(struct object *object)
{
	if (object == NULL) {
		return;
	}
	struct counted_object *self = counted(object);
	if (atomic_fetch_sub_explicit(
			    &self->references, 1, memory_order_acq_rel) == 1) {
		free(self);
	}
}

/* A strong ETag names the bytes by itself, so it must read the same whether it
 * came from a listing or from a header: it is written without quotes. */
int object_version(const struct object *object, char *buffer, size_t size)
{
	const char *etag = object->etag;
	size_t length = strlen(etag);
	if (length >= 2 && etag[0] == '"' && etag[length - 1] == '"') {
		etag++;
		length -= 2;
	}
	char text[64] = "";
	if (!object->etag_strong) {
		snprintf(text, sizeof(text), ";size=%" PRIu64 ";mtime=%" PRId64,
				object->size, object->mtime);
	}
	const char *weak =
			object->etag_strong || etag_is_weak(etag) ? "" : "W/";
	if (strlen(weak) + length + strlen(text) >= size) {
		return -EMSGSIZE;
	}
	snprintf(buffer, size, "%s%.*s%s", weak, (int)length, etag, text);
	return 0;
}

/* Skips a weak mark and surrounding quotes. */
static const char *etag_core(const char *etag, size_t *out_length)
{
	const char *core = etag_is_weak(etag) ? etag + 2 : etag;
	size_t length = strlen(core);
	if (length >= 2 && core[0] == '"' && core[length - 1] == '"') {
		core++;
		length -= 2;
	}
	*out_length = length;
	return core;
}

bool object_etag_equal(const char *a, const char *b)
{
	size_t a_length = 0;
	size_t b_length = 0;
	const char *a_core = etag_core(a, &a_length);
	const char *b_core = etag_core(b, &b_length);
	return etag_is_weak(a) == etag_is_weak(b) && a_length == b_length &&
	       memcmp(a_core, b_core, a_length) == 0;
}
