#ifndef BASE_LOG_PRIVATE_H
#define BASE_LOG_PRIVATE_H

/*
 * syslog(3) behind a name of its own: <syslog.h> has macros named LOG_INFO
 * and LOG_DEBUG, which are values of enum log_level here. `level` is that
 * enum's value.
 */
void log_syslog_open(void);
void log_syslog_write(int level, const char *text);
void log_syslog_close(void);

#endif
