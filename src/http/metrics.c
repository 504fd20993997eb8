#include "http/metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"
#include "engine/loop.h"
#include "glovebox.h"
#include "http/mcp.h"
#include "mcp/runs.h"

static const char *const statuses[] = { "ok",    "error",   "rejected",  "timeout",
                                        "limit", "crashed", "cancelled", "failed" };
static const char *const limits[] = {
    "memory", "processes", "disk", "open_files", "cpu", "timeout"
};

/* Where the time of a run goes: members of the result's "timings", and all of it. */
static const struct {
    const char *name, *key;
} stages[] = {
    { "check", "check_ms" },
    { "start", "start_ms" },
    { "run", "run_ms" },
    { "collect", "collect_ms" },
};

static const double bounds_ms[] = { 0.1, 0.25, 0.5, 1,   2.5,  5,    10,    25,
                                    50,  100,  250, 500, 1000, 2500, 10000, 30000 };

struct histogram {
    uint64_t counts[ARRAY_LEN(bounds_ms) + 1];
    uint64_t n;
    double sum_ms;
};

struct metrics {
    struct metrics_spec spec;
    uint64_t by_status[ARRAY_LEN(statuses)];
    uint64_t by_limit[ARRAY_LEN(limits)];
    struct histogram stages[ARRAY_LEN(stages)];
};

/* ---- counting ---- */

static void count(uint64_t *counts, const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; name && i < n; i++)
        if (strcmp(names[i], name) == 0)
            counts[i]++;
}

static void observe(struct histogram *h, double ms)
{
    size_t i = 0;

    while (i < ARRAY_LEN(bounds_ms) && ms > bounds_ms[i])
        i++;
    h->counts[i]++;
    h->n++;
    h->sum_ms += ms;
}

static void on_result(void *data, const json_t *result)
{
    struct metrics *m = data;
    const char *status = json_string_at(result, "status", "failed");
    const json_t *timings = json_object_get(result, "timings");

    count(m->by_status, statuses, ARRAY_LEN(statuses), status);
    count(m->by_limit, limits, ARRAY_LEN(limits), json_string_at(result, "limit", NULL));
    if (strcmp(status, "timeout") == 0)
        count(m->by_limit, limits, ARRAY_LEN(limits), status);
    for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
        const json_t *ms = json_object_get(timings, stages[i].key);

        if (json_is_number(ms))
            observe(&m->stages[i], json_number_value(ms));
    }
}

/* ---- telling ---- */

static void put_head(FILE *f, const char *name, const char *type, const char *help)
{
    (void)fprintf(f, "# HELP glovebox_%s %s\n# TYPE glovebox_%s %s\n", name, help, name, type);
}

static void put_one(FILE *f, const char *name, const char *type, const char *help, double value)
{
    put_head(f, name, type, help);
    (void)fprintf(f, "glovebox_%s %.17g\n", name, value);
}

static void put_labelled(FILE *f, const char *name, const char *label, const char *const *values,
                         const uint64_t *counts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)fprintf(f, "glovebox_%s{%s=\"%s\"} %llu\n", name, label, values[i],
                      (unsigned long long)counts[i]);
}

static void put_stages(FILE *f, const struct metrics *m)
{
    put_head(f, "stage_seconds", "histogram", "Time that runs spent in each stage.");
    for (size_t s = 0; s < ARRAY_LEN(stages); s++) {
        const struct histogram *h = &m->stages[s];
        unsigned long long n = 0;

        for (size_t i = 0; i < ARRAY_LEN(bounds_ms); i++) {
            n += h->counts[i];
            (void)fprintf(f, "glovebox_stage_seconds_bucket{stage=\"%s\",le=\"%g\"} %llu\n",
                          stages[s].name, bounds_ms[i] / 1000, n);
        }
        (void)fprintf(f,
                      "glovebox_stage_seconds_bucket{stage=\"%s\",le=\"+Inf\"} %llu\n"
                      "glovebox_stage_seconds_sum{stage=\"%s\"} %.9g\n"
                      "glovebox_stage_seconds_count{stage=\"%s\"} %llu\n",
                      stages[s].name, (unsigned long long)h->n, stages[s].name, h->sum_ms / 1000,
                      stages[s].name, (unsigned long long)h->n);
    }
}

static void put_runs(FILE *f, const struct metrics *m)
{
    put_head(f, "runs_total", "counter", "Requests that were answered, by status.");
    put_labelled(f, "runs_total", "status", statuses, m->by_status, ARRAY_LEN(statuses));
    put_head(f, "limits_hit_total", "counter", "Runs that a limit ended.");
    put_labelled(f, "limits_hit_total", "limit", limits, m->by_limit, ARRAY_LEN(limits));
    put_stages(f, m);
    put_one(f, "runs_running", "gauge", "Requests that are under way.",
            (double)runs_running(m->spec.runs));
    put_one(f, "runs_waiting", "gauge", "Requests that wait for their turn.",
            (double)runs_waiting(m->spec.runs));
    put_one(f, "pool_waiting", "gauge", "Boxes that stand ready.", gb_waiting(m->spec.engine));
    put_one(f, "sessions", "gauge", "Sessions that keep their names.",
            (double)engine_sessions(m->spec.engine));
}

static void put_mcp(FILE *f, const struct metrics *m)
{
    struct mcp_counts c = mcp_server_counts(m->spec.mcp);

    put_one(f, "mcp_calls", "gauge", "MCP requests that are under way.", (double)c.calls);
    put_one(f, "mcp_parked", "gauge", "MCP calls that wait for an answer to be brought.",
            (double)c.parked);
    put_one(f, "mcp_listening", "gauge", "Streams that are told of changes.", (double)c.listening);
    put_one(f, "mcp_sessions", "gauge", "Clients of the handshake era.",
            (double)http_mcp_sessions(m->spec.endpoint));
}

static void put_http(FILE *f, const struct metrics *m)
{
    static const char *const classes[] = { "1xx", "2xx", "3xx", "4xx", "5xx" };
    struct http_counts c = http_server_counts(m->spec.http);

    put_one(f, "http_connections", "gauge", "Connections that are open.", (double)c.connections);
    put_one(f, "http_busy", "gauge", "Exchanges that are under way.", (double)c.busy);
    put_one(f, "http_strangers", "gauge", "Connections that have not shown the token.",
            (double)c.strangers);
    put_one(f, "http_held_bytes", "gauge", "Bytes of requests that are being read.",
            (double)c.held_bytes);
    put_one(f, "http_served_bytes", "gauge", "Bytes of requests that are being served.",
            (double)c.served_bytes);
    put_one(f, "http_unsent_bytes", "gauge", "Bytes of replies that clients have not taken.",
            (double)c.unsent_bytes);
    put_one(f, "http_connections_total", "counter", "Connections that were accepted.",
            (double)c.accepted);
    put_one(f, "http_vanished_total", "counter", "Clients that left before their reply.",
            (double)c.vanished);
    put_head(f, "http_replies_total", "counter", "Replies, by the class of their status.");
    put_labelled(f, "http_replies_total", "class", classes, c.replies + 1, ARRAY_LEN(classes));
    put_head(f, "http_refused_total", "counter", "Requests and connections that were refused.");
    put_labelled(f, "http_refused_total", "reason", http_refusal_names, c.refused, HTTP_REFUSALS);
}

static size_t open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n > 3 ? n - 3 : 0; /* ".", ".." and its own */
}

static double resident_bytes(void)
{
    char text[128] = "";
    char *rest = NULL;

    if (fd_slurp_at(AT_FDCWD, "/proc/self/statm", text, sizeof(text) - 1) < 0)
        return 0;
    (void)strtoul(text, &rest, 10);
    return (double)strtoul(rest, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
}

/* Of this process alone, by the names that other programs have for them. */
static void put_process(FILE *f)
{
    (void)fprintf(f,
                  "# HELP process_open_fds Descriptors that are open.\n"
                  "# TYPE process_open_fds gauge\nprocess_open_fds %zu\n"
                  "# HELP process_resident_memory_bytes Memory that is resident.\n"
                  "# TYPE process_resident_memory_bytes gauge\n"
                  "process_resident_memory_bytes %.17g\n",
                  open_files(), resident_bytes());
}

static void put_info(FILE *f)
{
    put_head(f, "info", "gauge", "The program.");
    (void)fprintf(f, "glovebox_info{version=\"%s\"} 1\n", gb_version());
}

static void reply_metrics(struct http_exchange *x, void *data)
{
    const struct metrics *m = data;
    auto_free char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f) {
        http_reply_busy(x, "memory ran out");
        return;
    }
    put_info(f);
    put_runs(f, m);
    put_mcp(f, m);
    put_http(f, m);
    put_process(f);
    if (fclose(f) != 0)
        http_reply_busy(x, "memory ran out");
    else
        http_reply(x, 200, "text/plain; version=0.0.4; charset=utf-8", text, len);
}

static void reply_health(struct http_exchange *x, void *data)
{
    static const char well[] = "{\"status\":\"ok\"}", ending[] = "{\"status\":\"draining\"}";
    const struct metrics *m = data;

    if (http_server_is_draining(m->spec.http))
        http_reply(x, 503, "application/json", ending, sizeof(ending) - 1);
    else
        http_reply(x, 200, "application/json", well, sizeof(well) - 1);
}

/* ---- life ---- */

struct metrics *metrics_new(const struct metrics_spec *spec)
{
    struct metrics *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->spec = *spec;
    runs_observe(spec->runs, on_result, m);
    return m;
}

struct metrics *metrics_free(struct metrics *m)
{
    if (m)
        runs_observe(m->spec.runs, NULL, NULL);
    free(m);
    return NULL;
}

void metrics_route(struct metrics *m)
{
    http_server_route(m->spec.http,
                      &(struct http_route){ "/metrics", HTTP_GET, false, reply_metrics, m });
    http_server_route(m->spec.http,
                      &(struct http_route){ "/healthz", HTTP_GET, true, reply_health, m });
}
