#ifndef MAIN_MOUNT_ERRORS_H
#define MAIN_MOUNT_ERRORS_H

#include <stddef.h>

/* Why a source cannot be mounted. */
enum mount_fault {
	MOUNT_FAULT_NONE,
	MOUNT_FAULT_EMPTY, /* Nothing under the prefix. */
	MOUNT_FAULT_NO_BUCKET,
	MOUNT_FAULT_DENIED, /* May not list. */
	MOUNT_FAULT_SECRET, /* Unknown key, or the secret does not fit. */
	MOUNT_FAULT_EXPIRED,
	MOUNT_FAULT_TLS,
	MOUNT_FAULT_UNREACHABLE,
	MOUNT_FAULT_REGION,
	MOUNT_FAULT_REDIRECT, /* One that does not name the region. */
	MOUNT_FAULT_CLOCK,
	MOUNT_FAULT_OTHER,
};

/* Pure. `error` is a negative errno, `detail` the newest failure in words, as
 * fetch_last_failure gives it. */
enum mount_fault mount_fault_judge(int error, const char *detail);

/* Whether waiting may help (mount_wait). */
int mount_fault_passes(enum mount_fault fault);

struct mount_fault_facts {
	const char *source;
	const char *prefix; /* Of the source, "" or ending in '/'. */
	const char *detail;
	const char *identity;	/* store_describe's line. */
	const char *neighbours; /* What is there instead; "" if nothing. */
};

/* One line for people: the thing, the reason, the remedy. */
void mount_fault_text(enum mount_fault fault,
		const struct mount_fault_facts *facts, char *message,
		size_t message_size);

#endif
