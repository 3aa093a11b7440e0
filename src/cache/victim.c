#include "cache/victim_private.h"

enum victim_verdict victim_judge(const struct victim_facts *facts)
{
	if (facts->pinned || facts->unmerged || facts->wanted) {
		return VICTIM_BUSY;
	}
	if (facts->last_use > facts->listed_use && !facts->last_resort) {
		return VICTIM_USED_SINCE;
	}
	return VICTIM_TAKE;
}

bool victim_admits(const struct victim_admission *admission)
{
	return admission->victim_use <= admission->now;
}
