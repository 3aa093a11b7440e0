#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/counters.h"
#include "base/log.h"
#include "fetch_private.h"

#define LOG_MODULE "fetch"
#define LOG_INTERVAL_MS 1000
#define SUBJECT_SIZE 1400 /* The longest key, and numbers. */

static void count(struct fetch *fetch, const struct store_outcome *outcome)
{
	struct counters *counters = fetch->counters;
	const int status = outcome->http_status;
	if (outcome->error == 0 || (status >= 200 && status < 300)) {
		counters_add(&counters->errors_invalid, 1);
	} else if (outcome->error == -EACCES) {
		counters_add(&counters->errors_denied, 1);
	} else if (outcome->error == -ESTALE) {
		counters_add(&counters->errors_changed, 1);
	} else if (!outcome->answered) {
		counters_add(&counters->errors_network, 1);
	} else {
		counters_add(&counters->errors_store, 1);
	}
}

/* An outcome of 0 here is a listing that never ends. */
static const char *words_of(const struct store_outcome *outcome)
{
	return outcome->error == 0 ? "a listing goes in circles"
				   : outcome->detail;
}

void failure_tell(struct job *job, const struct store_outcome *outcome)
{
	struct fetch *fetch = job->fetch;
	count(fetch, outcome);
	if (log_ratelimit(&fetch->failure_log_state, LOG_INTERVAL_MS)) {
		char subject[SUBJECT_SIZE];
		job->ops->describe(job, subject, sizeof(subject));
		log_warn("gave up %s store=%s error=%d detail=%s", subject,
				store_name(job->endpoint->store),
				outcome->error, words_of(outcome));
	}
	LOCK_SCOPE(&fetch->lock);
	snprintf(fetch->last_failure, sizeof(fetch->last_failure), "%s",
			words_of(outcome));
}

void failure_tell_timeouts(struct fetch *fetch, unsigned timeouts)
{
	if (timeouts == 0) {
		return;
	}
	counters_add(&fetch->counters->errors_network, timeouts);
	char words[FAILURE_TEXT_SIZE];
	fetch_last_failure(fetch, words, sizeof(words));
	log_warn("gave up, no answer within the timeout requests=%u detail=%s",
			timeouts, words);
}

void fetch_last_failure(struct fetch *fetch, char *buffer, size_t size)
{
	LOCK_SCOPE(&fetch->lock);
	snprintf(buffer, size, "%s", fetch->last_failure);
}
