#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* strftime and strptime follow the locale, and strptime takes blanks and
 * short fields that these formats do not have. */
static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
		"Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char *const days[] = {
		"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char *const long_days[] = {"Sunday", "Monday", "Tuesday",
		"Wednesday", "Thursday", "Friday", "Saturday"};

void clock_format_http(int64_t seconds, char *buffer, size_t size)
{
	time_t time = seconds;
	struct tm parts = {0};
	if (gmtime_r(&time, &parts) == NULL) {
		(void)snprintf(buffer, size, "Thu, 01 Jan 1970 00:00:00 GMT");
		return;
	}
	(void)snprintf(buffer, size, "%s, %02d %s %04d %02d:%02d:%02d GMT",
			days[parts.tm_wday], parts.tm_mday,
			months[parts.tm_mon], parts.tm_year + 1900,
			parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/* A reader over one text: after the first mismatch all else fails too. */
struct scan {
	const char *at;
	bool failed;
};

static void scan_text(struct scan *scan, const char *expected)
{
	size_t length = strlen(expected);
	if (scan->failed || strncmp(scan->at, expected, length) != 0) {
		scan->failed = true;
		return;
	}
	scan->at += length;
}

static int scan_number(struct scan *scan, unsigned digits)
{
	int value = 0;
	for (unsigned i = 0; i < digits && !scan->failed; i++) {
		if (!isdigit((unsigned char)*scan->at)) {
			scan->failed = true;
			return 0;
		}
		value = value * 10 + (*scan->at - '0');
		scan->at++;
	}
	return value;
}

static int scan_name(struct scan *scan, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count && !scan->failed; i++) {
		size_t length = strlen(names[i]);
		if (strncasecmp(scan->at, names[i], length) == 0) {
			scan->at += length;
			return (int)i;
		}
	}
	scan->failed = true;
	return 0;
}

static void scan_time(struct scan *scan, struct tm *parts)
{
	parts->tm_hour = scan_number(scan, 2);
	scan_text(scan, ":");
	parts->tm_min = scan_number(scan, 2);
	scan_text(scan, ":");
	parts->tm_sec = scan_number(scan, 2);
}

/* timegm() carries 31 February into March: such a date is refused. 60 is a
 * leap second. */
static int to_seconds(const struct tm *given, int64_t *out_seconds)
{
	if (given->tm_hour > 23 || given->tm_min > 59 || given->tm_sec > 60) {
		return -EINVAL;
	}
	struct tm parts = *given;
	int64_t seconds = timegm(&parts);
	if (parts.tm_year != given->tm_year && given->tm_sec < 60) {
		return -EINVAL;
	}
	struct tm date = {.tm_year = given->tm_year,
			.tm_mon = given->tm_mon,
			.tm_mday = given->tm_mday};
	(void)timegm(&date);
	if (date.tm_mon != given->tm_mon || date.tm_mday != given->tm_mday) {
		return -EINVAL;
	}
	*out_seconds = seconds;
	return 0;
}

/* "Z", "+hh:mm", "-hh:mm", "+hhmm" or nothing, which means UTC. */
static int64_t scan_offset(struct scan *scan)
{
	if (scan->failed || *scan->at == '\0') {
		return 0;
	}
	if (*scan->at == 'Z' || *scan->at == 'z') {
		scan->at++;
		return 0;
	}
	if (*scan->at != '+' && *scan->at != '-') {
		scan->failed = true;
		return 0;
	}
	int64_t sign = *scan->at == '-' ? -1 : 1;
	scan->at++;
	int hours = scan_number(scan, 2);
	if (*scan->at == ':') {
		scan->at++;
	}
	int minutes = scan_number(scan, 2);
	if (hours > 23 || minutes > 59) {
		scan->failed = true;
	}
	return sign * (hours * 3600 + minutes * 60);
}

int clock_parse_iso8601(const char *text, int64_t *out_seconds)
{
	struct scan scan = {.at = text};
	struct tm parts = {0};

	parts.tm_year = scan_number(&scan, 4) - 1900;
	scan_text(&scan, "-");
	parts.tm_mon = scan_number(&scan, 2) - 1;
	scan_text(&scan, "-");
	parts.tm_mday = scan_number(&scan, 2);
	scan_text(&scan, "T");
	scan_time(&scan, &parts);
	if (!scan.failed && *scan.at == '.') {
		scan.at++;
		(void)scan_number(&scan, 1); /* At least one digit. */
		scan.at += strspn(scan.at, "0123456789");
	}
	int64_t offset = scan_offset(&scan);
	if (scan.failed || *scan.at != '\0') {
		return -EINVAL;
	}
	int64_t seconds = 0;
	int error = to_seconds(&parts, &seconds);
	if (error != 0) {
		return error;
	}
	*out_seconds = seconds - offset;
	return 0;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool parse_rfc1123(const char *text, struct tm *parts)
{
	struct scan scan = {.at = text};

	(void)scan_name(&scan, days, 7); /* The date decides. */
	scan_text(&scan, ", ");
	parts->tm_mday = scan_number(&scan, 2);
	scan_text(&scan, " ");
	parts->tm_mon = scan_name(&scan, months, 12);
	scan_text(&scan, " ");
	parts->tm_year = scan_number(&scan, 4) - 1900;
	scan_text(&scan, " ");
	scan_time(&scan, parts);
	scan_text(&scan, " GMT");
	return !scan.failed && *scan.at == '\0';
}

/* "Sunday, 06-Nov-94 08:49:37 GMT"; years below 70 are of this century. */
static bool parse_rfc850(const char *text, struct tm *parts)
{
	struct scan scan = {.at = text};

	(void)scan_name(&scan, long_days, 7);
	scan_text(&scan, ", ");
	parts->tm_mday = scan_number(&scan, 2);
	scan_text(&scan, "-");
	parts->tm_mon = scan_name(&scan, months, 12);
	scan_text(&scan, "-");
	parts->tm_year = scan_number(&scan, 2);
	if (parts->tm_year < 70) {
		parts->tm_year += 100;
	}
	scan_text(&scan, " ");
	scan_time(&scan, parts);
	scan_text(&scan, " GMT");
	return !scan.failed && *scan.at == '\0';
}

/* "Sun Nov  6 08:49:37 1994" */
static bool parse_asctime(const char *text, struct tm *parts)
{
	struct scan scan = {.at = text};

	(void)scan_name(&scan, days, 7);
	scan_text(&scan, " ");
	parts->tm_mon = scan_name(&scan, months, 12);
	scan_text(&scan, " ");
	if (!scan.failed && *scan.at == ' ') {
		scan.at++;
		parts->tm_mday = scan_number(&scan, 1);
	} else {
		parts->tm_mday = scan_number(&scan, 2);
	}
	scan_text(&scan, " ");
	scan_time(&scan, parts);
	scan_text(&scan, " ");
	parts->tm_year = scan_number(&scan, 4) - 1900;
	return !scan.failed && *scan.at == '\0';
}

int clock_parse_http(const char *text, int64_t *out_seconds)
{
	static bool (*const formats[])(const char *, struct tm *) = {
			parse_rfc1123, parse_rfc850, parse_asctime};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm parts = {0};
		if (formats[i](text, &parts)) {
			return to_seconds(&parts, out_seconds);
		}
	}
	return -EINVAL;
}
