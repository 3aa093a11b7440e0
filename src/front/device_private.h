#ifndef FRONT_DEVICE_PRIVATE_H
#define FRONT_DEVICE_PRIVATE_H

/* The device number of a mount, from the mount table: reading that never waits
 * for the file system that is mounted, as a stat of it could. */
struct device {
	unsigned major, minor;
};

/* That of the topmost mount at exactly `path` in the text of
 * /proc/PID/mountinfo: pure. 0, or -ENOENT. */
int device_find(const char *text, const char *path, struct device *out_device);

/* The same in this process's own table. */
int device_read(const char *path, struct device *out_device);

#endif
