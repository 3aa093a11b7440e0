#include "readahead_private.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device_private.h"

#define SMALL_BELOW_PERCENT 25
#define LARGE_ABOVE_PERCENT 60

unsigned readahead_decide(unsigned current_kib, unsigned sequential_percent)
{
	if (sequential_percent < SMALL_BELOW_PERCENT) {
		return READAHEAD_SMALL_KIB;
	}
	if (sequential_percent > LARGE_ABOVE_PERCENT) {
		return READAHEAD_LARGE_KIB;
	}
	return current_kib;
}

bool readahead_set(const struct device *device, unsigned kib)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb",
			device->major, device->minor);
	CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && dprintf(fd, "%u", kib) > 0;
}
