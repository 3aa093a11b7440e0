#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_connection.h"

#define PIECE 65536

unsigned char server_byte(size_t offset)
{
	return (unsigned char)(offset * 31 + offset / 251);
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
	(void)connection_wait_readable(connection); /* The client's end. */
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

void connection_serve(struct connection *connection)
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
