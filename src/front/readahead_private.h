#ifndef FRONT_READAHEAD_PRIVATE_H
#define FRONT_READAHEAD_PRIVATE_H

#include <stdbool.h>

struct device;

/*
 * The kernel's read-ahead of this mount, which only root may set: large while
 * reads mostly continue streams, so that requests are large; small otherwise,
 * since each random page fault of a mapping pulls the whole window.
 */
#define READAHEAD_LARGE_KIB 1024u
#define READAHEAD_SMALL_KIB 128u

/* What it should be: pure. It changes only for a clear majority, so that a
 * mix does not make it swing. `sequential_percent` is of the recent reads. */
unsigned readahead_decide(unsigned current_kib, unsigned sequential_percent);

/* Writes it to the sysfs of the mount's device. False when it may not: an
 * ordinary user, or a read-only /sys. */
bool readahead_set(const struct device *device, unsigned kib);

#endif
