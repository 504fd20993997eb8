#include "cli/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mime.h"
#include "base/own.h"
#include "base/parse.h"
#include "cli/io.h"

enum {
    NAMES_MAX = 10000 /* that are tried before it is given up */
};

static const char *mime_of(const json_t *form)
{
    const char *mime = json_string_value(json_object_get(form, "mime"));

    return mime ? mime : "";
}

static bool is_picture(const char *mime)
{
    return strncmp(mime, "image/", 6) == 0 || strcmp(mime, "application/pdf") == 0;
}

static bool is_plain(const char *mime)
{
    return strcmp(mime, "text/plain") == 0;
}

static bool is_any(const char *mime)
{
    (void)mime;
    return true;
}

/* The form that a reader of text has most of: a picture, as a file; else plain text; else whatever
 * text there is. */
static const json_t *choose(const json_t *forms)
{
    static bool (*const wishes[])(const char *) = { is_picture, is_plain, mime_is_text, is_any };

    for (size_t w = 0; w < ARRAY_LEN(wishes); w++)
        for (size_t i = 0; i < json_array_size(forms); i++)
            if (wishes[w](mime_of(json_array_get(forms, i))))
                return json_array_get(forms, i);
    return NULL;
}

static const char *word_for(const char *mime)
{
    return is_picture(mime) ? "figure" : "output";
}

/* Where files go. NULL with errno. */
static const char *directory(struct shown *s)
{
    const char *tmp = getenv("TMPDIR");

    if (s->dir || s->made)
        return s->dir ? s->dir : s->made;
    if (asprintf(&s->made, "%s/glovebox-shown-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
        s->made = NULL;
    if (s->made && !mkdtemp(s->made)) {
        free(s->made);
        s->made = NULL;
    }
    return s->made;
}

/* A new file, and its name in *ret_path. -1 with errno. */
static int open_new(struct shown *s, const char *mime, char **ret_path)
{
    const char *dir = directory(s);
    for (int n = 1; dir && n <= NAMES_MAX; n++) {
        char *path = NULL;
        int fd;

        if (asprintf(&path, "%s/%s-%d.%s", dir, word_for(mime), n, mime_extension(mime)) < 0)
            return -1;
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0) {
            *ret_path = path;
            return fd;
        }
        free(path);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* Returns the name of the file that was written; NULL after a message. */
static char *write_file(struct shown *s, const char *mime, const char *bytes, size_t len)
{
    auto_free char *path = NULL;
    auto_close int fd = open_new(s, mime, &path);
    int e = fd >= 0 ? write_all(fd, bytes, len) : -errno;

    if (e == 0)
        return take_ptr(path);
    message("cannot write the %s to a file: %s", word_for(mime), strerrordesc_np(-e));
    if (path)
        (void)unlink(path); /* half a picture is none */
    return NULL;
}

static char *save(struct shown *s, const json_t *form)
{
    const json_t *data = json_object_get(form, "data");
    uint64_t len = json_string_length(data);
    auto_free char *bytes = malloc(len + 1);

    if (!bytes)
        return NULL;
    memcpy(bytes, json_string_value(data), len);
    if (!mime_is_text(mime_of(form)) && !base64_decode(bytes, &len))
        return NULL;
    return write_file(s, mime_of(form), bytes, len);
}

/* The text of a form, ended by a newline. */
static void print(const json_t *form, struct shown_as *ret)
{
    const json_t *data = json_object_get(form, "data");
    size_t len = json_string_length(data);

    ret->text = malloc(len + 1);
    if (!ret->text)
        return;
    memcpy(ret->text, json_string_value(data), len);
    if (len == 0 || ret->text[len - 1] != '\n')
        ret->text[len++] = '\n';
    ret->len = len;
}

struct shown_as shown_take(struct shown *s, const char *forms)
{
    json_auto_t *list = json_loads(forms, JSON_ALLOW_NUL, NULL);
    const json_t *form = choose(list);
    struct shown_as as = { .what = word_for(mime_of(form)) };

    if (form && mime_is_text(mime_of(form)) && !is_picture(mime_of(form)))
        print(form, &as);
    else if (form)
        as.file = save(s, form);
    return as;
}

void shown_done(struct shown *s)
{
    free(s->made);
    s->made = NULL;
}
