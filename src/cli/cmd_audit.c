/* `glovebox audit verify`: is an audit file what its writers wrote? */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/own.h"
#include "cli/cli.h"
#include "cli/io.h"
#include "cli/report.h"
#include "glovebox.h"

enum {
    EXIT_DAMAGED = 1,
    HASH_DIGITS = 64
};

static const char *get(const json_t *object, const char *key)
{
    return json_string_at(object, key, "");
}

static long long number(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

/* "3 lines", "1 line" */
static void print_count(FILE *f, long long n, const char *what)
{
    fprintf(f, "%lld %s%s", n, what, n == 1 ? "" : "s");
}

/* Like a compiler's: file, line, what is wrong. */
static void print_problems(FILE *f, const char *path, const json_t *report)
{
    const json_t *problems = json_object_get(report, "problems"), *problem = NULL;
    long long rest = number(report, "problem_count") - (long long)json_array_size(problems);
    size_t i = 0;

    json_array_foreach (problems, i, problem)
        fprintf(f, "%s:%lld: %s: %s\n", path, number(problem, "line"), get(problem, "kind"),
                get(problem, "message"));
    if (rest > 0)
        fprintf(f, "%s: %lld more like these\n", path, rest);
}

static void print_notes(FILE *f, const char *path, const json_t *report)
{
    const json_t *ended = json_object_get(report, "ended"), *engine = NULL;
    const json_t *before = json_object_get(report, "before");
    size_t i = 0;

    if (json_is_object(before))
        fprintf(f, "%s: note: it was %s after line %lld, hash %s\n", path,
                strcmp(get(before, "because"), "shortened") == 0 ? "emptied" : "begun anew",
                number(before, "seq"), get(before, "hash"));
    json_array_foreach (ended, i, engine)
        fprintf(f, "%s:%lld: note: engine %s ended here without closing the file\n", path,
                number(engine, "line"), get(engine, "engine"));
    if (json_is_true(json_object_get(report, "open")))
        fprintf(f, "%s: note: an engine has it open and may write more\n", path);
    if (number(report, "expected_line") > 0)
        fprintf(f, "%s:%lld: note: this line has the expected hash\n", path,
                number(report, "expected_line"));
}

static void print_people(FILE *f, const char *path, const json_t *report)
{
    print_problems(f, path, report);
    print_notes(f, path, report);
    if (json_is_true(json_object_get(report, "ok")))
        fprintf(f, "%s: intact, ", path);
    else
        fprintf(f, "%s: damaged, ", path);
    print_count(f, number(report, "lines"), "line");
    fputs(", ", f);
    print_count(f, number(report, "runs"), "run");
    if (*get(report, "head"))
        fprintf(f, ", head %s", get(report, "head"));
    fputc('\n', f);
}

/* The status for one file. */
static int verify_one(const struct args *args, const char *path, FILE *f)
{
    bool is_input = strcmp(path, "-") == 0;
    auto_free char *text = gb_audit_verify(is_input ? "/dev/stdin" : path, args->expect);
    json_auto_t *report = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *error = json_object_get(report, "error");
    json_auto_t *answer = json_pack("{s:o}", "file", json_lossy(path));

    if (!report || json_object_update(answer, report) < 0) {
        message("out of memory");
        return CLI_FAILED;
    }
    if (args->want_json) {
        (void)json_dumpf(answer, f, JSON_COMPACT);
        fputc('\n', f);
    } else if (error) {
        message("%s", get(error, "message"));
    } else {
        print_people(f, path, report);
    }
    if (error)
        return CLI_FAILED;
    return json_is_true(json_object_get(report, "ok")) ? CLI_OK : EXIT_DAMAGED;
}

static int check_usage(const struct args *args, struct gb_err *err)
{
    const struct operands *given = &args->operands;
    const char *expect = args->expect;

    if (given->count == 0)
        return gb_fail(err, GB_E_INVALID, 0, "what to do with which audit file? (verify FILE)");
    if (strcmp(given->words[0], "verify") != 0)
        return gb_fail(err, GB_E_INVALID, 0, "audit can only 'verify', not '%.80s'",
                       given->words[0]);
    if (given->count == 1 && !given->rest[0])
        return gb_fail(err, GB_E_INVALID, 0, "no audit file given");
    if (!expect)
        return 0;
    if (strspn(expect, "0123456789abcdefABCDEF") != strlen(expect) || strlen(expect) != HASH_DIGITS)
        return gb_fail(err, GB_E_INVALID, 0, "--expect: '%.80s' is not a hash of %d digits", expect,
                       HASH_DIGITS);
    if (given->count > 2 || given->rest[0])
        return gb_fail(err, GB_E_INVALID, 0, "--expect is about one file");
    return 0;
}

static int audit_main(const struct args *args)
{
    const struct operands *given = &args->operands;
    int worst = CLI_OK;
    struct gb_err err;
    struct text t;

    if (check_usage(args, &err) < 0)
        return cli_refuse(args->command, &err);
    if (text_open(&t) < 0)
        return CLI_FAILED;
    for (char **path = given->words + 1; *path; path++) {
        int status = verify_one(args, *path, t.stream);
        worst = status > worst ? status : worst;
    }
    for (char **path = given->rest; *path; path++) {
        int status = verify_one(args, *path, t.stream);
        worst = status > worst ? status : worst;
    }
    return text_finish(&t, worst);
}

static const struct option_spec verify[] = {
    { 'j', "json", OPT_FLAG, offsetof(struct args, want_json), NULL,
      "print one object a file and nothing else", NULL },
    { 0, "expect", OPT_TEXT, offsetof(struct args, expect), "HASH",
      "the hash of a line that must be in the file, kept elsewhere", NULL },
};
static const struct option_group verify_options = { "Options", verify, ARRAY_LEN(verify) };

static const struct option_group *const groups[] = { &verify_options, &general_options, NULL };

const struct command cmd_audit = {
    .name = "audit",
    .operands = "verify [OPTIONS] FILE...",
    .summary = "find changed, missing and cut lines of an audit file",
    .description =
        "Reads files that --audit wrote and tells whether a line was changed, put in, moved or "
        "taken out, or the end was cut off. Prints the hash of the last line: kept somewhere else "
        "and given to --expect later, it also finds a file that was rewritten as a whole. "
        "'-' is standard input. Exits with 0 when all is intact, with 1 when not, with 125 when a "
        "file cannot be read.",
    .groups = groups,
    .run = audit_main,
};
