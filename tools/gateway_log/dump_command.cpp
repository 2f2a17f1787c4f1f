#include "commands.hpp"
#include "entry_walk.hpp"
#include "gateway_tail/sample_lines.hpp"
#include "gateway_tail/sample_text.hpp"
#include "gateway_tail/time_words.hpp"

namespace telegate::log_tool {
namespace {

/// As in the lines of samples, whose first column is a time.
constexpr std::size_t first_width = 26;
constexpr std::size_t topic_width = 16;

class TextDump final : public EntryVisitor {
  public:
    explicit TextDump(std::ostream& out) : out_(write_to(out)) {}

    void start(std::int64_t epoch_ms) override { add_epoch("start", epoch_ms); }
    void stop(std::int64_t epoch_ms) override { add_epoch("stop", epoch_ms); }

    void sample(const EntryChannel& channel, const TelemetrySample& sample) override {
        tail::Sample line;
        line.topic = channel.topic;
        line.time_utc_ns = sample.time_utc_ns;
        line.unit = channel.unit;
        line.quality = sample.quality;
        line.value = tail::value_of(sample);
        lines_.append(out_.text(), line);
        out_.added();
    }

    void gap(const EntryChannel& channel, const store::LogGap& gap) override {
        std::string& out = out_.text();
        begin_line("gap");
        const std::size_t begin = out.size();
        tail::append_printable(out, channel.topic);
        tail::pad(out, begin, topic_width);
        out += ' ' + tail::counted(gap.last_seq - gap.first_seq + 1, "sample") +
               " missing: " + tail::range_text(gap.first_seq, gap.last_seq) + " (";
        out.append(to_string(gap.reason)).append(")\n");
        out_.added();
    }

    void finish() { out_.flush(); }

  private:
    void begin_line(std::string_view word) {
        const std::size_t begin = out_.text().size();
        out_.text() += word;
        tail::pad(out_.text(), begin, first_width);
    }

    void add_epoch(std::string_view word, std::int64_t epoch_ms) {
        begin_line(word);
        out_.text() +=
            "epoch " + std::to_string(epoch_ms) + " (" + time_text(epoch_start_ns(epoch_ms), short_decimals) + ")\n";
        out_.added();
    }

    OutputBuffer out_;
    tail::SampleLines lines_{tail::OutputFormat::text, false};
};

}  // namespace

int dump(const LogOptions& options, const Surroundings& surroundings) {
    store::LogReader reader = open_log(options.directory, surroundings);
    check_channels(options, surroundings);
    TextDump text(surroundings.out);
    walk_entries(reader, options, text);
    text.finish();
    return exit_code::ok;
}

}  // namespace telegate::log_tool
