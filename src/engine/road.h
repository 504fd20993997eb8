#pragma once
/* What the stages of the road have in common (road.c). */
#include "engine/job.h"

enum verdict {
    PASS,
    WAIT, /* somebody will call road_resume(), or the box will end */
    ENDED /* the result says why */
};

/* On from where it waited. */
void road_resume(struct gb_job *job);

/* From a stage: try it again from the loop, once gb_start() has returned. The stage returns
 * this. */
enum verdict road_put_off(struct gb_job *job);

/* The result is filled before any of the program ran: end the box if there is one, and tell the
 * caller from the loop, like any other end. */
void road_end_early(struct gb_job *job);

/* ---- consent.c ---- */

/* Is somebody to see it before it begins? */
bool consent_must_hold(const struct gb_job *job);

/* Stages: a model may object, and a person. */
enum verdict consent_review(struct gb_job *job);
enum verdict consent_approve(struct gb_job *job);
