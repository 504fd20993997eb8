/*
 * URLs, read by the parser that will also be used to connect: were there two, what one takes for
 * this host could be another host to the other.
 */
#include "fetch/url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "base/own.h"

static void curl_textp(char **text)
{
    curl_free(*text);
}

static void curl_urlp(CURLU **url)
{
    curl_url_cleanup(*url);
}

#define auto_text __attribute__((cleanup(curl_textp)))
#define auto_url  __attribute__((cleanup(curl_urlp)))

/* A part of the URL, or NULL if it has none. The caller frees it. */
static char *part_of(CURLU *url, CURLUPart part)
{
    char *text = NULL;

    return curl_url_get(url, part, &text, 0) == CURLUE_OK ? text : NULL;
}

/* The parser gives addresses in their usual form: http://127.1/ is 127.0.0.1 by now. */
static bool is_loopback(const char *host)
{
    struct in_addr v4;

    if (strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
        return true;
    return inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

/* Nothing of the URL is repeated in messages: it may hold what is not for everybody. */
static int parse(CURLU *url, const char *base, struct gb_err *err)
{
    auto_text char *scheme = NULL, *user = NULL, *password = NULL, *fragment = NULL;
    CURLUcode bad = curl_url_set(url, CURLUPART_URL, base, CURLU_NON_SUPPORT_SCHEME);

    if (bad == CURLUE_OK) {
        scheme = part_of(url, CURLUPART_SCHEME);
        user = part_of(url, CURLUPART_USER);
        password = part_of(url, CURLUPART_PASSWORD);
        fragment = part_of(url, CURLUPART_FRAGMENT);
    }
    if (!scheme) {
        (void)gb_fail(err, GB_E_INVALID, 0, "not a URL: %s", curl_url_strerror(bad));
        return gb_fail_hint(err, "write it as https://HOST/v1");
    }
    if (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0) {
        (void)gb_fail(err, GB_E_INVALID, 0, "the URL is neither https nor http");
        return gb_fail_hint(err, "write it as https://HOST/v1");
    }
    if (user || password) {
        (void)gb_fail(err, GB_E_INVALID, 0, "the URL has a user name or a password in it");
        return gb_fail_hint(err, "keys do not belong into URLs, which end up in logs");
    }
    if (fragment) {
        (void)gb_fail(err, GB_E_INVALID, 0, "the URL has a fragment (#...)");
        return gb_fail_hint(err, "leave out the '#' and what follows");
    }
    return 0;
}

static int add_path(CURLU *url, const char *path, struct gb_err *err)
{
    auto_text char *part = part_of(url, CURLUPART_PATH);
    const char *have = part ? part : "";
    char whole[FETCH_URL_MAX];
    size_t len = strlen(have), n = strlen(path);

    if (n == 0)
        return 0; /* as it is, to the last slash */
    while (len > 0 && have[len - 1] == '/')
        len--;
    if (len >= n && strncmp(have + len - n, path, n) == 0)
        path = "";
    if (snprintf(whole, sizeof(whole), "%.*s%s", (int)len, have, path) >= (int)sizeof(whole) ||
        curl_url_set(url, CURLUPART_PATH, whole, 0) != CURLUE_OK)
        return gb_fail(err, GB_E_INVALID, 0, "the URL is too long");
    return 0;
}

int url_read(const char *base, const char *path, struct fetch_url *ret, struct gb_err *err)
{
    auto_url CURLU *url = curl_url();
    auto_text char *text = NULL, *scheme = NULL, *host = NULL, *port = NULL;
    struct fetch_url out = { 0 };
    int n, m;

    if (!url)
        return gb_fail(err, GB_E_SYSTEM, 0, "memory ran out");
    if (parse(url, base, err) < 0 || add_path(url, path, err) < 0)
        return -1;
    text = part_of(url, CURLUPART_URL);
    scheme = part_of(url, CURLUPART_SCHEME);
    host = part_of(url, CURLUPART_HOST);
    port = part_of(url, CURLUPART_PORT);
    if (!text || !scheme || !host)
        return gb_fail(err, GB_E_INVALID, 0, "not a URL with a host");
    n = snprintf(out.text, sizeof(out.text), "%s", text);
    m = snprintf(out.host, sizeof(out.host), "%s%s%s", host, port ? ":" : "", port ? port : "");
    if (n >= (int)sizeof(out.text) || m >= (int)sizeof(out.host))
        return gb_fail(err, GB_E_INVALID, 0, "the URL is too long");
    out.encrypted = strcmp(scheme, "https") == 0;
    out.loopback = is_loopback(host);
    *ret = out;
    return 0;
}
