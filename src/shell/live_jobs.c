/* What the commands of a persistent shell have left behind, and what else is told of it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "shell/live.h"

enum {
    PATIENCE_MS = 300
};

/* ---- from its reports ---- */

static struct live_job *find_job(struct live *l, pid_t pid)
{
    for (size_t i = 0; i < l->n_jobs; i++)
        if (l->jobs[i].about.pid == pid)
            return &l->jobs[i];
    return NULL;
}

/* One that has ended gives way. NULL if all of them run. */
static struct live_job *new_job(struct live *l)
{
    for (size_t i = 0; l->n_jobs == LIVE_JOBS_MAX && i < l->n_jobs; i++) {
        if (l->jobs[i].about.is_running)
            continue;
        l->n_jobs--;
        memmove(&l->jobs[i], &l->jobs[i + 1], (l->n_jobs - i) * sizeof(l->jobs[0]));
    }
    return l->n_jobs < LIVE_JOBS_MAX ? &l->jobs[l->n_jobs++] : NULL;
}

/* Those that the shell does not speak of any more have ended: it tells of an end once. Of those
 * whose shell is gone, the kernel knows. */
void live_note_jobs(struct live *l, const struct report *r)
{
    for (size_t i = 0; i < l->n_jobs; i++) {
        struct live_job *job = &l->jobs[i];
        if (!job->about.is_running || (job->is_orphan && kill(-job->about.pid, 0) == 0))
            continue;
        job->about.is_running = false;
        (void)snprintf(job->about.state, sizeof(job->about.state), "Ended");
    }
    for (size_t i = 0; i < r->n_jobs; i++) {
        struct live_job *job = find_job(l, r->jobs[i].pid);
        if (!job) {
            job = new_job(l);
            if (job)
                *job = (struct live_job){ .cell = l->cell };
        }
        if (job)
            job->about = r->jobs[i];
    }
}

/* ---- what is known ---- */

static json_t *job_json(const struct live *l, const struct live_job *job)
{
    json_t *json = json_pack("{s:i,s:i,s:I,s:b,s:o,s:o}", "pid", (int)job->about.pid, "number",
                             job->about.number, "cell", (json_int_t)job->cell, "running",
                             job->about.is_running, "state", json_lossy(job->about.state),
                             "command", json_lossy(job->about.command));

    for (size_t i = 0; i < LIVE_STREAMS_MAX; i++)
        if (l->streams[i].cell == job->cell)
            json_object_set_new(
                json, "late_bytes",
                json_integer((json_int_t)l->streams[i].dropped + (json_int_t)l->streams[i].n_late));
    return json;
}

/* What a job has printed is kept for as long as the job is known, or its pipes are held. */
static void forget_streams(struct live *l)
{
    for (size_t i = 0; i < LIVE_STREAMS_MAX; i++) {
        struct stream *s = &l->streams[i];
        bool is_wanted = s->cell == 0 || stream_is_open(s);
        for (size_t k = 0; k < l->n_jobs && !is_wanted; k++)
            is_wanted = l->jobs[k].cell == s->cell;
        if (!is_wanted)
            stream_close(s);
    }
}

json_t *live_about(struct live *l, bool all)
{
    json_t *jobs = json_array(), *about;

    forget_streams(l);
    for (size_t i = 0; i < l->n_jobs; i++) {
        struct live_job *job = &l->jobs[i];
        if (all || job->about.is_running || !job->is_told)
            json_array_append_new(jobs, job_json(l, job));
        job->is_told = !job->about.is_running;
    }
    about = json_pack("{s:i,s:b,s:o,s:o}", "pid", (int)l->pid, "is_new", l->is_new, "cwd",
                      json_lossy(l->cwd), "jobs", jobs);
    l->is_new = false;
    return about;
}

json_t *live_read_job(const struct live *l, pid_t pid, json_int_t offset, json_int_t length)
{
    const struct stream *s = NULL;
    uint64_t cell = 0, from, have;

    for (size_t i = 0; i < l->n_jobs; i++)
        if (l->jobs[i].about.pid == pid)
            cell = l->jobs[i].cell;
    for (size_t i = 0; cell > 0 && i < LIVE_STREAMS_MAX; i++)
        if (l->streams[i].cell == cell)
            s = &l->streams[i];
    if (cell == 0)
        return NULL;
    have = s ? s->dropped + s->n_late : 0;
    from = (uint64_t)offset;
    if (s && from < s->dropped)
        from = s->dropped;
    if (from > have)
        from = have;
    if ((uint64_t)length > have - from)
        length = (json_int_t)(have - from);
    return json_pack(
        "{s:i,s:I,s:I,s:I,s:b,s:o}", "pid", (int)pid, "offset", (json_int_t)from, "next_offset",
        (json_int_t)from + length, "bytes", (json_int_t)have, "open", s && stream_is_open(s),
        "text", json_replaced(s && s->late ? s->late + (from - s->dropped) : "", (size_t)length));
}

bool live_end_job(const struct live *l, pid_t pid)
{
    struct timespec moment = { .tv_nsec = 10 * 1000000L };

    for (size_t i = 0; i < l->n_jobs; i++) {
        if (l->jobs[i].about.pid != pid)
            continue;
        if (!l->jobs[i].about.is_running) /* the number may be somebody else's by now */
            return true;
        (void)kill(-pid, SIGTERM);
        (void)kill(-pid, SIGCONT);
        /* And as long again until the shell has seen it. */
        for (int ms = 0; ms < 2 * PATIENCE_MS && kill(-pid, 0) == 0; ms += 10) {
            if (ms == PATIENCE_MS)
                (void)kill(-pid, SIGKILL);
            (void)nanosleep(&moment, NULL);
        }
        return true;
    }
    return false;
}
