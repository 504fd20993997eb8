#include "mcp/approval.h"

#include <string.h>

#include "base/json.h"

json_t *approval_question(const char *text, const char *title, const char *description)
{
    if (!text)
        return NULL;
    return json_pack("{s:{s:s,s:{s:s,s:o,s:{s:s,s:{s:{s:s,s:s,s:s*}},s:[s]}}}}", "approve",
                     "method", "elicitation/create", "params", "mode", "form", "message",
                     json_replaced(text, strlen(text)), "requestedSchema", "type", "object",
                     "properties", "approve", "type", "boolean", "title", title, "description",
                     description, "required", "approve");
}

static const char *action_of(const json_t *answers)
{
    return json_string_at(json_object_get(answers, "approve"), "action", "cancel");
}

bool approval_is_given(const json_t *answers)
{
    const json_t *content = json_object_get(json_object_get(answers, "approve"), "content");

    return strcmp(action_of(answers), "accept") == 0 &&
           json_is_true(json_object_get(content, "approve"));
}

bool approval_is_dismissed(const json_t *answers)
{
    return strcmp(action_of(answers), "cancel") == 0;
}
