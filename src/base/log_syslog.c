#include "log_private.h"

#include <syslog.h>

void log_syslog_open(void)
{
	openlog("shardfs", LOG_PID, LOG_DAEMON);
}

void log_syslog_write(int level, const char *text)
{
	static const int priorities[] = {
			LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};

	syslog(priorities[level], "%s", text);
}

void log_syslog_close(void)
{
	closelog();
}
