#ifndef MAIN_ENV_FILE_H
#define MAIN_ENV_FILE_H

#include <stddef.h>

/*
 * Puts the `NAME=value` lines of a file into the environment, over what is
 * there. Only names of AWS_, AZURE_, GOOGLE_ and *_proxy are taken; others are
 * refused. Quotes around a value are dropped, `export ` before a name too. A
 * file that others can read is -EPERM. One line in `message` on failure; no
 * value is ever part of it.
 */
int env_file_load(const char *path, char *message, size_t message_size);

#endif
