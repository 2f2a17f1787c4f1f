#pragma once

#include "account.hpp"
#include "console.hpp"
#include "merger.hpp"
#include "narrator.hpp"
#include "sample_lines.hpp"
#include "tail_options.hpp"

namespace telegate::tail {

/// Prints the output of the merger and records it in the account.
///
/// Threads: one. Limits: those of its parts. Failure: std::bad_alloc; see Console for write errors.
class TailOutput final : public MergerOutput {
  public:
    /// Keeps a reference to `options`.
    explicit TailOutput(const TailOptions& options);

    void write(const Sample& sample) override;
    void lose(const Gap& gap) override;
    void end_unknown(std::int64_t epoch) override;

    /// Widens the topic column for the samples of this reply.
    void make_room(const Answer& answer);
    /// Flushes the output and reports news. Call it once after each batch of messages.
    void turn(Time now, bool is_settled);
    /// Returns whether no more samples are wanted: --count is reached, or the reader closed the output.
    [[nodiscard]] bool is_done() const noexcept { return is_full_ || !console_.is_open(); }
    [[nodiscard]] const Console& console() const noexcept { return console_; }
    [[nodiscard]] Narrator& narrator() noexcept { return narrator_; }
    [[nodiscard]] Account& account() noexcept { return account_; }
    [[nodiscard]] const Account& account() const noexcept { return account_; }

  private:
    const TailOptions& options_;
    Console console_;
    bool is_full_ = false;
    SampleLines lines_;
    Account account_;
    Narrator narrator_;
};

}  // namespace telegate::tail
