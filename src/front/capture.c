#include "capture_private.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_MAX 4096

void capture_begin(struct capture *capture)
{
	capture->text_fd = memfd_create("shardfs-stderr", MFD_CLOEXEC);
	capture->saved_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (capture->text_fd >= 0 && capture->saved_fd >= 0) {
		/* Without it the text just goes where it always went. */
		(void)dup2(capture->text_fd, STDERR_FILENO);
	}
}

void capture_end(struct capture *capture, char *out_line, size_t size)
{
	char text[TEXT_MAX] = "";

	if (capture->saved_fd >= 0) {
		(void)dup2(capture->saved_fd, STDERR_FILENO);
		(void)close(capture->saved_fd);
	}
	if (capture->text_fd >= 0) {
		off_t end = lseek(capture->text_fd, 0, SEEK_END);
		off_t from = end > TEXT_MAX - 1 ? end - (TEXT_MAX - 1) : 0;
		ssize_t got = pread(capture->text_fd, text, TEXT_MAX - 1, from);
		text[got > 0 ? got : 0] = '\0';
		(void)close(capture->text_fd);
	}
	capture_last_line(text, out_line, size);
}

void capture_last_line(const char *text, char *out_line, size_t size)
{
	static const char *const names[] = {"fusermount3: ", "fuse: "};
	size_t end = strlen(text);

	while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' ')) {
		end--;
	}
	size_t begin = end;
	while (begin > 0 && text[begin - 1] != '\n') {
		begin--;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);
		if (strncmp(text + begin, names[i], length) == 0) {
			begin += length;
		}
	}
	if (begin > end) {
		begin = end;
	}
	(void)snprintf(out_line, size, "%.*s", (int)(end - begin),
			text + begin);
}
