/* `glovebox doctor`: what this host allows, and proof from inside a box. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/own.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/report.h"
#include "cli/settings.h"
#include "glovebox.h"

struct view {
    FILE *out;
    bool has_colour;
};

static const char *get(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static void print_mark(const struct view *v, bool is_good)
{
    const char *on = is_good ? "\033[32m" : "\033[31m";

    fprintf(v->out, "  %s%s%s  ", v->has_colour ? on : "", is_good ? "ok" : "no",
            v->has_colour ? "\033[0m" : "");
}

/* "  ok  name  detail", without blanks at the end. */
static void print_line(const struct view *v, bool is_good, const char *name, const char *detail)
{
    print_mark(v, is_good);
    if (*detail)
        fprintf(v->out, "%-18s  %s\n", name, detail);
    else
        fprintf(v->out, "%s\n", name);
}

/* Why it is not there, and what would change that. */
static void print_cause(const struct view *v, const json_t *thing)
{
    const char *cause = get(thing, "cause");
    const char *fix = get(thing, "fix");

    if (*cause)
        fprintf(v->out, "      cause: %s\n", cause);
    if (*fix)
        fprintf(v->out, "      fix:   %s\n", fix);
}

static void print_layers(const struct view *v, const json_t *layers)
{
    const json_t *layer = NULL;
    size_t i = 0;

    if (json_array_size(layers) > 0)
        fputs("\nLayers\n", v->out);
    json_array_foreach (layers, i, layer) {
        print_line(v, json_is_true(json_object_get(layer, "ok")), get(layer, "name"),
                   get(layer, "detail"));
        print_cause(v, layer);
    }
}

static void print_cores(const struct view *v, const json_t *cores)
{
    if (!json_is_object(cores))
        return;
    fputs("\nWho is told of crashes\n", v->out);
    print_line(v, json_is_true(json_object_get(cores, "ok")), "core_pattern", get(cores, "detail"));
    print_cause(v, cores);
}

static void print_cgroup(const struct view *v, const json_t *cgroup)
{
    const char *version = get(cgroup, "version");

    if (!json_is_object(cgroup))
        return;
    fputs("\nControl groups, which no box needs\n", v->out);
    print_line(v, json_is_true(json_object_get(cgroup, "ok")), *version ? version : "none",
               get(cgroup, "detail"));
    print_cause(v, cgroup);
}

static void print_python(const struct view *v, const json_t *python)
{
    const char *path = get(python, "executable");

    if (!*path)
        return; /* the error of the verdict says why there is none */
    fputs("\nInterpreter\n", v->out);
    print_line(v, true, path, get(python, "version"));
}

static void print_tests(const struct view *v, const json_t *tests)
{
    const json_t *test = NULL;
    size_t i = 0;

    if (json_array_size(tests) > 0)
        fputs("\nSelf-test: forbidden things, tried from inside a box\n", v->out);
    json_array_foreach (tests, i, test)
        print_line(v, json_is_true(json_object_get(test, "held")), get(test, "name"),
                   get(test, "detail"));
}

static void print_verdict(const struct view *v, const json_t *report)
{
    const json_t *error = json_object_get(report, "error");
    const char *hint = get(error, "hint");
    const char *level = get(report, "level");

    fputc('\n', v->out);
    if (json_is_true(json_object_get(report, "ok"))) {
        fprintf(v->out, "Ready: boxes on this host are held at the level '%s'.\n", level);
        return;
    }
    if (json_is_object(error))
        fprintf(v->out, "Not ready: %s\n", get(error, "message"));
    else if (*level)
        fputs("Not ready: a part of the self-test did not hold.\n", v->out);
    else
        fputs("Not ready: this host has no isolation that would hold a box.\n", v->out);
    if (*hint && !strstr(hint, "glovebox doctor")) /* which this is */
        fprintf(v->out, "hint: %s\n", hint);
}

static void print_people(FILE *out, const json_t *report)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    struct view v = { .out = out };

    v.has_colour = !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0 &&
                   isatty(STDOUT_FILENO);
    fprintf(out, "glovebox %s, kernel %s, uid %lld\n", get(report, "version"),
            get(report, "kernel"), (long long)json_integer_value(json_object_get(report, "uid")));
    print_layers(&v, json_object_get(report, "layers"));
    print_cgroup(&v, json_object_get(report, "cgroup"));
    print_cores(&v, json_object_get(report, "cores"));
    print_python(&v, json_object_get(report, "python"));
    print_tests(&v, json_object_get(report, "self_test"));
    print_verdict(&v, report);
}

/* The report when there is no engine to ask. */
static json_t *report_without_engine(const json_t *error)
{
    struct utsname host = { 0 };

    (void)uname(&host);
    return json_pack("{s:b, s:s, s:s, s:I, s:n, s:[], s:n, s:[], s:O?}", "ok", 0, "version",
                     gb_version(), "kernel", host.release, "uid", (json_int_t)getuid(), "level",
                     "layers", "python", "self_test", "error", error);
}

static int print_report(const json_t *report, bool want_json)
{
    bool is_ok = json_is_true(json_object_get(report, "ok"));
    struct text t;

    if (text_open(&t) < 0)
        return CLI_FAILED;
    if (want_json) {
        (void)json_dumpf(report, t.stream, JSON_COMPACT);
        fputc('\n', t.stream);
    } else {
        print_people(t.stream, report);
    }
    return text_finish(&t, is_ok ? CLI_OK : CLI_FAILED);
}

static int doctor_main(const struct args *args)
{
    json_auto_t *config = NULL;
    json_auto_t *error = NULL;
    json_auto_t *report = NULL;
    auto_free char *text = NULL;
    auto_engine struct gb_engine *engine = NULL;
    int status = CLI_FAILED;
    struct gb_err err;

    if (args->operands.count > 0 || args->operands.rest[0]) {
        gb_err_set(&err, GB_E_INVALID, 0, "doctor takes no arguments");
        return cli_refuse(args->command, &err);
    }
    if (settings_load(args, &config, &err) < 0)
        return cli_refuse(args->command, &err);

    if (json_object_set_new(config, "oneshot", json_true()) < 0 ||
        engine_open_plain(args, config, &engine, &error) < 0) {
        report = report_without_engine(error);
    } else {
        text = gb_doctor(engine);
        report = report_parse(text, args->want_json, &status);
    }
    return report ? print_report(report, args->want_json) : status;
}

static const struct option_spec doctor[] = {
    { 'j', "json", OPT_FLAG, offsetof(struct args, want_json), NULL,
      "print one object and nothing else", NULL },
    { 0, "python", OPT_KEY_TEXT, offsetof(struct args, config), "PATH", "the interpreter",
      "python3 on PATH" },
};
static const struct option_group doctor_options = { "Options", doctor, ARRAY_LEN(doctor) };

static const struct option_group *const groups[] = { &doctor_options, &config_options,
                                                     &general_options, NULL };

const struct command cmd_doctor = {
    .name = "doctor",
    .operands = "[OPTIONS]",
    .summary = "what this host allows, and a self-test from inside a box",
    .description = "Probes each layer that can hold a box, says what is missing, why, and the one "
                   "command that would fix it. Then tries forbidden things from inside a box and "
                   "tells whether each was denied. Exits with 0 when boxes hold, else with 125.",
    .groups = groups,
    .run = doctor_main,
};
