#pragma once

#include "http/http_message.hpp"
#include "rest/rest_route.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// A fault of one parameter, of one member of a body, or of a place that `detail` names.
struct RestFault {
    enum class Where : std::uint8_t { parameter, body, in_detail };
    Where where = Where::parameter;
    std::string name;    // of the parameter; a JSON pointer into the body
    std::string detail;  // the problem and the allowed values
};

/// Returns client input truncated, escaped and in quotes. Threads: any.
[[nodiscard]] std::string quoted_text(std::string_view text);
/// Returns the target without its query: the `instance` of a problem. Threads: any.
[[nodiscard]] std::string problem_instance(const HttpRequest& request);

/// Adds the members that a problem may have in addition: the faults of a request, or the devices that have executed a
/// command. Threads: any.
void add_faults(JsonObject& out, const std::vector<RestFault>& faults);
void add_device_states(JsonObject& out, const std::vector<DeviceAnswer>& answers);

/// Return refusals as problem+json. Threads: any.
[[nodiscard]] HttpResponse refused(const HttpRequest& request, int status, std::string detail);
[[nodiscard]] HttpResponse unavailable(const HttpRequest& request, std::string detail);
[[nodiscard]] HttpResponse unavailable(const HttpRequest& request, std::string detail,
                                       const std::function<void(JsonObject&)>& more);
[[nodiscard]] HttpResponse unprocessable(const HttpRequest& request, const std::vector<RestFault>& faults);

/// Maximum number of unknown parameters that a refusal names.
inline constexpr std::size_t unknown_parameters_max = 16;
/// Returns a fault for each parameter of the query that is not a query parameter in `known`; the fault lists the known
/// ones. Threads: any. Limits: unknown_parameters_max.
[[nodiscard]] std::vector<RestFault> unknown_parameters(const RestQuery& query, std::span<const RestParameter> known);

/// Reads the parameters of a call and collects their faults. Threads: one. Limits: one fault per parameter. Failure: an
/// invalid parameter reads as its default.
class ParameterReader {
  public:
    struct Range {
        std::uint64_t min = 0;
        std::uint64_t max = 0;
    };

    explicit ParameterReader(const RestCall& call) noexcept : call_(call) {}

    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name, Range range);
    /// Reads at most one value, of at most `characters_max` characters.
    [[nodiscard]] std::string_view text(std::string_view name, std::size_t characters_max);
    [[nodiscard]] std::vector<std::string_view> texts(std::string_view name, std::size_t count_max,
                                                      std::size_t characters_max);
    /// Returns whether the value is 1 or true; false if the parameter is absent.
    [[nodiscard]] bool flag(std::string_view name);
    /// Reads a time as parse_revert_after() does.
    [[nodiscard]] std::optional<std::chrono::milliseconds> revert_after(std::string_view name);
    void fault(std::string_view name, std::string detail);
    [[nodiscard]] bool failed() const noexcept { return !faults_.empty(); }
    [[nodiscard]] HttpResponse refusal() const { return unprocessable(call_.request, faults_); }

  private:
    const RestCall& call_;
    std::vector<RestFault> faults_;
};

}  // namespace telegate
