#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/size.h"
#include "cache/disk_tier.h"
#include "main/background.h"
#include "main/commands.h"
#include "main/options.h"
#include "main/report.h"
#include "mount_private.h"

#define PASSTHROUGH_REASON                                                     \
	"not in this version; it will need libfuse 3.17, Linux 6.9 and "       \
	"CAP_SYS_ADMIN"

void mount_note(struct mount *mount, const char *format, ...)
{
	char note[1024];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(note, sizeof(note), format, list);
	va_end(list);
	/* A note too long is left out. */
	(void)strbuf_printf(&mount->odd, "%s%s",
			mount->odd.length > 0 ? "; " : "shardfs: ", note);
}

static void collect(struct mount *mount, struct report_facts *out_facts)
{
	struct disk_usage usage = {0};

	if (mount->disk != NULL) {
		disk_tier_usage(mount->disk, &usage);
	}
	*out_facts = (struct report_facts){
			.source = mount->plan->shown,
			.cache_dir = mount->disk != NULL
						     ? disk_tier_dir(mount->disk)
						     : NULL,
			.cache_limit_bytes = usage.limit_bytes,
			.cache_used_bytes = usage.used_bytes,
			.memory_limit_bytes = mount->memory_bytes,
			.uptime_ms = clock_monotonic_ms() - mount->started_ms,
			.cost_billionths = prices_estimate(
					&mount->prices, &mount->counters),
			.passthrough_reason = PASSTHROUGH_REASON,
			.counters = &mount->counters,
	};
}

int mount_render_stats(void *context, struct strbuf *out)
{
	struct report_facts facts;

	collect(context, &facts);
	return report_json(&facts, out);
}

int mount_render_metrics(void *context, struct strbuf *out)
{
	struct report_facts facts;

	collect(context, &facts);
	return report_prometheus(&facts, out);
}

static void success_line(struct mount *mount, struct strbuf *line)
{
	struct disk_usage usage;
	char used[16];
	char limit[16];

	(void)strbuf_printf(line, "shardfs: %s on %s, ", mount->plan->shown,
			mount->plan->mountpoint);
	if (mount->disk == NULL) {
		size_format(mount->memory_bytes, limit, sizeof(limit));
		(void)strbuf_printf(
				line, "no disk cache (%s of memory)", limit);
		return;
	}
	disk_tier_usage(mount->disk, &usage);
	size_format(usage.used_bytes, used, sizeof(used));
	size_format(usage.limit_bytes, limit, sizeof(limit));
	(void)strbuf_printf(line, "cache %s (%s of %s used)",
			disk_tier_dir(mount->disk), used, limit);
}

void mount_report_ready(struct mount *mount)
{
	struct strbuf line;

	if (getuid() == 0 && !mount->plan->options->allow_other) {
		mount_note(mount,
				"only root can read %s; add allow_other for "
				"jobs of other users",
				mount->plan->mountpoint);
	}
	strbuf_init(&line, MOUNT_MESSAGE_SIZE);
	success_line(mount, &line);
	background_report(mount->background, STATUS_DONE, line.text,
			mount->odd.text);
	strbuf_finish(&line);
}
