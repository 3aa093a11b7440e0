#include "control_private.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/strbuf.h"
#include "front_private.h"

#define CONTROL_NAME ".shardfs"
#define CONTROL_DIR_INODE (TREE_ROOT_INODE + 1)
#define CONTROL_FIRST_FILE_INODE (CONTROL_DIR_INODE + 1)
#define CONTROL_TEXT_MAX ((size_t)16 << 20)

struct control_file {
	char *text;
	size_t length;
	atomic_uint references; /* The handle's, and each read's. */
};

static const char *const file_names[] = {"stats", "metrics"};

#define FILE_COUNT (sizeof(file_names) / sizeof(file_names[0]))

_Static_assert(CONTROL_FIRST_FILE_INODE + FILE_COUNT <= TREE_FIRST_INODE,
		"inodes of the tree begin above ours");

bool control_owns(uint64_t inode)
{
	return inode >= CONTROL_DIR_INODE && inode < TREE_FIRST_INODE;
}

int control_getattr(const struct front *front, uint64_t inode,
		struct tree_attr *out_attr)
{
	if (inode < CONTROL_DIR_INODE ||
			inode >= CONTROL_FIRST_FILE_INODE + FILE_COUNT) {
		return -ESTALE;
	}
	*out_attr = (struct tree_attr){
			.inode = inode,
			.is_dir = inode == CONTROL_DIR_INODE,
			.mtime = front->started,
			.valid_ms = DURATION_FOREVER,
	};
	return 0;
}

int control_entry(const struct front *front, size_t index,
		const char **out_name, struct tree_attr *out_attr)
{
	if (index >= FILE_COUNT) {
		return -ENOENT;
	}
	*out_name = file_names[index];
	return control_getattr(
			front, CONTROL_FIRST_FILE_INODE + index, out_attr);
}

int control_lookup(const struct front *front, uint64_t parent, const char *name,
		struct tree_attr *out_attr)
{
	if (parent == TREE_ROOT_INODE) {
		return strcmp(name, CONTROL_NAME) == 0
				       ? control_getattr(front,
							 CONTROL_DIR_INODE,
							 out_attr)
				       : -ENOENT;
	}
	if (parent != CONTROL_DIR_INODE) {
		return -ENOENT;
	}
	for (size_t i = 0; i < FILE_COUNT; i++) {
		if (strcmp(name, file_names[i]) == 0) {
			return control_getattr(front,
					CONTROL_FIRST_FILE_INODE + i, out_attr);
		}
	}
	return -ENOENT;
}

int control_open(struct front *front, uint64_t inode,
		struct control_file **out_file)
{
	const struct front_settings *settings = &front->settings;
	int (*render)(void *context, struct strbuf *out) =
			inode == CONTROL_FIRST_FILE_INODE
					? settings->render_stats
					: settings->render_metrics;
	struct strbuf text;

	if (inode == CONTROL_DIR_INODE) {
		return -EISDIR;
	}
	if (render == NULL) {
		return -ENOENT;
	}
	struct control_file *file = calloc(1, sizeof(*file));
	if (file == NULL) {
		return -ENOMEM;
	}
	atomic_init(&file->references, 1);
	strbuf_init(&text, CONTROL_TEXT_MAX);
	int error = render(settings->context, &text);
	file->length = text.length;
	file->text = strbuf_take(&text);
	strbuf_finish(&text);
	if (error == 0 && file->text == NULL) {
		error = -ENOMEM;
	}
	if (error != 0) {
		control_unref(file);
		return error;
	}
	*out_file = file;
	return 0;
}

void control_ref(struct control_file *file)
{
	atomic_fetch_add(&file->references, 1);
}

void control_unref(struct control_file *file)
{
	if (atomic_fetch_sub(&file->references, 1) > 1) {
		return;
	}
	free(file->text);
	free(file);
}

size_t control_read(const struct control_file *file, uint64_t offset,
		size_t length, const char **out_data)
{
	if (offset >= file->length) {
		*out_data = file->text;
		return 0;
	}
	size_t left = file->length - (size_t)offset;
	*out_data = file->text + offset;
	return left < length ? left : length;
}
