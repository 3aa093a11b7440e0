#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "log_private.h"

/* Longer texts are cut, with "..." at the end: PIPE_BUF keeps a line whole
 * when several processes write to one pipe. */
#define LINE_SIZE 4096
#define PREFIX_SIZE 64

static const char *const level_names[] = {"error", "warn", "info", "debug"};

/* Set before threads start, read by all. */
static enum log_sink sink = LOG_SINK_STDERR;
static int file_fd = -1;
static _Atomic int highest_level = LOG_WARN;

int log_open(enum log_sink new_sink, enum log_level level, const char *path)
{
	int fd = -1;
	if (new_sink == LOG_SINK_FILE) {
		fd = open(path,
				O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC |
						O_NOCTTY,
				0600);
		if (fd < 0) {
			return -errno;
		}
	}
	log_close();
	if (new_sink == LOG_SINK_SYSLOG) {
		log_syslog_open();
	}
	file_fd = fd;
	sink = new_sink;
	atomic_store(&highest_level, (int)level);
	return 0;
}

void log_close(void)
{
	if (sink == LOG_SINK_SYSLOG) {
		log_syslog_close();
	}
	if (file_fd >= 0) {
		(void)close(file_fd); /* Lines were written one by one. */
	}
	file_fd = -1;
	sink = LOG_SINK_STDERR;
	atomic_store(&highest_level, LOG_WARN);
}

int log_level_parse(const char *text, enum log_level *out_level)
{
	for (int i = LOG_ERROR; i <= LOG_DEBUG; i++) {
		if (strcmp(text, level_names[i]) == 0) {
			*out_level = (enum log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

bool log_enabled(enum log_level level)
{
	return (int)level <=
	       atomic_load_explicit(&highest_level, memory_order_relaxed);
}

/* Escapes what would end the line or steer a terminal. Returns the length
 * written, which leaves room for "..." and the end of the line. */
static size_t escape(const char *text, char *out, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const size_t longest = sizeof("\\x1b") - 1;
	size_t length = 0;

	for (const char *c = text; *c != '\0'; c++) {
		if (length + longest + sizeof("...\n") > size) {
			memcpy(out + length, "...", 3);
			return length + 3;
		}
		unsigned char byte = (unsigned char)*c;
		if (byte >= ' ' && byte != 0x7f) {
			out[length++] = *c;
			continue;
		}
		out[length++] = '\\';
		if (byte == '\n' || byte == '\t' || byte == '\r') {
			out[length++] = byte == '\n'   ? 'n'
					: byte == '\t' ? 't'
						       : 'r';
			continue;
		}
		out[length++] = 'x';
		out[length++] = digits[byte >> 4];
		out[length++] = digits[byte & 15];
	}
	return length;
}

/* "2026-01-31T12:34:56.789Z warn fetch: " */
static size_t format_prefix(
		enum log_level level, const char *module, char out[PREFIX_SIZE])
{
	uint64_t now_ms = clock_wall_ms();
	time_t seconds = (time_t)(now_ms / 1000);
	struct tm parts = {0};
	(void)gmtime_r(&seconds, &parts); /* Zeros if the year overflows. */
	int length = snprintf(out, PREFIX_SIZE,
			"%04d-%02d-%02dT%02d:%02d:%02d.%03uZ %s %s: ",
			parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
			parts.tm_hour, parts.tm_min, parts.tm_sec,
			(unsigned)(now_ms % 1000), level_names[level], module);
	assert(length > 0 && length < PREFIX_SIZE);
	return (size_t)length;
}

/* One write(2) a line, so that lines of threads and processes never mix. A
 * sink that fails has nowhere to be reported. */
static void write_line(const char *line, size_t length)
{
	int fd = sink == LOG_SINK_FILE ? file_fd : STDERR_FILENO;
	ssize_t written = write(fd, line, length);
	(void)written;
}

void log_write(enum log_level level, const char *module, const char *format,
		...)
{
	if (!log_enabled(level)) {
		return;
	}
	int saved_errno = errno;
	char text[LINE_SIZE];
	va_list arguments;
	va_start(arguments, format);
	int formatted = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (formatted < 0) {
		text[0] = '\0';
	}
	char line[LINE_SIZE];
	if (sink == LOG_SINK_SYSLOG) {
		int length = snprintf(line, PREFIX_SIZE, "%s: ", module);
		length += (int)escape(text, line + length,
				sizeof(line) - (size_t)length);
		line[length] = '\0';
		log_syslog_write((int)level, line);
	} else {
		size_t length = format_prefix(level, module, line);
		length += escape(text, line + length, sizeof(line) - length);
		line[length++] = '\n';
		write_line(line, length);
	}
	errno = saved_errno;
}

/* The state keeps the time of the last message plus one, so that zero means
 * never. */
bool log_ratelimit(unsigned long long *state, unsigned interval_ms)
{
	unsigned long long now = clock_monotonic_ms() + 1;
	unsigned long long last = __atomic_load_n(state, __ATOMIC_RELAXED);
	if (last != 0 && now - last < interval_ms) {
		return false;
	}
	return __atomic_compare_exchange_n(state, &last, now, false,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
