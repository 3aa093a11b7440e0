#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "fetch/fetch.h"
#include "store/ops.h"

/*
 * A store whose pages have no entries and the tokens of a script: what servers
 * with a faulty paging answer.
 */
struct script {
	struct store store;
	const char *const *tokens; /* NULL-terminated; then from `again`. */
	size_t again;
	bool cut_short; /* The script's end is the last page. */
	/* Guarded by lock. */
	pthread_mutex_t lock;
	pthread_cond_t told;
	unsigned requests;
	bool wrong_token;
	bool done;
	int error;
	char expected[1024];
};

struct answer {
	struct script *script;
	const struct store_callbacks_list *callbacks;
	void *context;
	const char *next;
};

static const char *next_token_locked(struct script *script)
{
	size_t count = 0;
	while (script->tokens[count] != NULL) {
		count++;
	}
	const size_t index = script->requests++;
	if (index < count) {
		return script->tokens[index];
	}
	if (script->cut_short) {
		return NULL;
	}
	return script->tokens[script->again +
			      (index - count) % (count - script->again)];
}

static void *answer_main(void *context)
{
	struct answer *answer = context;
	const struct store_outcome outcome = {.answered = true, .detail = ""};
	const struct store_page page = {.next_token = answer->next};
	answer->callbacks->on_done(answer->context, &outcome, &page);
	free(answer);
	return NULL;
}

static int script_list(struct store *store, const struct store_list_args *args,
		const struct store_callbacks_list *callbacks, void *context,
		struct store_call **out_call)
{
	struct script *script = (struct script *)store;
	struct answer *answer = calloc(1, sizeof(*answer));
	cr_assert_not_null(answer);
	answer->callbacks = callbacks;
	answer->context = context;
	*out_call = NULL;
	{
		LOCK_SCOPE(&script->lock);
		const char *token = args->token == NULL ? "" : args->token;
		if (strcmp(token, script->expected) != 0) {
			script->wrong_token = true;
		}
		answer->next = next_token_locked(script);
		if (answer->next != NULL) {
			strncpy(script->expected, answer->next,
					sizeof(script->expected) - 1);
		}
	}
	pthread_t thread;
	cr_assert_eq(pthread_create(&thread, NULL, answer_main, answer), 0);
	pthread_detach(thread);
	return 0;
}

static int on_page(void *context, const struct store_page *page)
{
	return 0;
}

static void on_done(void *context, int error, bool more)
{
	struct script *script = context;
	LOCK_SCOPE(&script->lock);
	script->done = true;
	script->error = error;
	pthread_cond_signal(&script->told);
}

static struct counters counters;

/* Lists all and says how it ended. */
static int run(struct script *script)
{
	static const struct store_ops ops = {.list = script_list};
	static const struct fetch_list_callbacks callbacks = {
			.on_page = on_page,
			.on_done = on_done,
	};
	const struct fetch_settings settings = {
			.counters = &counters,
			.part_size = 65536,
			.max_connections = 4,
			.timeout_ms = 300000,
			.retries = 10,
	};
	script->store.ops = &ops;
	script->store.name = (char *)"script";
	pthread_mutex_init(&script->lock, NULL);
	pthread_cond_init(&script->told, NULL);
	struct fetch *fetch = NULL;
	cr_assert_eq(fetch_create(&settings, &fetch), 0);
	const struct fetch_list_args args = {
			.store = &script->store,
			.prefix = "",
	};
	cr_assert_eq(fetch_list(fetch, &args, &callbacks, script), 0);
	{
		LOCK_SCOPE(&script->lock);
		while (!script->done) {
			pthread_cond_wait(&script->told, &script->lock);
		}
	}
	fetch_destroy(fetch);
	cr_expect_not(script->wrong_token);
	return script->error;
}

Test(tokens, are_sent_back_letter_by_letter)
{
	char longest[901];
	memset(longest, 'x', 900);
	longest[900] = '\0';
	const char *const tokens[] = {
			"a+b/c==", "%2F%20x", "\xe6\x97\xa5", longest, NULL};
	struct script script = {.tokens = tokens, .cut_short = true};
	cr_expect_eq(run(&script), 0);
	cr_expect_eq(script.requests, 5);
}

Test(tokens, the_same_again_is_eio)
{
	static const char *const tokens[] = {"a", "a", NULL};
	struct script script = {.tokens = tokens};
	cr_expect_eq(run(&script), -EIO);
	cr_expect_eq(script.requests, 2);
	cr_expect_eq(counters_get(&counters.errors_invalid), 1);
}

Test(tokens, a_missing_one_on_a_cut_page_is_eio)
{
	static const char *const tokens[] = {"a", "", NULL};
	struct script script = {.tokens = tokens};
	cr_expect_eq(run(&script), -EIO);
	cr_expect_eq(script.requests, 2);
}

Test(tokens, a_circle_of_any_length_is_eio_within_bounds)
{
	static const char *const tokens[] = {"s", "t", "a", "b", "c", "d", "e",
			"f", "g", "h", "i", NULL};
	for (size_t again = 0; again < 10; again++) {
		struct script script = {.tokens = tokens, .again = again};
		cr_expect_eq(run(&script), -EIO);
		cr_expect_leq(script.requests, 33);
	}
}
