#include "cli/progress.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/io.h"

#define BAR_WIDTH       24
#define REDRAW_MS       100
#define COLUMNS_DEFAULT 80
#define COLUMNS_FOR_BAR 72 /* narrower, and the numbers need the room */

static uint64_t now_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void progress_init(struct progress *p, int fd, bool is_quiet)
{
    struct stat st;

    *p = (struct progress){ .is_on = !is_quiet && isatty(STDERR_FILENO) };
    if (!p->is_on)
        return;
    p->is_shared = isatty(STDOUT_FILENO);
    p->start_ms = now_ms();
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        p->total = (uint64_t)st.st_size;
}

void progress_count(struct progress *p, const char *result, uint64_t end_offset)
{
    if (!p->is_on)
        return;

    json_auto_t *parsed = json_loads(result, JSON_ALLOW_NUL, NULL);
    const char *status = json_string_value(json_object_get(parsed, "status"));
    p->answered++;
    p->succeeded += status && strcmp(status, "ok") == 0;
    p->consumed = end_offset;
}

static void add_bar(FILE *f, double share)
{
    char bar[BAR_WIDTH + 1] = { 0 };
    double capped = share < 1 ? share : 1;

    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)(capped * BAR_WIDTH));
    fprintf(f, "[%s] %3d%%  ", bar, (int)(capped * 100));
}

static int terminal_columns(void)
{
    struct winsize size = { 0 };

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2)
        return COLUMNS_DEFAULT;
    return size.ws_col;
}

static void render(const struct progress *p, uint64_t now, const char *end)
{
    double seconds = (double)(now - p->start_ms) / 1000.0;
    struct text t;

    if (text_open(&t) < 0)
        return;
    fputc('\r', t.stream);
    if (p->total > 0 && terminal_columns() >= COLUMNS_FOR_BAR)
        add_bar(t.stream, (double)p->consumed / (double)p->total);
    fprintf(t.stream, "%" PRIu64 " answered, %" PRIu64 " ok, %" PRIu64 " not", p->answered,
            p->succeeded, p->answered - p->succeeded);
    if (seconds > 0)
        fprintf(t.stream, "  %.0f/s", (double)p->answered / seconds);

    /* Longer than the terminal is wide, it would wrap and could not be cleared. */
    if (ftell(t.stream) > terminal_columns())
        (void)fseek(t.stream, terminal_columns(), SEEK_SET);
    fprintf(t.stream, "\033[K%s", end);
    (void)!text_send(&t, STDERR_FILENO);
}

void progress_draw(struct progress *p)
{
    if (!p->is_on)
        return;

    uint64_t now = now_ms();
    if (now - p->drawn_ms < REDRAW_MS)
        return;
    render(p, now, "");
    p->drawn_ms = now;
    p->is_shown = true;
}

void progress_hide(struct progress *p)
{
    if (!p->is_shown || !p->is_shared)
        return;
    (void)!write_all(STDERR_FILENO, "\r\033[K", 4);
    p->is_shown = false;
}

void progress_done(struct progress *p)
{
    if (p->is_on)
        render(p, now_ms(), "\n");
    p->is_on = false;
}
