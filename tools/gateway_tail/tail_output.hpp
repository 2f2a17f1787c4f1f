#pragma once

#include "account.hpp"
#include "console.hpp"
#include "narrator.hpp"
#include "rate_table.hpp"
#include "sample_lines.hpp"
#include "splice_output.hpp"
#include "tail_options.hpp"

namespace telegate::tail {

/// Shows what comes out of the splice, and keeps account of it.
///
/// Threads: one. Limits: those of its parts. Failure: std::bad_alloc; see Console for an output that fails.
class TailOutput final : public SpliceOutput {
  public:
    explicit TailOutput(const TailOptions& options);

    void give(const Sample& sample) override;
    void lose(const Gap& gap) override;
    void end_unknown(std::int64_t epoch) override;

    /// For the report: why something may be missing that has no number; and the epoch that went further, maybe.
    void doubt(std::string_view word) { account_.doubt(word); }
    void doubt_end(std::int64_t epoch) { account_.doubt_end(epoch); }

    /// Lines are to be aligned with those of its samples, too.
    void make_room(const Answer& answer);
    /// Once after each batch of messages: what was shown goes out, and what there is to say is said.
    void turn(Time now, bool is_settled);
    /// No more samples are wanted: --count is reached, or nobody reads them.
    [[nodiscard]] bool is_done() const noexcept { return is_full_ || !console_.is_open(); }
    /// Why nothing can be shown; "" when it can.
    [[nodiscard]] const std::string& fault() const noexcept { return console_.fault(); }
    [[nodiscard]] Console& console() noexcept { return console_; }
    [[nodiscard]] Narrator& narrator() noexcept { return narrator_; }
    [[nodiscard]] const Account& account() const noexcept { return account_; }

  private:
    void show_rates(Time now);

    Console console_;
    OutputFormat format_;
    std::uint64_t count_max_;
    bool is_full_ = false;
    bool is_terminal_;
    bool recovers_;
    SampleLines lines_;
    RateTable rates_;
    Time rates_since_;
    Account account_;
    Narrator narrator_;
};

}  // namespace telegate::tail
