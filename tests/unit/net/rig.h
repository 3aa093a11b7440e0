#ifndef TESTS_NET_RIG_H
#define TESTS_NET_RIG_H

#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "http_server.h"
#include "net/net.h"

/* A net with one loop, and the server that it asks. */
struct rig {
	struct net *net; /* NULL after a test has destroyed it. */
	struct server *server;
};

/* What the net of a rig is made with. */
struct net_settings rig_settings(void);

void rig_start(struct rig *rig);
void rig_finish(struct rig *rig);

/* A call of the rig's server, not started. */
struct call *rig_call(const struct rig *rig, const char *path);
/* Runs a request and forgets all but its failure. */
enum net_failure rig_outcome(const struct rig *rig, const char *path);
/* Runs a request, which answers 200 with a right body of that length. */
void rig_assert_whole(const struct rig *rig, const char *path, size_t length);
/* Waits until the server has that many connections open. */
void rig_await_open(const struct rig *rig, size_t expected);

/* A port that nobody listens on. */
uint16_t rig_closed_port(void);

#endif
