#include "host/file_source.hpp"
#include "device/option_error.hpp"

#include "core/text.hpp"
#include "core/topic.hpp"
#include "host/text_scan.hpp"

#include <algorithm>
#include <stdexcept>

namespace telegate::host {
namespace {

constexpr std::size_t name_bytes_max = 32;  // leaves space for the prefix and the text of the stars

}  // namespace

FileSource::FileSource(const std::string& proc_root, const std::vector<std::string>& texts) : table_(proc_root) {
    if (texts.size() > files_max) {
        throw refused_option("files", texts[files_max], "one of at most " + std::to_string(files_max) + " files");
    }
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        const std::string name = text.substr(0, equals);
        if (equals == std::string::npos || name.size() > name_bytes_max || !is_topic_part(name)) {
            throw refused_option("files", text,
                                 "NAME=PATH, where NAME is 1 to " + std::to_string(name_bytes_max) + " of [a-z0-9_.-]");
        }
        if (std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; })) {
            throw refused_option("files", text, "listed only once");
        }
        try {
            entries_.push_back({name, PathPattern(std::string_view(text).substr(equals + 1))});
        } catch (const std::invalid_argument& problem) {
            throw OptionError("files", name + ": " + problem.what());
        }
    }
}

void FileSource::open(const Tick& tick) {
    if (entries_.empty()) {
        return;
    }
    files_.clear();
    names_ = {};
    files_.reserve(files_max);
    left_out_channel_ = tick.batch.add_channel("file.left_out", "1");
    refused_channel_ = tick.batch.add_channel("file.refused", "");
    match(tick);
}

void FileSource::add_later_names(std::vector<std::string>& names) const {
    for (const Entry& entry : entries_) {
        names.push_back("file." + entry.name + (entry.pattern.has_stars() ? ".*" : ""));
    }
}

std::vector<std::string> FileSource::missing(const MountTable::Reading& table) const {
    std::vector<std::string> paths;
    for (const Entry& entry : entries_) {
        if (obstacle_of(entry, table).empty() && entry.pattern.find().matches.empty()) {
            paths.push_back(entry.pattern.text());
        }
    }
    return paths;
}

void FileSource::read(const Tick& tick) {
    if (entries_.empty()) {
        return;
    }
    if (ticks_before_match_ > 0) {
        --ticks_before_match_;
    } else if (wants_match_) {
        match(tick);
    }
    wants_match_ = std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.found_any; });
    for (File& file : files_) {
        if (entries_[file.entry].is_refused) {
            continue;
        }
        const auto text = file.file.read(tick.buffer);
        wants_match_ |= !text;
        if (const auto number = parse_number<double>(trimmed(text.value_or(""), blanks))) {
            tick.batch.add(file.channel, *number);
        }
    }
    tick.batch.add(left_out_channel_, left_out_);
    tick.batch.add(refused_channel_, std::string_view(refused_));
}

void FileSource::reset() noexcept {
    ticks_before_match_ = 0;
    wants_match_ = true;
}

void FileSource::match(const Tick& tick) {
    ticks_before_match_ = match_ticks - 1;
    left_out_ = 0;
    refused_.clear();
    const MountTable::Reading table = table_.read(tick.buffer);
    for (Entry& entry : entries_) {
        const std::string_view obstacle = obstacle_of(entry, table);
        entry.is_refused = !obstacle.empty();
        entry.found_any = false;
        if (entry.is_refused) {
            refused_ = entry.name + ": " + std::string(obstacle);
        }
    }
    for (std::size_t index = 0; index < entries_.size(); ++index) {
        find_files(tick, index);
    }
}

std::string_view FileSource::obstacle_of(const Entry& entry, const MountTable::Reading& table) noexcept {
    if (!table.fault.empty()) {
        return table.fault;
    }
    const std::string_view path = entry.pattern.fixed_part();
    const std::string_view type = remote_type(table.text, path);
    return type.empty() && entry.pattern.has_stars() ? remote_type_below(table.text, path) : type;
}

void FileSource::find_files(const Tick& tick, std::size_t index) {
    Entry& entry = entries_[index];
    if (!entry.pattern.has_stars()) {  // has a channel even if the file is missing
        entry.found_any = !entry.is_refused;
        if (std::none_of(files_.begin(), files_.end(), [&](const File& file) { return file.entry == index; })) {
            add_file(tick, index, {entry.pattern.text(), ""});
        }
        return;
    }
    if (entry.is_refused) {
        return;
    }
    const PathPattern::Found found = entry.pattern.find();
    left_out_ += found.is_cut ? 1 : 0;
    entry.found_any = !found.matches.empty();
    for (const PatternMatch& match : found.matches) {
        const bool is_known = std::any_of(files_.begin(), files_.end(), [&](const File& file) {
            return file.entry == index && file.path == match.path;
        });
        if (!is_known) {
            add_file(tick, index, match);
        }
    }
}

void FileSource::add_file(const Tick& tick, std::size_t index, const PatternMatch& match) {
    if (files_.size() == files_max) {
        ++left_out_;
        return;
    }
    const Entry& entry = entries_[index];
    const std::string name = entry.name + (entry.pattern.has_stars() ? '.' + match.stars : std::string());
    const std::string prefix = "file.";
    const std::string free = names_.find(prefix, name, topic_part_bytes_max - prefix.size());
    File file{index, match.path, ProcFile(match.path), tick.batch.add_channel(free, "")};
    names_.use(free);
    files_.push_back(std::move(file));
}

}  // namespace telegate::host
