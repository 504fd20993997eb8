/* Makes every seccomp filter that there is a wish for and prints them as C. Run by the build. */
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>

#include "sandbox/seccomp.h"
#include "sandbox/shrink.h"

static struct seccomp_wish wish_of(unsigned i)
{
    return (struct seccomp_wish){ .level = (i & 4) != 0 ? LEVEL_NAMESPACES : LEVEL_LANDLOCK,
                                  .host_network = (i & 2) != 0,
                                  .writes_host = (i & 1) != 0 };
}

static int print_short(unsigned i, const struct sock_filter *code, size_t n)
{
    static struct sock_filter less[BPF_MAXINSNS];
    size_t n_less = shrink(code, n, less, BPF_MAXINSNS);

    if (n_less == 0 || !shrink_is_same(code, n, less, n_less)) {
        (void)fprintf(stderr, "make-filters: filter %u cannot be shortened (shrink.c)\n", i);
        return -1;
    }
    (void)printf("static const struct sock_filter filter_%u[] = {\n", i);
    for (size_t at = 0; at < n_less; at++)
        (void)printf("    { 0x%x, %u, %u, 0x%x },\n", less[at].code, less[at].jt, less[at].jf,
                     less[at].k);
    (void)printf("};\n");
    return 0;
}

static int print_code(unsigned i)
{
    struct seccomp_wish wish = wish_of(i);
    struct gb_buf code;
    struct gb_err err;
    int r;

    gb_buf_init(&code, SECCOMP_MAX);
    if (seccomp_build(&wish, &code, &err) < 0) {
        (void)fprintf(stderr, "make-filters: %s\n", err.msg);
        return -1;
    }
    r = print_short(i, (const void *)code.data, code.len / sizeof(struct sock_filter));
    gb_buf_done(&code);
    return r;
}

int main(void)
{
    enum {
        WISHES = 8
    };

    (void)printf("#include <linux/filter.h>\n\n#include \"sandbox/seccomp.h\"\n\n");
    for (unsigned i = 0; i < WISHES; i++)
        if (print_code(i) < 0)
            return EXIT_FAILURE;
    (void)printf("static const struct seccomp_filter filters_made[] = {\n");
    for (unsigned i = 0; i < WISHES; i++) {
        struct seccomp_wish w = wish_of(i);
        (void)printf("    { { %d, %d, %d }, filter_%u, sizeof(filter_%u) },\n", (int)w.level,
                     w.host_network, w.writes_host, i, i);
    }
    (void)printf("};\n");
    return EXIT_SUCCESS;
}
