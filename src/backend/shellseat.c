#include "backend/shellseat.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/own.h"

bool seat_shell_is(const json_t *program)
{
    return strcmp(json_string_at(program, "kind", ""), "shell") == 0;
}

json_t *seat_shell_begin(const json_t *program)
{
    static const char *const keys[] = { "kind", "env", "shell", "workdir", "pty" };
    json_t *begin = json_pack("{s:{s:s}}", "session", "op", "begin");

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_object_get(program, keys[i]))
            json_object_set(begin, keys[i], json_object_get(program, keys[i]));
    return begin;
}

static pid_t pid_at(const json_t *object)
{
    json_int_t pid = json_integer_value(json_object_get(object, "pid"));

    return pid > 1 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

void seat_shell_note(struct seat_shell *s, const json_t *said)
{
    const json_t *about = json_object_get(said, "shell"), *jobs = json_object_get(about, "jobs");

    if (!json_is_object(about))
        return;
    s->pid = pid_at(about);
    s->is_new = s->is_new || json_is_true(json_object_get(about, "is_new"));
    s->n_jobs = 0;
    for (size_t i = 0; i < json_array_size(jobs) && s->n_jobs < BOX_SPARE_MAX; i++)
        if (pid_at(json_array_get(jobs, i)) > 0)
            s->jobs[s->n_jobs++] = pid_at(json_array_get(jobs, i));
}

bool seat_shell_failed(const json_t *said, struct gb_err *err)
{
    const json_t *failed = json_object_get(said, "failed");
    json_int_t code;

    if (!json_is_object(failed))
        return false;
    code = json_integer_value(json_object_get(failed, "code"));
    gb_err_set(err,
               code == GB_E_INVALID || code == GB_E_GONE || code == GB_E_LIMIT ? (enum gb_code)code
                                                                               : GB_E_SYSTEM,
               0, "%s", json_string_at(failed, "message", ""));
    gb_err_hint(err, "%s", json_string_at(failed, "hint", ""));
    return true;
}

void seat_shell_starts(struct seat_shell *s)
{
    s->began_us = clock_us();
    s->steps = 0;
    s->is_killed = false;
}

long seat_shell_stop(struct seat_shell *s, int ctl)
{
    static const struct {
        int signal;
        long wait_us;
    } steps[] = {
        { BOX_UNWIND_SIGNAL, 150000 }, /* the shell leaves the command where it is */
        { BOX_LEAVE_SIGNAL, 200000 },  /* it ends, and another goes on with what it held */
        { SIGKILL, 300000 },
    };
    struct box_order order = { .kind = BOX_STOP, .pid = s->pid, .n_spare = s->n_jobs };

    if (s->steps >= ARRAY_LEN(steps))
        return 0;
    order.signal = steps[s->steps].signal;
    order.since_us = clock_us() - s->began_us;
    memcpy(order.spare, s->jobs, sizeof(order.spare));
    if (fd_send(ctl, &order, sizeof(order), NULL, 0) < 0)
        return 0;
    return steps[s->steps++].wait_us;
}
