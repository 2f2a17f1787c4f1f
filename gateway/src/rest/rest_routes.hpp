#pragma once

#include "http/http_message.hpp"
#include "rest/rest_handlers.hpp"

namespace telegate {

/// The answer to one request: which path means what, and what each refusal says. docs/rest.md is its description.
/// Threads: any, as the handlers are. Failure: throws what the handlers throw.
[[nodiscard]] HttpResponse answer_rest(const RestHandlers& handlers, const HttpRequest& request);

}  // namespace telegate
