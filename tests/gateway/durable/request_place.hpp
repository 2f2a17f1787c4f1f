#pragma once

#include "durable/log_history.hpp"

#include <future>
#include <memory>
#include <string>
#include <utility>

namespace telegate::test {

/// Requests a place of a reader. The result is ready at once, or after the reader has waited.
inline std::future<std::shared_ptr<LogHistory::Place>> request_place(LogHistory& log, const std::string& client) {
    const auto result = std::make_shared<std::promise<std::shared_ptr<LogHistory::Place>>>();
    log.request_place(client,
                      [result](std::shared_ptr<LogHistory::Place> place) { result->set_value(std::move(place)); });
    return result->get_future();
}

}  // namespace telegate::test
