#ifndef TESTS_HTTP_CONNECTION_H
#define TESTS_HTTP_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "http_server.h"

#define HTTP_REQUEST_SIZE 16384

/* A connection of the server, of its thread only. */
struct connection {
	struct server *server;
	int fd;
	size_t served;
	bool ended;
	char request[HTTP_REQUEST_SIZE];
	size_t request_length;
	char path[256];
	size_t number; /* The last component of the path. */
};

/* Waits for input or the server's end. */
bool connection_wait_readable(struct connection *connection);

/* Does what the path of the request asks for. */
void connection_serve(struct connection *connection);

#endif
