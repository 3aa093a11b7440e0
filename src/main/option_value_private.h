#ifndef MAIN_OPTION_VALUE_PRIVATE_H
#define MAIN_OPTION_VALUE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

struct option_entry;

/* One value on its way into its field. */
struct option_value {
	const struct option_entry *entry;
	const char *text;
	void *field;
	char *message;
	size_t message_size;
};

/* "name=text: reason" as the message; returns -EINVAL. */
int option_value_refuse(const struct option_value *value, const char *reason);

bool option_value_is_digits(const char *text);

/* The index of `text` among words like "a|b|c", -1: none of them. */
int option_value_word(const char *words, const char *text);

/* option_number.c: the kinds that are numbers. */
int option_value_parse_size(const struct option_value *value);
int option_value_parse_amount(const struct option_value *value);
int option_value_parse_duration(const struct option_value *value);
int option_value_parse_count(const struct option_value *value);

#endif
