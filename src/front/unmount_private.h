#ifndef FRONT_UNMOUNT_PRIVATE_H
#define FRONT_UNMOUNT_PRIVATE_H

/*
 * Takes the mount at `path` away, busy or not. As root it also ends the
 * connection: what is still queued fails at once, and nothing of ours can wait
 * for an answer that nobody gives any more. An ordinary user's mount is taken
 * away by fusermount3. 0 or a negative errno.
 */
int unmount_lazily(const char *path);

#endif
