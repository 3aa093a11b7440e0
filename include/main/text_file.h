#ifndef MAIN_TEXT_FILE_H
#define MAIN_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads a whole small file. -EFBIG beyond `limit` bytes, -EINVAL for a NUL
 * inside, others as open and read give them. The caller frees *out_text.
 */
int text_file_read(const char *path, size_t limit, char **out_text);

/* As above, and -EPERM when others than owner and group may read or write
 * it. */
int text_file_read_private(const char *path, size_t limit, char **out_text);

/*
 * Takes the next line off *cursor: without comment and outer blanks. Returns
 * NULL at the end. Lines may be empty.
 */
char *text_file_next_line(char **cursor);

/* Splits "name = value" in place; *out_value is NULL without '='. */
void text_file_split(char *line, char **out_name, char **out_value);

#endif
