#include "core/assert.hpp"
#include "sampler_device.hpp"

#include <algorithm>
#include <stdexcept>

// Changes of the devices. Everything that can fail or takes long is in prepare(), the rest in apply().

namespace telegate {

/// Threads: the one that prepares, then those of the devices, each for its own entries, then any.
/// Limits: those of the change.
/// Failure: none. Afterwards it holds the replaced and removed objects.
struct Sampler::Prepared {
    struct Entry {
        Device* device = nullptr;
        DeviceOptions options;
        std::shared_ptr<CancelSignal> cancel;  // outlives the driver
        std::unique_ptr<Driver> driver;
        std::unique_ptr<SampleBatch> batch;
        bool own = false;  // applied by the device's own thread
    };
    std::vector<Entry> set;
    std::vector<Entry> adjusted;
    std::vector<Entry> removed;
};

Sampler::Device& Sampler::device_named(const std::string& name) {
    if (Device* const known = find_name(name)) {
        return *known;
    }
    const std::size_t index = names();
    if (index == ledger_.devices()) {
        throw std::length_error("device \"" + name + "\" exceeds the limit of " + std::to_string(index) +
                                " device names since the start; restart the gateway to free unused names");
    }
    by_id_[index] = std::make_unique<Device>(name, static_cast<DeviceId>(index), *this);
    names_.store(index + 1, std::memory_order_release);
    return *by_id_[index];
}

std::shared_ptr<Sampler::Prepared> Sampler::prepare(DeviceChange change) {
    auto prepared = std::make_shared<Prepared>();
    for (auto& [options, driver, processing] : change.set) {
        TELEGATE_ASSERT(options.interval >= DeviceOptions::interval_min);
        TELEGATE_ASSERT(options.interval <= DeviceOptions::interval_max);
        TELEGATE_ASSERT(options.offset >= Duration(0) && options.offset < options.interval);
        Device& device = device_named(options.name);
        const bool was_own = device.own.load(std::memory_order_relaxed);
        const bool own = was_own || driver->traits().own_thread;
        auto cancel = own ? std::make_shared<CancelSignal>() : nullptr;
        if (own) {
            driver->cancel_with(*cancel);
            ledger_.separate(device.id);
            if (device.own_producer == nullptr) {
                device.own_producer = &queue_.add_producer();
            }
        }
        auto batch = open_batch(device, options, *driver, std::move(processing));
        prepared->set.push_back(
            {&device, std::move(options), std::move(cancel), std::move(driver), std::move(batch), own});
    }
    const auto entry_of = [this](const std::string& name) {
        Prepared::Entry entry;
        entry.device = &device_named(name);
        entry.own = entry.device->own.load(std::memory_order_relaxed);
        return entry;
    };
    for (DeviceOptions& options : change.adjusted) {
        TELEGATE_ASSERT(options.offset >= Duration(0) && options.offset < options.interval);
        prepared->adjusted.push_back(entry_of(options.name));
        prepared->adjusted.back().options = std::move(options);
    }
    for (const std::string& name : change.removed) {
        prepared->removed.push_back(entry_of(name));
    }
    return prepared;
}

std::unique_ptr<SampleBatch> Sampler::open_batch(Device& device, const DeviceOptions& options, Driver& driver,
                                                 ProcessingPlan processing) {
    const auto on_full = [this, &device](std::span<const TelemetrySample> samples) {
        hand_over(device, samples);
    };
    auto batch =
        std::make_unique<SampleBatch>(clock_, channels_, SampleBatch::OfDevice{device.id, device.name}, on_full);
    batch->process_with(
        std::move(processing),
        {[this, &device](const FilteredSamples& filtered) { enter_filtered(device, filtered); }, alarm_observer_});
    if (on_refused_) {
        batch->on_refused([this, &device](std::string_view words) { on_refused_(device.name, words); });
    }
    driver.open(*batch);
    if (!batch->clash().empty()) {
        throw std::invalid_argument(
            "device \"" + options.name + "\" has a channel \"" + batch->clash() +
            "\", and processing would create another channel with this name; remove the aggregate or "
            "the alarm");
    }
    if (const std::size_t refused = batch->channels_refused(); refused > 0) {
        throw std::length_error("device \"" + options.name + "\" exceeds the channel limit by " +
                                std::to_string(refused) + ": all devices together can declare at most " +
                                std::to_string(ChannelTable::channels_max) +
                                " channels between restarts; restart the gateway to free unused channels");
    }
    return batch;
}

void Sampler::apply(Prepared& prepared) {
    for (Prepared::Entry& entry : prepared.removed) {
        if (!entry.own) {
            TELEGATE_ASSERT(entry.device->driver != nullptr);
            announce(entry.device->id, false);
            set_need(*entry.device, {});
            entry.device->remove(entry.driver, entry.batch);
            std::erase(devices_, entry.device);
        }
    }
    for (Prepared::Entry& entry : prepared.set) {
        if (entry.own) {
            if (!entry.device->own.exchange(true, std::memory_order_relaxed)) {
                // Until now the device was read on tg-sample, if at all.
                std::erase(devices_, entry.device);
                set_need(*entry.device, {});
                entry.device->shared_samples_until = queue_.first().entered();
            }
            continue;
        }
        if (entry.device->driver == nullptr) {
            devices_.push_back(entry.device);
        }
        entry.device->install(std::move(entry.options), entry.driver, entry.batch);
        renew_need(*entry.device);
        announce(entry.device->id, true);
    }
    for (Prepared::Entry& entry : prepared.adjusted) {
        if (!entry.own) {
            TELEGATE_ASSERT(entry.device->driver != nullptr);
            entry.device->adjust(std::move(entry.options));
            renew_need(*entry.device);
        }
    }
    devices_.empty() ? queue_.retire(queue_.first()) : queue_.enroll(queue_.first());
}

std::vector<Sampler::OwnChange> Sampler::own_changes(const Prepared& prepared) {
    std::vector<OwnChange> changes;
    const auto add = [&](OwnChange::Kind kind, const std::vector<Prepared::Entry>& entries) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (entries[i].own) {
                changes.push_back({kind, entries[i].device->id, i, entries[i].cancel});
            }
        }
    };
    add(OwnChange::Kind::remove, prepared.removed);
    add(OwnChange::Kind::install, prepared.set);
    add(OwnChange::Kind::adjust, prepared.adjusted);
    return changes;
}

/// After a change of the driver or the interval: one sample per channel, until a reading has more.
void Sampler::renew_need(Device& device) {
    const bool waits = device.traits.waits_for_room;
    set_need(device, waits ? QueueNeed()
                           : telegate::queue_need(device.traits, device.options.interval, device.batch->channels()));
}

void Sampler::announce(DeviceId device, bool present) noexcept {
    at(device).present.store(present, std::memory_order_relaxed);
}

void Sampler::install_own(Prepared& prepared, std::size_t entry) {
    Prepared::Entry& set = prepared.set.at(entry);
    set.device->producer = set.device->own_producer;
    queue_.enroll(*set.device->producer);
    set.device->install(std::move(set.options), set.driver, set.batch);
    renew_need(*set.device);
    set.device->cancel.swap(set.cancel);  // the previous signal must outlive its driver
}

void Sampler::adjust_own(Prepared& prepared, std::size_t entry) {
    Prepared::Entry& adjusted = prepared.adjusted.at(entry);
    if (adjusted.device->driver != nullptr) {  // the device may have been removed
        adjusted.device->adjust(std::move(adjusted.options));
        renew_need(*adjusted.device);
    }
}

void Sampler::remove_own(DeviceId device) {
    Device& target = at(device);
    if (target.driver == nullptr) {
        return;
    }
    const std::shared_ptr<CancelSignal> cancel = std::move(target.cancel);  // must outlive the driver
    std::unique_ptr<Driver> driver;
    std::unique_ptr<SampleBatch> batch;
    set_need(target, {});
    target.remove(driver, batch);
    queue_.retire(*target.producer);
}

std::shared_ptr<CancelSignal> Sampler::cancel_of(DeviceId device) const noexcept {
    return at(device).cancel;
}

DeviceId Sampler::add(DeviceOptions options, std::unique_ptr<Driver> driver, ProcessingPlan processing) {
    TELEGATE_ASSERT(!find(options.name));
    DeviceChange change;
    change.set.push_back({std::move(options), std::move(driver), std::move(processing)});
    const auto prepared = prepare(std::move(change));
    apply(*prepared);
    for (const OwnChange& own : own_changes(*prepared)) {
        install_own(*prepared, own.entry);
        announce(own.device, true);
    }
    return prepared->set.front().device->id;
}

}  // namespace telegate
