#pragma once

#include "http/http_message.hpp"
#include "rest/rest_route.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// What is wrong with one parameter, or with one member of a body.
struct RestFault {
    enum class Where : std::uint8_t { parameter, body };
    Where where = Where::parameter;
    std::string name;    // of the parameter; a JSON pointer into the body
    std::string detail;  // what is wrong, and what is allowed
};

/// What a client may have typed, cut and made harmless, in quotes. Threads: any.
[[nodiscard]] std::string quoted_text(std::string_view text);
/// The target without its query: `instance` of a problem. Threads: any.
[[nodiscard]] std::string problem_instance(const HttpRequest& request);

/// Refusals as problem+json. Threads: any.
[[nodiscard]] HttpResponse refused(const HttpRequest& request, int status, std::string detail);
[[nodiscard]] HttpResponse unavailable(const HttpRequest& request, std::string detail);
[[nodiscard]] HttpResponse unavailable(const HttpRequest& request, std::string detail,
                                       const nlohmann::ordered_json& extensions);
[[nodiscard]] HttpResponse unprocessable(const HttpRequest& request, const std::vector<RestFault>& faults);

/// Unknown parameters that one refusal names.
inline constexpr std::size_t unknown_parameters_max = 16;
/// Returns a fault for each parameter of the query that `known` does not list as one of a query, with those that it
/// lists. Threads: any. Limits: unknown_parameters_max.
[[nodiscard]] std::vector<RestFault> unknown_parameters(const RestQuery& query, std::span<const RestParameter> known);

/// Reads the parameters of a call, collecting what is wrong with them.
/// Threads: one. Limits: one fault for each parameter read. Failure: a wrong parameter reads as its default.
class ParameterReader {
  public:
    struct Range {
        std::uint64_t min = 0;
        std::uint64_t max = 0;
    };

    explicit ParameterReader(const RestCall& call) noexcept : call_(call) {}

    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name, Range range);
    /// At most one, of at most `characters_max` characters.
    [[nodiscard]] std::string_view text(std::string_view name, std::size_t characters_max);
    [[nodiscard]] std::vector<std::string_view> texts(std::string_view name, std::size_t count_max,
                                                      std::size_t characters_max);
    /// Whether the value is 1 or true; false when the parameter is absent.
    [[nodiscard]] bool flag(std::string_view name);
    /// As parse_revert_after() reads it.
    [[nodiscard]] std::optional<std::chrono::milliseconds> revert_after(std::string_view name);
    void fault(std::string_view name, std::string detail);
    [[nodiscard]] bool failed() const noexcept { return !faults_.empty(); }
    [[nodiscard]] HttpResponse refusal() const { return unprocessable(call_.request, faults_); }

  private:
    const RestCall& call_;
    std::vector<RestFault> faults_;
};

}  // namespace telegate
