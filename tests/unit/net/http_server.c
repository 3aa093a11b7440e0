#include "http_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_CONNECTIONS 4096
#define REQUEST_SIZE 16384
#define PIECE 65536

struct server {
	int listener;
	uint16_t port;
	pthread_t thread;
	pthread_t connections[MOST_CONNECTIONS];
	size_t connection_count;
	atomic_bool stopping;
	struct server_counts counts;
};

struct connection {
	struct server *server;
	int fd;
	size_t served;
	bool ended;
	char request[REQUEST_SIZE];
	size_t request_length;
	char path[256];
	size_t number; /* The last component of the path. */
};

unsigned char server_byte(size_t offset)
{
	return (unsigned char)(offset * 31 + offset / 251);
}

/* Waits for input or the server's end. */
static bool wait_readable(struct connection *connection)
{
	struct pollfd wait = {.fd = connection->fd, .events = POLLIN};

	while (!atomic_load(&connection->server->stopping)) {
		if (poll(&wait, 1, 20) > 0) {
			return true;
		}
	}
	return false;
}

static void send_bytes(
		struct connection *connection, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0 && !connection->ended) {
		ssize_t sent = send(connection->fd, at, length, MSG_NOSIGNAL);
		if (sent <= 0) {
			connection->ended = true;
			return;
		}
		at += sent;
		length -= (size_t)sent;
	}
}

static void send_text(struct connection *connection, const char *text)
{
	send_bytes(connection, text, strlen(text));
}

static void send_head(struct connection *connection, const char *fields)
{
	char head[1024];
	int length = snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\n%s\r\n",
			fields);
	send_bytes(connection, head, (size_t)length);
}

static void send_head_for(struct connection *connection, size_t length)
{
	char fields[100];
	(void)snprintf(fields, sizeof(fields), "Content-Length: %zu\r\n",
			length);
	send_head(connection, fields);
}

static void send_body(struct connection *connection, size_t begin, size_t end)
{
	unsigned char piece[PIECE];

	while (begin < end && !connection->ended) {
		size_t count = end - begin < PIECE ? end - begin : PIECE;
		for (size_t i = 0; i < count; i++) {
			piece[i] = server_byte(begin + i);
		}
		send_bytes(connection, piece, count);
		begin += count;
	}
}

static void reset(struct connection *connection)
{
	struct linger linger = {.l_onoff = 1, .l_linger = 0};
	(void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &linger,
			sizeof(linger));
	connection->ended = true;
}

static void serve_ok(struct connection *connection)
{
	send_head_for(connection, connection->number);
	if (strncmp(connection->request, "HEAD", 4) != 0) {
		send_body(connection, 0, connection->number);
	}
}

static void serve_encoded(struct connection *connection)
{
	char fields[100];
	(void)snprintf(fields, sizeof(fields),
			"Content-Encoding: gzip\r\nContent-Length: %zu\r\n",
			connection->number);
	send_head(connection, fields);
	send_body(connection, 0, connection->number);
}

static void serve_chunked(struct connection *connection)
{
	send_head(connection, "Transfer-Encoding: chunked\r\n");
	for (size_t at = 0; at < connection->number; at += 1000) {
		size_t end = at + 1000 < connection->number
					     ? at + 1000
					     : connection->number;
		char size[32];
		(void)snprintf(size, sizeof(size), "%zx\r\n", end - at);
		send_text(connection, size);
		send_body(connection, at, end);
		send_text(connection, "\r\n");
	}
	send_text(connection, "0\r\n\r\n");
}

static void serve_trailer(struct connection *connection)
{
	send_head(connection, "ETag: good\r\nTransfer-Encoding: chunked\r\n"
			      "Trailer: ETag\r\n");
	send_text(connection, "1\r\n");
	send_body(connection, 0, 1);
	send_text(connection, "\r\n0\r\nETag: evil\r\n\r\n");
}

static void serve_trickle(struct connection *connection)
{
	char head[100];
	int length = snprintf(head, sizeof(head),
			"HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
			connection->number);
	for (int i = 0; i < length; i++) {
		send_bytes(connection, &head[i], 1);
	}
	for (size_t i = 0; i < connection->number; i++) {
		send_body(connection, i, i + 1);
	}
}

static void serve_until_close(struct connection *connection)
{
	send_head(connection, "");
	send_body(connection, 0, connection->number);
	connection->ended = true;
}

static void serve_half(struct connection *connection)
{
	send_head_for(connection, connection->number);
	send_body(connection, 0, connection->number / 2);
}

static void serve_short(struct connection *connection)
{
	serve_half(connection);
	connection->ended = true;
}

static void serve_cut(struct connection *connection)
{
	serve_half(connection);
	/* What was sent before a reset may be lost; let it be read. */
	(void)usleep(20000);
	reset(connection);
}

static void serve_silent(struct connection *connection)
{
	(void)wait_readable(connection); /* The client's end. */
	connection->ended = true;
}

static void serve_stall(struct connection *connection)
{
	serve_half(connection);
	serve_silent(connection);
}

static void serve_nothing(struct connection *connection)
{
	connection->ended = true;
}

static void serve_garbage(struct connection *connection)
{
	send_text(connection, "220 mail.example.org ESMTP\r\n\r\n");
	connection->ended = true;
}

static void serve_echo(struct connection *connection)
{
	send_head_for(connection, connection->request_length);
	send_bytes(connection, connection->request, connection->request_length);
}

static void serve_bye(struct connection *connection)
{
	send_head_for(connection, 0);
	connection->ended = true;
}

static void serve_once(struct connection *connection)
{
	if (connection->served > 0) {
		reset(connection);
		return;
	}
	serve_ok(connection);
}

static void serve_interim(struct connection *connection)
{
	for (size_t i = 0; i < connection->number; i++) {
		send_text(connection,
				"HTTP/1.1 103 Early Hints\r\nETag: early\r\n"
				"X-Interim: yes\r\n\r\n");
	}
	send_head(connection, "ETag: final\r\nContent-Length: 2\r\n");
	send_body(connection, 0, 2);
}

static void serve_fields(struct connection *connection)
{
	send_text(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
	for (size_t i = 1; i < connection->number; i++) {
		send_text(connection, "X-Many: 1\r\n");
	}
	send_text(connection, "\r\n");
}

static void serve_field(struct connection *connection)
{
	char *value = malloc(connection->number + 1);
	assert(value != NULL);
	memset(value, 'x', connection->number);
	value[connection->number] = '\0';
	send_text(connection, "HTTP/1.1 200 OK\r\nX-Long: ");
	send_text(connection, value);
	send_text(connection, "\r\nContent-Length: 0\r\n\r\n");
	free(value);
}

static void serve_named(struct connection *connection)
{
	char text[256];
	(void)snprintf(text, sizeof(text), "%s", connection->path + 7);
	send_text(connection, "HTTP/1.1 ");
	for (char *at = strtok(text, "|"); at != NULL; at = strtok(NULL, "|")) {
		for (char *c = at; *c != '\0'; c++) {
			*c = *c == '_' ? ' ' : *c;
		}
		send_text(connection, at);
		send_text(connection, "\r\n");
	}
	send_text(connection, "\r\n");
}

static const struct {
	const char *prefix;
	void (*serve)(struct connection *connection);
} scripts[] = {
		{"/ok/", serve_ok},
		{"/chunked/", serve_chunked},
		{"/encoded/", serve_encoded},
		{"/trickle/", serve_trickle},
		{"/until-close/", serve_until_close},
		{"/short/", serve_short},
		{"/cut/", serve_cut},
		{"/stall/", serve_stall},
		{"/silent", serve_silent},
		{"/reset", reset},
		{"/nothing", serve_nothing},
		{"/garbage", serve_garbage},
		{"/echo", serve_echo},
		{"/bye", serve_bye},
		{"/once/", serve_once},
		{"/interim/", serve_interim},
		{"/fields/", serve_fields},
		{"/field/", serve_field},
		{"/trailer", serve_trailer},
		{"/named/", serve_named},
};

/* Reads one request with its body; false at the end of the connection. */
static bool read_request(struct connection *connection)
{
	size_t wanted = 0;
	connection->request_length = 0;
	while (wanted == 0 || connection->request_length < wanted) {
		if (!wait_readable(connection)) {
			return false;
		}
		char *at = connection->request + connection->request_length;
		ssize_t got = recv(connection->fd, at,
				REQUEST_SIZE - 1 - connection->request_length,
				0);
		if (got <= 0) {
			return false;
		}
		connection->request_length += (size_t)got;
		connection->request[connection->request_length] = '\0';
		char *end = strstr(connection->request, "\r\n\r\n");
		char *length = strcasestr(
				connection->request, "\r\nContent-Length:");
		if (end != NULL) {
			wanted = (size_t)(end - connection->request) + 4;
			wanted += length != NULL && length < end
						  ? strtoul(length + 17, NULL,
								    10)
						  : 0;
		}
	}
	return sscanf(connection->request, "%*s %255s", connection->path) == 1;
}

static void serve_one(struct connection *connection)
{
	const char *slash = strrchr(connection->path, '/');
	connection->number = strtoul(slash + 1, NULL, 10);
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		if (strncmp(connection->path, scripts[i].prefix,
				    strlen(scripts[i].prefix)) == 0) {
			scripts[i].serve(connection);
			connection->served++;
			return;
		}
	}
	connection->ended = true;
}

static void *serve_connection(void *context)
{
	struct connection *connection = context;

	while (!connection->ended && read_request(connection)) {
		atomic_fetch_add(&connection->server->counts.requests, 1);
		serve_one(connection);
	}
	(void)close(connection->fd);
	atomic_fetch_sub(&connection->server->counts.open, 1);
	free(connection);
	return NULL;
}

static void start_connection(struct server *server, int fd)
{
	int on = 1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	struct connection *connection = calloc(1, sizeof(*connection));
	assert(connection != NULL);
	assert(server->connection_count < MOST_CONNECTIONS);
	connection->server = server;
	connection->fd = fd;
	atomic_fetch_add(&server->counts.connections, 1);
	atomic_fetch_add(&server->counts.open, 1);
	int error = pthread_create(
			&server->connections[server->connection_count++], NULL,
			serve_connection, connection);
	assert(error == 0);
}

static void *accept_connections(void *context)
{
	struct server *server = context;
	struct pollfd wait = {.fd = server->listener, .events = POLLIN};

	while (!atomic_load(&server->stopping)) {
		if (poll(&wait, 1, 20) <= 0) {
			continue;
		}
		int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0) {
			start_connection(server, fd);
		}
	}
	return NULL;
}

struct server *server_start(void)
{
	struct server *server = calloc(1, sizeof(*server));
	assert(server != NULL);
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = {.sin_family = AF_INET,
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int error = bind(server->listener, (struct sockaddr *)&address, length);
	error |= listen(server->listener, 1024);
	error |= getsockname(
			server->listener, (struct sockaddr *)&address, &length);
	server->port = ntohs(address.sin_port);
	error |= pthread_create(
			&server->thread, NULL, accept_connections, server);
	assert(error == 0);
	return server;
}

void server_stop(struct server *server)
{
	atomic_store(&server->stopping, true);
	(void)pthread_join(server->thread, NULL);
	for (size_t i = 0; i < server->connection_count; i++) {
		(void)pthread_join(server->connections[i], NULL);
	}
	(void)close(server->listener);
	free(server);
}

uint16_t server_port(const struct server *server)
{
	return server->port;
}

struct server_counts *server_counts(struct server *server)
{
	return &server->counts;
}
