#include "python/rules.h"

#include <string.h>

#include "base/json.h"

static int parse_word(const json_t *json, const char *const *words, int *ret)
{
    const char *text = json_string_value(json);

    for (int i = 0; text && words[i]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret = i;
            return 0;
        }
    }
    return json ? -1 : 0;
}

static int parse_list(const json_t *json, const char *key, const json_t **ret)
{
    const json_t *list = json_object_get(json, key);

    *ret = json_is_null(list) ? NULL : list;
    if (!*ret)
        return 0;
    if (!json_is_array(list))
        return -1;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            return -1;
    return 0;
}

int rules_parse(const json_t *json, struct rules *ret)
{
    static const char *const policies[] = { "off", "standard", "strict", NULL };
    static const char *const patterns[] = { "off", "warn", "block", NULL };
    struct rules rules = { .policy = POLICY_OFF };
    int policy = POLICY_STRICT, level = PATTERNS_OFF;

    if (!json_is_object(json) ||
        parse_word(json_object_get(json, "policy"), policies, &policy) < 0 ||
        parse_word(json_object_get(json, "patterns"), patterns, &level) < 0 ||
        parse_list(json, "allow_imports", &rules.allow_imports) < 0 ||
        parse_list(json, "block_imports", &rules.block_imports) < 0 ||
        parse_list(json, "allow_builtins", &rules.allow_builtins) < 0 ||
        parse_list(json, "block_builtins", &rules.block_builtins) < 0 ||
        parse_list(json, "allow_os_attrs", &rules.allow_os_attrs) < 0 ||
        parse_list(json, "tools", &rules.tools) < 0)
        return -1;
    rules.policy = (enum policy)policy;
    rules.patterns = (enum patterns)level;
    rules.names = json_object_get(json, "names");
    rules.has_earlier = json_is_true(json_object_get(json, "earlier"));
    *ret = rules;
    return 0;
}

bool rules_list_has(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *entry = json_string_value(json_array_get(list, i));

        if (entry[0] == text[0] && strcmp(entry, text) == 0)
            return true;
    }
    return false;
}

/* Does the list have the module itself, or one that it lies in? */
static bool covers(const json_t *list, const char *dotted)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        size_t len = json_string_length(entry);

        if (json_string_value(entry)[0] == dotted[0] &&
            strncmp(json_string_value(entry), dotted, len) == 0 &&
            (dotted[len] == '\0' || dotted[len] == '.'))
            return true;
    }
    return false;
}

enum verdict rules_import(const struct rules *rules, const char *dotted)
{
    if (covers(rules->block_imports, dotted))
        return VERDICT_BLOCKED;
    return !rules->allow_imports || covers(rules->allow_imports, dotted) ? VERDICT_FINE
                                                                         : VERDICT_UNLISTED;
}

enum verdict rules_builtin(const struct rules *rules, const char *name, bool is_implicit)
{
    if (rules_list_has(rules->block_builtins, name))
        return VERDICT_BLOCKED;
    if (is_implicit || !rules->allow_builtins || rules_list_has(rules->allow_builtins, name))
        return VERDICT_FINE;
    return VERDICT_UNLISTED;
}

bool rules_know_module(const struct rules *rules, const char *name)
{
    return rules_list_has(rules->allow_imports, name) || rules_list_has(rules->block_imports, name);
}

bool rules_give_name(const struct rules *rules, const char *name)
{
    return strcmp(name, "display") == 0 || rules_list_has(rules->tools, name) ||
           json_object_get(rules->names, name);
}
