#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum log_sink { LOG_SINK_STDERR, LOG_SINK_SYSLOG, LOG_SINK_FILE };

/*
 * Opens the sink. Until then messages go to stderr at level warn. `path` is
 * for LOG_SINK_FILE only: it is opened for appending, 0600. Call it before
 * any thread starts; returns a negative errno when the file cannot be opened.
 */
int log_open(enum log_sink sink, enum log_level level, const char *path);
void log_close(void);

/* Parses "error", "warn", "info", "debug". -EINVAL for anything else. */
int log_level_parse(const char *text, enum log_level *out_level);

bool log_enabled(enum log_level level);

/*
 * One line: UTC time, level, room, text. Control characters in the text are
 * escaped, so that one event is one line. Never pass a query string, key,
 * token or signature. Any thread.
 */
void log_write(enum log_level level, const char *module, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/* Define LOG_MODULE to the room's name before using these. */
#define log_error(...) log_write(LOG_ERROR, LOG_MODULE, __VA_ARGS__)
#define log_warn(...) log_write(LOG_WARN, LOG_MODULE, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, LOG_MODULE, __VA_ARGS__)
#define log_debug(...)                                                         \
	do {                                                                   \
		if (log_enabled(LOG_DEBUG)) {                                  \
			log_write(LOG_DEBUG, LOG_MODULE, __VA_ARGS__);         \
		}                                                              \
	} while (0)

/*
 * True at most once every `interval_ms` for one `state` (zero at first): for
 * messages about conditions that repeat. Any thread.
 */
bool log_ratelimit(unsigned long long *state, unsigned interval_ms);

#endif
