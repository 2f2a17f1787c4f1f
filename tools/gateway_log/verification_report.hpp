#pragma once

#include "verification.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// The common parts of the reports of a verified log and of a verified stream. Threads: any. Failure: std::bad_alloc.
namespace telegate::log_tool {

[[nodiscard]] std::string to_text(const nlohmann::ordered_json& json);
/// Returns the channels of an epoch with their missing ranges.
[[nodiscard]] nlohmann::ordered_json channels_json(const EpochLedger& epoch);
/// Adds the totals that both reports have.
void add_counts(nlohmann::ordered_json& report, const LedgerCounts& counts);

/// Appends a line for the epoch, which ends in `end`, and a line for each missing range. The lines of a channel are
/// limited.
void append_epoch(std::string& out, const EpochLedger& epoch, std::string_view end);
/// Appends the numbers of missing samples by reason as a line, if there are any.
void append_reasons(std::string& out, const LedgerCounts& counts);

/// Builds the sentence that ends a report: what was verified, or what is not explained.
class Conclusion {
  public:
    explicit Conclusion(std::string_view what) : what_(what) {}

    void add_unexplained(std::uint64_t count, const std::string& text);
    [[nodiscard]] bool is_complete() const noexcept { return unexplained_.empty(); }
    [[nodiscard]] std::string text(const VerificationTotals& totals) const;

  private:
    std::string what_;
    std::string unexplained_;
};

}  // namespace telegate::log_tool
