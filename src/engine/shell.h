#pragma once
/* What requests and the configuration say of shells and of their commands. */
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "shell/policy.h"

struct config;
struct gb_job;
struct request;

/* Does each command of a session begin in 'workdir', or where the one before it was? */
enum shell_confine {
    CONFINE_UNSAID, /* it does, where there is one */
    CONFINE_YES,
    CONFINE_NO,
};

/* What an operator configures, and what a request may say: both read by the same names. */
struct shell_settings {
    json_t *words; /* which shell, or NULL */
    json_t *unset; /* names of variables, or NULL */
    char *workdir; /* or NULL */
    bool clean_env, raw, pty;
    enum shell_confine confine;
    struct shell_rules rules;
};

/* Take the key if it is one of these. Returns 1, 0 if it is none, -1 with err. */
int shell_say(struct shell_settings *s, const char *key, json_t *value, struct gb_err *err);

/* The keys, one after the other; NULL after the last. */
const char *shell_key(size_t i);

/* GLOVEBOX_SHELL, where nothing else names a shell. */
int shell_from_environment(struct shell_settings *s, struct gb_err *err) gb_nodiscard;

void shell_settings_done(struct shell_settings *s);

/* Is this key of a request only for Python, so that a command has no use for it? */
bool shell_is_foreign(const char *key);

/* All keys are read: complete what the guest gets. */
int shell_request(struct request *r, const struct config *config, struct gb_err *err) gb_nodiscard;

/* A command of a session: what the guest gets of it; `is_first`: with what begins the session. */
void shell_session_program(struct request *r, const struct config *config, bool is_first);

/* What results say of the shell that a command of a session ran in: jobs, directory. All of it is
 * the guest's word. */
void shell_session_collect(struct gb_job *job, const json_t *answer);

/* What a result calls the rules that it was judged by. */
const char *shell_policy_name(const struct request *r, const struct config *config);

/* May its command run, by the operator's rules and by its own? If not, the job's result says
 * why. */
bool shell_may_run(struct gb_job *job);

/* May this be typed, after what was typed before it? A terminal's program may be a shell. The same
 * rules, and where there are any, nothing that would change what was typed already. */
bool shell_may_type(struct gb_job *job, const char *before, size_t len);
