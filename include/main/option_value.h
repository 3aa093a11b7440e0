#ifndef MAIN_OPTION_VALUE_H
#define MAIN_OPTION_VALUE_H

#include <stddef.h>

struct option_entry;

/*
 * Reads `text` as the entry's kind says and stores it in `field`; a string
 * there is freed first. `text` is NULL for a name alone. -EINVAL with one line
 * in `message`, -ENOMEM; `field` is then as it was.
 */
int option_value_parse(const struct option_entry *entry, const char *text,
		void *field, char *message, size_t message_size);

#endif
