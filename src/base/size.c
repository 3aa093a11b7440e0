#include "base/size.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A decimal number in billionths: enough for "0.000000001T", and 2^63 times a
 * billion fits 128 bits. */
#define FRACTION_DIGITS 9
#define FRACTION_ONE 1000000000ULL

/* Reads "12" or "1.5" and says where it ended. No sign, no blanks. */
static int parse_decimal(const char *text, unsigned __int128 *out_billionths,
		const char **out_end)
{
	unsigned __int128 value = 0;
	size_t digits = strspn(text, "0123456789");
	if (digits == 0) {
		return -EINVAL;
	}
	for (size_t i = 0; i < digits; i++) {
		value = value * 10 + (unsigned)(text[i] - '0');
		if (value > INT64_MAX) {
			return -ERANGE;
		}
	}
	text += digits;
	value *= FRACTION_ONE;
	if (*text == '.') {
		text++;
		size_t decimals = strspn(text, "0123456789");
		if (decimals == 0 || decimals > FRACTION_DIGITS) {
			return -EINVAL;
		}
		uint64_t unit = FRACTION_ONE;
		for (size_t i = 0; i < decimals; i++) {
			unit /= 10;
			value += (unsigned)(text[i] - '0') * unit;
		}
		text += decimals;
	}
	*out_billionths = value;
	*out_end = text;
	return 0;
}

/* `billionths` is at most 2^63 * 10^9 < 2^93 and `unit` at most 2^50 or
 * 86,400,000, so the product may pass 128 bits only when it is out of range. */
static int scale(unsigned __int128 billionths, uint64_t unit, uint64_t *out)
{
	const unsigned __int128 most =
			(unsigned __int128)INT64_MAX * FRACTION_ONE;
	if (billionths > most / unit) {
		return -ERANGE;
	}
	*out = (uint64_t)(billionths * unit / FRACTION_ONE);
	return 0;
}

static int size_unit(const char *suffix, uint64_t *out_unit)
{
	static const char letters[] = "KMGTP";
	uint64_t unit = 1;
	bool may_be_binary = false;

	if (*suffix != '\0') {
		const char *letter = strchr(
				letters, toupper((unsigned char)*suffix));
		if (letter != NULL) {
			unit <<= 10 * (letter - letters + 1);
			may_be_binary = true;
			suffix++;
		}
	}
	if (*suffix != '\0' && strcasecmp(suffix, "B") != 0 &&
			!(may_be_binary && strcasecmp(suffix, "iB") == 0)) {
		return -EINVAL;
	}
	*out_unit = unit;
	return 0;
}

int size_parse(const char *text, uint64_t *out_bytes)
{
	unsigned __int128 billionths = 0;
	const char *suffix = NULL;
	int error = parse_decimal(text, &billionths, &suffix);
	if (error != 0) {
		return error;
	}
	uint64_t unit = 0;
	error = size_unit(suffix, &unit);
	if (error != 0) {
		return error;
	}
	return scale(billionths, unit, out_bytes);
}

/* Rounds down, so that a value below a limit never looks like the limit. */
void size_format(uint64_t bytes, char *buffer, size_t size)
{
	static const char letters[] = "KMGTPE";
	unsigned shift = 0;

	while (bytes >> shift >= 1000 && shift < 60) {
		shift += 10;
	}
	if (shift == 0) {
		(void)snprintf(buffer, size, "%u", (unsigned)bytes);
		return;
	}
	char letter = letters[shift / 10 - 1];
	uint64_t whole = bytes >> shift;
	uint64_t rest = (bytes >> (shift - 10)) & 1023;
	unsigned tenths = (unsigned)(rest * 10 / 1024);
	if (whole < 10 && tenths > 0) {
		(void)snprintf(buffer, size, "%u.%u%c", (unsigned)whole, tenths,
				letter);
		return;
	}
	(void)snprintf(buffer, size, "%u%c", (unsigned)whole, letter);
}

int duration_parse_ms(const char *text, uint64_t *out_ms)
{
	static const struct {
		const char *suffix;
		uint64_t unit_ms;
	} units[] = {
			{"", 1000},
			{"ms", 1},
			{"s", 1000},
			{"m", 60 * 1000},
			{"h", 3600 * 1000},
			{"d", 24 * 3600 * 1000},
	};
	if (strcmp(text, "forever") == 0) {
		*out_ms = DURATION_FOREVER;
		return 0;
	}
	unsigned __int128 billionths = 0;
	const char *suffix = NULL;
	int error = parse_decimal(text, &billionths, &suffix);
	if (error != 0) {
		return error;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(suffix, units[i].suffix) == 0) {
			return scale(billionths, units[i].unit_ms, out_ms);
		}
	}
	return -EINVAL;
}
