#ifndef STORE_AWS_ENVIRONMENT_PRIVATE_H
#define STORE_AWS_ENVIRONMENT_PRIVATE_H

/*
 * The value of an AWS_* variable: from what store_take_environment() took out
 * of the environment, else from there. NULL when it is not set or empty. Valid
 * for the life of the process.
 */
const char *aws_environment_get(const char *name);

/* HOME, else the password database's; the caller frees. NULL: there is none,
 * or no memory. */
char *aws_environment_home(void);

#endif
