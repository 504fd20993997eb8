/*
 * The caller's side of `make bench` for servers of MCP: keeps so many calls of one tool under way,
 * and costs little itself, since it runs on the processors that it measures.
 *
 *   calls stdio MS IN_FLIGHT RIGHT REQUEST        the server's output is 0, its input is 1
 *   calls PORT  MS CONNECTIONS RIGHT REQUEST      over HTTP on this host
 *
 * REQUEST is what is sent, with a number in the place of '@' (stdio); RIGHT is in every answer that
 * is right. Says on 2 how many calls were made, and in how many microseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

enum {
    CONNECTIONS_MAX = 64,
    ROOM = 1 << 20,
    PATIENCE_MS = 60000
};

struct answers {
    char *text; /* ROOM + 1 bytes, ended with a NUL */
    size_t len;
};

static struct {
    int64_t began, ends;
    const char *right, *request;
    long done, sent;
} flow;

static void write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno != EINTR)
            die("writing", strerror(errno));
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static void read_some(int fd, struct answers *a)
{
    ssize_t n;

    if (a->len == ROOM)
        die("an answer that is too long", a->text);
    n = read(fd, a->text + a->len, ROOM - a->len);
    if (n <= 0)
        die("the server ended", a->text);
    a->len += (size_t)n;
    a->text[a->len] = '\0';
}

static void answers_init(struct answers *a)
{
    a->text = malloc(ROOM + 1);
    a->len = 0;
    if (!a->text)
        die("no memory", NULL);
}

static void need_right(const char *answer)
{
    if (!strstr(answer, flow.right))
        die("the server answered", answer);
    flow.done++;
}

static bool has_time(void)
{
    return now_us() < flow.ends;
}

/* ---- stdio ---- */

static void send_line(void)
{
    const char *at = strchr(flow.request, '@');
    char number[32];
    int n = snprintf(number, sizeof(number), "%ld", ++flow.sent);

    write_all(1, flow.request, (size_t)(at - flow.request));
    write_all(1, number, (size_t)n);
    write_all(1, at + 1, strlen(at + 1));
    write_all(1, "\n", 1);
}

/* Takes whole lines; what is no answer is a notification. Returns how many answers there were. */
static long take_lines(struct answers *a)
{
    char *line = a->text, *end;
    long taken = 0;

    while ((end = strchr(line, '\n'))) {
        *end = '\0';
        if (!strstr(line, "\"method\":")) {
            need_right(line);
            taken++;
        }
        line = end + 1;
    }
    a->len -= (size_t)(line - a->text);
    memmove(a->text, line, a->len + 1);
    return taken;
}

static void over_stdio(long in_flight)
{
    struct answers a;
    struct pollfd p = { .fd = 0, .events = POLLIN };
    long flying = 0;

    answers_init(&a);
    if (!strchr(flow.request, '@'))
        die("no place for a number", flow.request);
    for (; flying < in_flight; flying++)
        send_line();
    while (flying > 0) {
        if (poll(&p, 1, PATIENCE_MS) <= 0)
            die("the server says nothing", NULL);
        read_some(0, &a);
        for (flying -= take_lines(&a); flying < in_flight && has_time(); flying++)
            send_line();
    }
}

/* ---- HTTP ---- */

static int connect_to(uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        die("connecting", strerror(errno));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

static bool is_whole(const struct answers *a)
{
    static const char length[] = "\r\nContent-Length: ", last[] = "0\r\n\r\n";
    const char *body = strstr(a->text, "\r\n\r\n"), *at = strcasestr(a->text, length);

    if (!body)
        return false;
    if (strncmp(a->text, "HTTP/1.1 200 ", 13) != 0)
        die("the server answered", a->text);
    body += 4;
    if (at && at < body)
        return a->len - (size_t)(body - a->text) >= strtoul(at + strlen(length), NULL, 10);
    return a->len >= strlen(last) && strcmp(a->text + a->len - strlen(last), last) == 0;
}

static void over_http(uint16_t port, long connections)
{
    struct pollfd fds[CONNECTIONS_MAX];
    struct answers answers[CONNECTIONS_MAX];
    size_t len = strlen(flow.request);
    long left = connections;

    for (long i = 0; i < connections; i++) {
        fds[i] = (struct pollfd){ .fd = connect_to(port), .events = POLLIN };
        answers_init(&answers[i]);
        write_all(fds[i].fd, flow.request, len);
    }
    while (left > 0) {
        if (poll(fds, (nfds_t)connections, PATIENCE_MS) <= 0)
            die("the server does not answer", NULL);
        for (long i = 0; i < connections; i++) {
            if (fds[i].fd < 0 || fds[i].revents == 0)
                continue;
            read_some(fds[i].fd, &answers[i]);
            if (!is_whole(&answers[i]))
                continue;
            need_right(answers[i].text);
            answers[i].len = 0;
            if (has_time()) {
                write_all(fds[i].fd, flow.request, len);
            } else {
                (void)close(fds[i].fd);
                fds[i].fd = -1;
                left--;
            }
        }
    }
}

int main(int argc, char **argv)
{
    long in_flight = argc == 6 ? strtol(argv[3], NULL, 10) : 0;

    if (in_flight < 1 || in_flight > CONNECTIONS_MAX)
        die("usage: calls stdio|PORT MS IN_FLIGHT RIGHT REQUEST", NULL);
    flow.right = argv[4];
    flow.request = argv[5];
    flow.began = now_us();
    flow.ends = flow.began + strtol(argv[2], NULL, 10) * 1000;
    if (strcmp(argv[1], "stdio") == 0)
        over_stdio(in_flight);
    else
        over_http((uint16_t)strtoul(argv[1], NULL, 10), in_flight);
    fprintf(stderr, "%ld %ld\n", flow.done, (long)(now_us() - flow.began));
    return 0;
}
