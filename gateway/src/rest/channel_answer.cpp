#include "rest/channel_answer.hpp"

#include "base/json_object.hpp"
#include "encode/time_text.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// Encodes samples of a run whose channel table is gone.
struct EarlierText {
    ChannelTable channels;
    SampleText text;

    EarlierText(std::int64_t epoch_ms, const SharedLabels& labels) : text(channels, epoch_ms, labels) {}
};

std::int64_t to_ms(std::int64_t ns) noexcept {
    constexpr std::int64_t ns_per_ms = 1'000'000;
    return ns / ns_per_ms - (ns % ns_per_ms < 0 ? 1 : 0);
}

/// Adds an array with the value of each interval that `get(start_ns, interval)` returns.
template <class Get>
void add_column(JsonObject& out, std::string_view name, const store::IntervalTable& table, const Get& get) {
    using Entry = store::IntervalTable::Intervals::value_type;
    out.values(name, table.intervals(), [&](const Entry& entry) { return get(entry.first, entry.second); });
}

}  // namespace

bool SampleListAnswer::add(const ChannelPart& part) {
    unit_ = part.unit;
    std::size_t gap = 0;
    for (std::size_t i = 0; i <= part.samples.size(); ++i) {
        for (; gap < part.gaps.size() && part.gaps[gap].before_sample <= i; ++gap) {
            if (!add(part.epoch_ms, part.gaps[gap].gap)) {
                return false;
            }
        }
        if (i < part.samples.size() && !add(part.epoch_ms, part.samples[i])) {
            return false;
        }
    }
    return true;
}

bool SampleListAnswer::add(std::int64_t epoch_ms, const TelemetrySample& sample) {
    if (samples_.size() == wanted_.limit) {
        has_more_ = true;
        if (!wanted_.is_newest) {
            return false;
        }
        samples_.pop_front();
        const Sample& first = samples_.empty() ? Sample{epoch_ms, sample} : samples_.front();
        while (!gaps_.empty() &&
               (gaps_.front().epoch_ms < first.epoch_ms ||
                (gaps_.front().epoch_ms == first.epoch_ms && gaps_.front().gap.first_seq < first.sample.seq))) {
            gaps_.pop_front();
        }
    }
    samples_.push_back({epoch_ms, sample});
    record_end(epoch_ms, sample.seq);
    return true;
}

bool SampleListAnswer::add(std::int64_t epoch_ms, const store::LogGap& gap) {
    if (gaps_.size() == wanted_.limit) {
        has_more_ = true;
        if (!wanted_.is_newest) {
            return false;
        }
        gaps_.pop_front();
    }
    gaps_.push_back({epoch_ms, gap});
    record_end(epoch_ms, gap.last_seq);
    return true;
}

void SampleListAnswer::record_end(std::int64_t epoch_ms, std::uint64_t seq) noexcept {
    end_epoch_ms_ = epoch_ms;
    end_seq_ = seq;
}

bool SampleListAnswer::is_complete(std::uint64_t last_seq) const noexcept {
    if (!gaps_.empty()) {
        return false;
    }
    if (wanted_.is_newest) {
        return samples_.size() == wanted_.limit;
    }
    const std::uint64_t since_seq = wanted_.since_seq.value_or(0);
    return samples_.empty() ? last_seq > 0 && last_seq <= since_seq : samples_.front().sample.seq == since_seq + 1;
}

std::string ChannelAnswer::body(const std::string& topic) const {
    return json_object_text([&](JsonObject& out) { list(out, topic); }) + '\n';
}

/// Appends the samples in the wire format.
void SampleListAnswer::append_samples(std::string& out, const std::string& topic) const {
    out += '[';
    std::unique_ptr<EarlierText> earlier;
    std::optional<ChannelId> channel;
    for (const Sample& each : samples_) {
        if (each.epoch_ms == text_.epoch_ms()) {
            out += out.back() == '[' ? "" : ",";
            text_.append(out, each.sample);
            continue;
        }
        if (earlier == nullptr || earlier->text.epoch_ms() != each.epoch_ms) {
            earlier = std::make_unique<EarlierText>(each.epoch_ms, text_.labels());
            const std::size_t slash = topic.find('/');
            channel = earlier->channels.add({}, topic.substr(0, slash), topic.substr(slash + 1), unit_);
        }
        if (!channel) {
            continue;  // not a topic: only a file that no gateway has written has such a name
        }
        out += out.back() == '[' ? "" : ",";
        TelemetrySample sample = each.sample;
        sample.channel = *channel;
        earlier->text.append(out, sample);
    }
    out += ']';
}

void SampleListAnswer::list(JsonObject& out, const std::string& topic) const {
    struct Missing {
        std::uint64_t first_seq = 0;
        std::uint64_t last_seq = 0;
    };
    struct Next {
        std::int64_t epoch_ms = 0;
        std::uint64_t since_seq = 0;
    };
    std::optional<Missing> gap;
    if (wanted_.since_seq && !samples_.empty() && samples_.front().sample.seq > *wanted_.since_seq + 1 &&
        samples_.front().epoch_ms == wanted_.epoch_ms.value_or(text_.epoch_ms())) {
        gap = {*wanted_.since_seq + 1, samples_.front().sample.seq - 1};
    }
    const bool has_more = has_more_ && !wanted_.is_newest;
    out.name_schema("ChannelSamples");
    out.add("topic", topic);
    out.add("unit", unit_);
    out.add("epoch", static_cast<std::uint64_t>(text_.epoch_ms()));
    out.object_or_null("gap", gap, [](JsonObject& object, const Missing& missing) {
        object.name_schema("MissingSamples");
        object.add("first_seq", missing.first_seq);
        object.add("last_seq", missing.last_seq);
    });
    out.array("gaps", gaps_, [](JsonObject& object, const Gap& each) {
        object.name_schema("SampleGap");
        object.add("epoch", static_cast<std::uint64_t>(each.epoch_ms));
        object.add("first_seq", each.gap.first_seq);
        object.add("last_seq", each.gap.last_seq);
        object.add("reason", each.gap.reason);
    });
    out.add("more", has_more);
    out.object_or_null("next", has_more ? std::optional(Next{end_epoch_ms_, end_seq_}) : std::nullopt,
                       [](JsonObject& object, const Next& next) {
                           object.name_schema("SamplePosition");
                           object.add("epoch", static_cast<std::uint64_t>(next.epoch_ms));
                           object.add("since_seq", next.since_seq);
                       });
    out.add_text("samples", schema_array(schema_reference("Sample")),
                 [&](std::string& text) { append_samples(text, topic); });
}

bool IntervalAnswer::add(const ChannelPart& part) {
    unit_ = part.unit;
    return table_.add(part.samples, part.gaps);
}

void IntervalAnswer::list(JsonObject& out, const std::string& topic) const {
    using store::Interval;
    const auto add_if_wanted = [&](std::string_view aggregate, std::string_view name, const auto& get) {
        const auto& wanted = wanted_.columns;
        if (out.describes() || std::find(wanted.begin(), wanted.end(), aggregate) != wanted.end()) {
            out.set_optional(true);
            add_column(out, name, table_, get);
            out.set_optional(false);
        }
    };
    out.name_schema("ChannelIntervals");
    out.add("topic", topic);
    out.add("unit", unit_);
    out.add("since", to_iso8601(wanted_.since_ns));
    out.add("until", to_iso8601(wanted_.until_ns));
    out.add("interval_ms", Described{wanted_.interval.count(), schema_from_1});
    add_column(out, "time_ms", table_, [](std::int64_t start_ns, const Interval&) { return to_ms(start_ns); });
    const std::array numbers{std::pair{"min", &Interval::min}, std::pair{"max", &Interval::max},
                             std::pair{"mean", &Interval::mean}};
    for (const auto& [name, number] : numbers) {
        add_if_wanted(name, name, [member = number](std::int64_t, const Interval& each) {
            return each.numbers > 0 ? std::optional(each.*member) : std::nullopt;
        });
    }
    add_if_wanted("count", "count", [](std::int64_t, const Interval& each) { return each.count; });
    add_if_wanted("first_time", "first_time_ms",
                  [](std::int64_t, const Interval& each) { return to_ms(each.first_ns); });
    add_if_wanted("last_time", "last_time_ms", [](std::int64_t, const Interval& each) { return to_ms(each.last_ns); });
    add_column(out, "missing", table_, [](std::int64_t, const Interval& each) { return each.missing; });
    add_column(out, "not_good", table_, [](std::int64_t, const Interval& each) { return each.not_good; });
}

void describe_sample_list(JsonObject& out) {
    ChannelTable channels;
    SampleText text(channels, 0);
    SampleListAnswer(text, {}).list(out, "");
}

void describe_intervals(JsonObject& out) {
    IntervalAnswer({.interval = std::chrono::milliseconds(1), .columns = {}}).list(out, "");
}

}  // namespace telegate
