#pragma once

#include "http/http_message.hpp"
#include "rest/rest_handlers.hpp"

namespace telegate {

/// Answers a request: dispatches it to its route, or returns a refusal. Described in docs/rest.md. Threads: any, like
/// the handlers. Failure: throws what the handlers throw.
[[nodiscard]] HttpResponse answer_rest(const RestHandlers& handlers, const HttpRequest& request);

}  // namespace telegate
