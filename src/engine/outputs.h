#pragma once
/* What a program displayed, as results have it. */
#include "engine/job.h"

/* Add a thing, as the guest described it (hostile), or NULL for the rest that is dropped: to the
 * result's `outputs`, and to whoever wants to hear of it now. */
void outputs_add(struct gb_job *job, const json_t *shown);
