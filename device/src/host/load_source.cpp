#include "host/load_source.hpp"

#include "core/text.hpp"
#include "host/text_scan.hpp"

namespace telegate::host {

LoadSource::LoadSource(const std::string& proc_root)
    : load_file_(proc_root + "/loadavg"), uptime_file_(proc_root + "/uptime") {}

void LoadSource::open(const Tick& tick) {
    load_channels_ = {tick.batch.add_channel("load.1m", "1"), tick.batch.add_channel("load.5m", "1"),
                      tick.batch.add_channel("load.15m", "1")};
    running_channel_ = tick.batch.add_channel("tasks.running", "1");
    total_channel_ = tick.batch.add_channel("tasks.total", "1");
    uptime_channel_ = tick.batch.add_channel("uptime", "s");
}

void LoadSource::read(const Tick& tick) {
    read_load(tick);
    read_uptime(tick);
}

void LoadSource::read_load(const Tick& tick) {
    std::string_view text = load_file_.read(tick.buffer).value_or("");
    for (const SampleBatch::Channel channel : load_channels_) {
        if (const auto load = parse_number<double>(take_word(text))) {
            tick.batch.add(channel, *load);
        }
    }
    const std::string_view tasks = take_word(text);  // running/total
    const std::size_t slash = tasks.find('/');
    if (slash == std::string_view::npos) {
        return;
    }
    if (const auto running = parse_number<std::int64_t>(tasks.substr(0, slash))) {
        tick.batch.add(running_channel_, *running);
    }
    if (const auto total = parse_number<std::int64_t>(tasks.substr(slash + 1))) {
        tick.batch.add(total_channel_, *total);
    }
}

void LoadSource::read_uptime(const Tick& tick) {
    std::string_view text = uptime_file_.read(tick.buffer).value_or("");
    if (const auto seconds = parse_number<double>(take_word(text))) {
        tick.batch.add(uptime_channel_, *seconds);
    }
}

}  // namespace telegate::host
