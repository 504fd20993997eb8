#include "cli/request.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own.h"
#include "cli/io.h"

static int out_of_memory(struct gb_err *err)
{
    return gb_fail(err, GB_E_SYSTEM, ENOMEM, "making the request");
}

/* Which program? A file, -c, or standard input when it is not a terminal. */
static int choose_program(const struct args *args, struct request *r, struct gb_err *err)
{
    const struct operands *given = &args->operands;

    if (args->command == &cmd_shell) {
        r->code = args->want_explain && !args->code ? "" : args->code;
        r->filename = "command";
        return 0;
    }
    if (args->code && given->count > 0)
        return gb_fail(err, GB_E_INVALID, 0,
                       "both --code and the file '%.80s' (arguments of the program go after '--')",
                       given->words[0]);
    if (given->count > 1)
        return gb_fail(err, GB_E_INVALID, 0,
                       "unexpected argument '%.80s' (arguments of the program go after '--')",
                       given->words[1]);

    r->code = args->code;
    if (!r->code && given->count == 1)
        r->path = given->words[0];
    else if (!r->code && args->want_explain)
        r->code = ""; /* the plan does not depend on the program */
    else if (!r->code && !isatty(STDIN_FILENO))
        r->path = "-";
    if (!r->code && !r->path)
        return gb_fail(err, GB_E_INVALID, 0,
                       "no program: give a FILE, --code CODE, or '-' for standard input");

    if (r->code)
        r->filename = "main.py";
    else
        r->filename = strcmp(r->path, "-") == 0 ? "stdin.py" : r->path;
    return 0;
}

static int open_optional(const char *path, int *fd, struct gb_err *err)
{
    if (!path)
        return 0;
    *fd = open_input(path, err);
    return *fd < 0 ? -1 : 0;
}

static int check_stdin_used_once(const struct args *args, const struct request *r,
                                 struct gb_err *err)
{
    const char *users[] = { r->path, args->stdin_path, args->prelude_path };
    int count = 0;

    for (size_t i = 0; i < ARRAY_LEN(users); i++)
        count += users[i] && strcmp(users[i], "-") == 0;
    if (count > 1)
        return gb_fail(err, GB_E_INVALID, 0,
                       "standard input can be only one of the program, --stdin and --prelude");
    return 0;
}

/* ---- files for the workspace ---- */

/* PATH[:NAME]: where NAME begins, or NULL. */
static const char *name_in(const char *text)
{
    const char *colon = strrchr(text, ':');

    return colon ? colon + 1 : NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static char *path_in(const char *text)
{
    const char *name = name_in(text);

    return name ? strndup(text, (size_t)(name - text) - 1) : strdup(text);
}

static int open_files(const struct args *args, struct request *r, struct gb_err *err)
{
    size_t n = json_array_size(args->files);

    r->file_fds = n > 0 ? calloc(n, sizeof(*r->file_fds)) : NULL;
    if (n > 0 && !r->file_fds)
        return out_of_memory(err);
    for (; r->n_files < n; r->n_files++) {
        const char *text = json_string_value(json_array_get(args->files, r->n_files));
        auto_free char *path = path_in(text);
        int fd;

        if (!path)
            return out_of_memory(err);
        if (strcmp(path, "-") == 0)
            return gb_fail(err, GB_E_INVALID, 0, "--file: name a file, and use --stdin for '-'");
        fd = open_input(path, err);
        if (fd < 0) {
            (void)gb_fail_wrap(err, "--file");
            return err->sys == EISDIR ? gb_fail_hint(err, "mount a directory with -m DIR:NAME")
                                      : -1;
        }
        r->file_fds[r->n_files] = fd;
    }
    return 0;
}

static int set_one_file(json_t *files, const char *name, const struct gb_buf *buf,
                        struct gb_err *err)
{
    const char *bytes = buf->data ? buf->data : "";
    json_t *value = memchr(bytes, '\0', buf->len) ? NULL : json_stringn(bytes, buf->len);

    if (!value)
        value = json_pack("{s:o}", "base64", json_base64(bytes, buf->len));
    if (json_object_get(files, name)) {
        json_decref(value);
        return gb_fail(err, GB_E_INVALID, 0, "--file: two are called '%.80s' in the workspace",
                       name);
    }
    if (json_object_set_new(files, name, value) < 0)
        return gb_fail(err, GB_E_INVALID, 0, "--file: the name '%.80s' is not valid UTF-8", name);
    return 0;
}

static int set_files(json_t *request, const struct request *r, const struct args *args,
                     struct gb_err *err)
{
    json_t *files = json_object();
    int rc = 0;

    if (r->n_files == 0) {
        json_decref(files);
        return 0;
    }
    if (json_object_set_new(request, "files", files) < 0)
        return out_of_memory(err);
    for (size_t i = 0; i < r->n_files && rc == 0; i++) {
        const char *text = json_string_value(json_array_get(args->files, i)), *name = name_in(text);
        struct gb_buf buf;

        gb_buf_init(&buf, REQUEST_BYTES_MAX);
        rc = read_all(r->file_fds[i], text, &buf, err);
        if (rc == 0)
            rc = set_one_file(files, name ? name : base_name(text), &buf, err);
        gb_buf_done(&buf);
    }
    return rc;
}

int request_open(const struct args *args, struct request *r, struct gb_err *err)
{
    if (choose_program(args, r, err) < 0 || check_stdin_used_once(args, r, err) < 0)
        return -1;
    if (open_optional(r->path, &r->code_fd, err) < 0 ||
        open_optional(args->stdin_path, &r->stdin_fd, err) < 0 ||
        open_optional(args->prelude_path, &r->prelude_fd, err) < 0)
        return -1;
    return open_files(args, r, err);
}

/* Set `key` to the text, or `key`_base64 when JSON cannot carry it: bytes that are not UTF-8,
 * and NUL, which many readers of JSON refuse. */
static int set_bytes(json_t *request, const char *key, const char *bytes, size_t len,
                     struct gb_err *err)
{
    json_t *text = memchr(bytes, '\0', len) ? NULL : json_stringn(bytes, len);
    char encoded_key[32];

    if (text)
        return json_object_set_new(request, key, text) < 0 ? out_of_memory(err) : 0;

    (void)snprintf(encoded_key, sizeof(encoded_key), "%s_base64", key);
    if (json_object_set_new(request, encoded_key, json_base64(bytes, len)) < 0)
        return out_of_memory(err);
    return 0;
}

static int set_file(json_t *request, const char *key, int fd, const char *path, struct gb_err *err)
{
    struct gb_buf buf;

    if (fd < 0)
        return 0;
    gb_buf_init(&buf, REQUEST_BYTES_MAX);
    int rc = read_all(fd, path, &buf, err);
    if (rc == 0)
        rc = set_bytes(request, key, buf.data ? buf.data : "", buf.len, err);
    gb_buf_done(&buf);
    return rc;
}

static int set_arguments(json_t *request, const struct request *r, const struct args *args,
                         struct gb_err *err)
{
    json_t *list = json_array();

    if (json_object_set_new(request, "argv", list) < 0 ||
        (args->command != &cmd_shell &&
         json_array_append_new(list, json_lossy(r->path ? r->path : "-c")) < 0))
        return out_of_memory(err);
    for (char **a = args->operands.rest; *a; a++) {
        if (json_array_append_new(list, json_string(*a)) < 0)
            return gb_fail(err, GB_E_SYSTEM, EILSEQ, "the argument '%.80s'", *a);
    }
    return 0;
}

int cli_request_read(struct request *r, const struct args *args, char **ret, struct gb_err *err)
{
    bool is_shell = args->command == &cmd_shell;
    json_auto_t *request = json_pack("{s:s}", "kind", is_shell ? "shell" : "python");

    if (!request ||
        (r->path && json_object_set_new(request, "filename", json_lossy(r->filename)) < 0))
        return out_of_memory(err);
    if (set_arguments(request, r, args, err) < 0)
        return -1;
    if (json_object_size(args->inputs) > 0 && json_object_set(request, "inputs", args->inputs) < 0)
        return out_of_memory(err);

    if (r->code &&
        set_bytes(request, is_shell ? "command" : "code", r->code, strlen(r->code), err) < 0)
        return -1;
    if (set_file(request, "code", r->code_fd, r->path, err) < 0 ||
        set_file(request, "stdin", r->stdin_fd, args->stdin_path, err) < 0 ||
        set_file(request, "prelude", r->prelude_fd, args->prelude_path, err) < 0 ||
        set_files(request, r, args, err) < 0)
        return -1;

    *ret = json_dumps(request, JSON_COMPACT);
    return *ret ? 0 : out_of_memory(err);
}

/* ---- check ---- */

static int check_request(const char *path, const char *code, size_t len, const json_t *prelude,
                         char **ret, struct gb_err *err)
{
    json_auto_t *request = json_pack("{s:s}", "kind", "check");
    bool is_file = path && strcmp(path, "-") != 0;

    if (!request || (is_file && (json_object_set_new(request, "id", json_lossy(path)) < 0 ||
                                 json_object_set_new(request, "filename", json_lossy(path)) < 0)))
        return out_of_memory(err);
    if (prelude && json_object_set_new(request, "prelude", json_deep_copy(prelude)) < 0)
        return out_of_memory(err);
    if (set_bytes(request, "code", code, len, err) < 0)
        return -1;
    *ret = json_dumps(request, JSON_COMPACT);
    return *ret ? 0 : out_of_memory(err);
}

int request_check(const char *path, const json_t *prelude, struct gb_buf *text, char **ret,
                  struct gb_err *err)
{
    auto_close int fd = open_input(path, err);

    if (fd < 0 || read_all(fd, path, text, err) < 0)
        return -1;
    return check_request(path, text->data ? text->data : "", text->len, prelude, ret, err);
}

int request_check_code(const char *code, const json_t *prelude, char **ret, struct gb_err *err)
{
    return check_request(NULL, code, strlen(code), prelude, ret, err);
}

json_t *request_text_of(const char *path, struct gb_err *err)
{
    auto_close int fd = open_input(path, err);
    struct gb_buf buf;
    json_t *text = NULL;

    gb_buf_init(&buf, REQUEST_BYTES_MAX);
    if (fd >= 0 && read_all(fd, path, &buf, err) == 0) {
        text = json_stringn(buf.data ? buf.data : "", buf.len);
        if (!text)
            gb_err_set(err, GB_E_SYSTEM, EILSEQ, "cannot read '%.150s'", path);
    }
    gb_buf_done(&buf);
    return text;
}

void cli_request_done(struct request *r)
{
    gb_closep(&r->code_fd);
    gb_closep(&r->stdin_fd);
    gb_closep(&r->prelude_fd);
    for (size_t i = 0; i < r->n_files; i++)
        gb_closep(&r->file_fds[i]);
    free(r->file_fds);
}
