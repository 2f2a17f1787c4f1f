#pragma once

#include "gateway/rest/fake_gateway.hpp"
#include "rest/rest_routes.hpp"

#include <nlohmann/json.hpp>

#include <future>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace telegate::test {

/// Sends requests to the routes without a server. Threads: one.
class RestCaller {
  public:
    HttpResponse operator()(std::string_view method, const std::string& target, std::string_view body = {}) {
        HttpRequest request;
        request.method = method;
        request.target = target;
        const std::string path = target.substr(0, target.find('?'));
        request.path = path;
        request.body = body;
        request.who = "test";
        request.field = [this](std::string_view name) -> std::string_view {
            const auto found = fields.find(std::string(name));
            return found == fields.end() ? std::string_view() : std::string_view(found->second);
        };
        const RestHandlers handlers = gateway.handlers();
        HttpResponse response = answer_rest(handlers, request);
        if (!response.later) {
            return response;
        }
        std::promise<HttpResponse> late;
        response.later([&](HttpResponse answer) { late.set_value(std::move(answer)); });
        return late.get_future().get();
    }
    nlohmann::json request(std::string_view method, const std::string& target, std::string_view body = {}) {
        HttpResponse response = (*this)(method, target, body);
        constexpr std::size_t piece_bytes_max = 100;
        while (response.pieces && response.pieces(response.body, piece_bytes_max) == StreamState::more) {
        }
        return nlohmann::json::parse(response.body);
    }

    FakeGateway gateway;
    std::map<std::string, std::string> fields;
};

[[nodiscard]] inline std::string header_of(const HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
        if (key == name) {
            return value;
        }
    }
    return {};
}

/// Returns a sample of a channel whose value is its sequence number.
[[nodiscard]] inline TelemetrySample numbered(ChannelId channel, std::uint64_t seq) {
    TelemetrySample sample{};
    sample.channel = channel;
    sample.seq = seq;
    sample.type = ValueType::integer;
    sample.value.integer = static_cast<std::int64_t>(seq);
    return sample;
}

}  // namespace telegate::test
